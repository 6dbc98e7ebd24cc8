//! Opens files in the C library.

use std::io;

use super::super::shared::stdio::StdioFile;
use super::FilePath;

impl StdioFile {
    /// One `fopen` for reading.
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<StdioFile> {
        // SAFETY: path and mode are zero-terminated and live through the call; the file is new.
        unsafe { StdioFile::opened(libc::fopen(path.pointer(), c"rb".as_ptr()).cast()) }
    }

    /// One `fopen` for writing; a file that exists becomes empty.
    #[inline]
    pub fn create(path: &FilePath) -> io::Result<StdioFile> {
        // SAFETY: as in `open`.
        unsafe { StdioFile::opened(libc::fopen(path.pointer(), c"wb".as_ptr()).cast()) }
    }
}
