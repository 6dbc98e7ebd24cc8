//! Names in folders.

use std::io;

use super::FilePath;

impl FilePath {
    pub fn rename_to(&self, _new: &FilePath) -> io::Result<()> {
        match self.0 {}
    }

    pub fn symlink_to(&self, _target: &FilePath) -> io::Result<()> {
        match self.0 {}
    }

    pub fn read_link(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn make_folder(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn remove_folder(&self) -> io::Result<()> {
        match self.0 {}
    }
}
