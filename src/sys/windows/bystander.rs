//! A process that does a tiny operation at fixed due times.

use std::convert::Infallible;
use std::io;

use super::{FilePath, not_yet};

pub enum Operation {
    Wake,
    Fork,
    Map,
    Open(FilePath),
}

pub const MOST_DUE: usize = 1 << 16;

pub struct Bystander(Infallible);

impl Bystander {
    pub fn start(operation: &Operation, _cpus: &[usize]) -> io::Result<Bystander> {
        match operation {
            Operation::Open(path) => match path.0 {},
            _ => not_yet(),
        }
    }

    pub fn begin(&mut self, _period_ns: u64) -> u64 {
        match self.0 {}
    }

    pub fn finish(&mut self, _until: u64, _responses: &mut Vec<u64>) -> io::Result<()> {
        match self.0 {}
    }
}
