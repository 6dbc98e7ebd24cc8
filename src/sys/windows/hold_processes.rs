//! Things that are held: none yet.

use std::io;

use super::not_here;
use crate::sys::Held;

pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    not_here("Windows has no fork")
}

pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    not_here("holding threads is not built for Windows")
}
