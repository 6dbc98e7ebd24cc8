//! The volume that a folder is on.

use std::io;
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

use super::check;
use super::file::FilePath;

/// What the volume says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Bytes of it, as far as this user may fill them.
    pub size: u64,
    /// Bytes that this user may still fill.
    pub free: u64,
    /// Windows has no filesystem of its own that keeps files in memory only, and what Wine shows
    /// may be one that it cannot name.
    pub in_memory: Option<&'static str>,
}

/// The volume of the folder.
pub fn volume(folder: &Path) -> io::Result<Volume> {
    let path = FilePath::new(folder)?;
    let (mut free, mut size) = (0, 0);
    // SAFETY: the path is zero-terminated, and both numbers live through the call.
    check(unsafe { GetDiskFreeSpaceExW(path.pointer(), &mut free, &mut size, null_mut()) })?;
    Ok(Volume { size, free, in_memory: None })
}

/// Windows has no such limit for a process.
pub fn file_size_limit() -> Option<u64> {
    None
}
