//! Several copies of a worker: not possible, because Windows has no fork.

use std::convert::Infallible;
use std::io;

use super::not_here;

/// Never exists.
pub struct Copies(Infallible);

impl Copies {
    pub fn start(_count: usize, _slots: usize) -> io::Result<Copies> {
        not_here("several copies of a worker need fork, which Windows does not have")
    }

    pub fn index(&self) -> usize {
        match self.0 {}
    }

    pub fn meet(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn agree(&self, _more: bool) -> io::Result<bool> {
        match self.0 {}
    }

    pub fn set(&self, _slot: usize, _figure: u64) {
        match self.0 {}
    }

    pub fn mean(&self, _slot: usize) -> u64 {
        match self.0 {}
    }

    pub fn give_up(&self) {
        match self.0 {}
    }

    pub fn exit(self, _well: bool) -> ! {
        match self.0 {}
    }

    pub fn explain(&self, _reason: &str) {
        match self.0 {}
    }

    pub fn explanation(&self) -> Option<String> {
        match self.0 {}
    }

    pub fn finish(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}
