//! Many processes that live at the same time: there are none.

use std::io;

use super::super::shared::held::Held;
use super::not_here;

pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    not_here("Windows has no fork")
}
