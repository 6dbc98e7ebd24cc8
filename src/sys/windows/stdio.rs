//! Opens files in the C library that Windows itself has (msvcrt).

use std::ffi::c_void;
use std::io;

use super::super::shared::stdio::StdioFile;
use super::FilePath;

unsafe extern "C" {
    fn _wfopen(path: *const u16, mode: *const u16) -> *mut c_void;
}

/// `rb` and `wb`: bytes, in which no line ends are changed.
const READ: [u16; 3] = [b'r' as u16, b'b' as u16, 0];
const WRITE: [u16; 3] = [b'w' as u16, b'b' as u16, 0];

impl StdioFile {
    /// One `_wfopen` for reading.
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<StdioFile> {
        // SAFETY: path and mode are zero-terminated and live through the call; the file is new.
        unsafe { StdioFile::opened(_wfopen(path.pointer(), READ.as_ptr())) }
    }

    /// One `_wfopen` for writing; a file that exists becomes empty.
    #[inline]
    pub fn create(path: &FilePath) -> io::Result<StdioFile> {
        // SAFETY: as in `open`.
        unsafe { StdioFile::opened(_wfopen(path.pointer(), WRITE.as_ptr())) }
    }
}
