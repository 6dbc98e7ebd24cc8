//! Going back to the start of an open file.

use std::io;

use super::{ReadFile, WriteFile};

impl ReadFile {
    pub fn rewind(&self) -> io::Result<()> {
        match self.0 {}
    }
}

impl WriteFile {
    pub fn rewind(&self) -> io::Result<()> {
        match self.0 {}
    }
}
