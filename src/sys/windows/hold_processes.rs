//! Many processes that live at the same time: not possible, because Windows has no fork.

use std::io;

use super::super::shared::held::Held;
use super::not_here;

pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    not_here("Windows has no fork")
}
