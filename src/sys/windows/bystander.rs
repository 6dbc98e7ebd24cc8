//! A process that does a tiny operation at fixed due times: not built for Windows.

use std::convert::Infallible;
use std::io;

use super::{FilePath, not_here};

pub enum Operation {
    Wake,
    Fork,
    Map,
    // Only the bystanders of other systems read it.
    #[allow(dead_code)]
    Open(FilePath),
}

pub const MOST_DUE: usize = 1 << 16;

pub struct Bystander(Infallible);

impl Bystander {
    pub fn start(_operation: &Operation, _cpus: &[usize]) -> io::Result<Bystander> {
        not_here("a bystander is not built for Windows")
    }

    #[cfg(test)]
    pub fn stopped_during(&mut self, _work: impl FnOnce()) -> io::Result<()> {
        match self.0 {}
    }

    pub fn begin(&mut self, _period_ns: u64) -> u64 {
        match self.0 {}
    }

    pub fn finish(&mut self, _until: u64, _responses: &mut Vec<u64>) -> io::Result<()> {
        match self.0 {}
    }
}
