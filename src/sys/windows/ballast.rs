//! Extra memory of a process that is forked (ballast): Windows has no fork.

use std::convert::Infallible;
use std::io;

use super::not_here;

pub struct Ballast(Infallible);

pub fn huge_page_size() -> Option<usize> {
    None
}

impl Ballast {
    pub fn map(_bytes: usize, _page: Option<usize>) -> io::Result<Ballast> {
        not_here("Windows has no fork that would copy the memory")
    }

    pub fn write(&mut self) {
        match self.0 {}
    }

    pub fn huge_bytes(&self) -> io::Result<u64> {
        match self.0 {}
    }
}
