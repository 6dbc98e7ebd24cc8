//! Files mapped into memory.

use std::convert::Infallible;
use std::fs::File;
use std::io;

use super::not_yet;

pub struct MappedFile(Infallible);

impl MappedFile {
    pub fn map(_file: &File) -> io::Result<MappedFile> {
        not_yet()
    }

    pub fn touch(&self, _offsets: &[usize]) -> u64 {
        match self.0 {}
    }

    pub fn unmap(self) -> io::Result<()> {
        match self.0 {}
    }
}
