//! Renames, makes and removes names in folders, on prepared paths.

use std::io;
use std::ptr::null;

use windows_sys::Win32::Storage::FileSystem::{
    CreateDirectoryW, MOVEFILE_REPLACE_EXISTING, MoveFileExW, RemoveDirectoryW,
};

use super::file::FilePath;
use super::{check, not_here};

const NO_LINKS: &str = "symbolic links need a privilege on Windows that users do not have";

impl FilePath {
    /// Renames the file of this path; replaces a file that has the other name.
    #[inline]
    pub fn rename_to(&self, new: &FilePath) -> io::Result<()> {
        let (from, to) = (self.pointer(), new.pointer());
        // SAFETY: both paths are zero-terminated and live through the call.
        check(unsafe { MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING) })
    }

    pub fn symlink_to(&self, _target: &FilePath) -> io::Result<()> {
        not_here(NO_LINKS)
    }

    pub fn read_link(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        not_here(NO_LINKS)
    }

    /// Makes a folder.
    #[inline]
    pub fn make_folder(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        check(unsafe { CreateDirectoryW(self.pointer(), null()) })
    }

    /// Removes an empty folder.
    #[inline]
    pub fn remove_folder(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        check(unsafe { RemoveDirectoryW(self.pointer()) })
    }
}
