//! Things that are held: none yet.

use std::io;

use super::not_yet;
use crate::sys::Held;

pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    not_yet()
}

pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    not_yet()
}
