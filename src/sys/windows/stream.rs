//! Going back to the start of an open file.

use std::io;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{FILE_BEGIN, SetFilePointerEx};

use super::check;
use super::file::{ReadFile, WriteFile};

impl ReadFile {
    /// Goes back to the start.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        rewind(self.0)
    }
}

impl WriteFile {
    /// Goes back to the start: what is there is overwritten.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        rewind(self.0)
    }
}

#[inline]
fn rewind(handle: HANDLE) -> io::Result<()> {
    // SAFETY: the new place is not asked for.
    check(unsafe { SetFilePointerEx(handle, 0, null_mut(), FILE_BEGIN) })
}
