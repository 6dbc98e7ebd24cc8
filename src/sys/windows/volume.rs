//! The volume that a folder is on, and its facts.

use std::io;
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetVolumeInformationW, GetVolumePathNameW,
};

use super::super::shared::types::Volume;
use super::file::FilePath;
use super::{check, narrow};

/// The volume of the folder.
pub fn volume(folder: &Path) -> io::Result<Volume> {
    let path = FilePath::new(folder)?;
    let (mut free, mut size) = (0, 0);
    // SAFETY: the path is zero-terminated, and both numbers live through the call.
    check(unsafe { GetDiskFreeSpaceExW(path.pointer(), &mut free, &mut size, null_mut()) })?;
    Ok(Volume { size, free, in_memory: None })
}

/// Windows has no such limit for a process.
pub fn fail_beyond_file_size_limit() {}

/// Windows has no such limit for a process.
pub fn file_size_limit() -> Option<u64> {
    None
}

/// Names and values of what Windows says of the volume that a path is on.
pub fn volume_facts(path: &Path) -> Vec<(&'static str, String)> {
    volume_of(path).unwrap_or_default()
}

fn volume_of(path: &Path) -> Option<Vec<(&'static str, String)>> {
    let path = FilePath::new(path).ok()?;
    let (mut root, mut kind) = ([0u16; 261], [0u16; 64]);
    // SAFETY: the path is zero-terminated; both buffers have the lengths given; nothing else is
    // asked for.
    let known = unsafe {
        GetVolumePathNameW(path.pointer(), root.as_mut_ptr(), root.len() as u32) != 0
            && GetVolumeInformationW(
                root.as_ptr(),
                null_mut(),
                0,
                null_mut(),
                null_mut(),
                null_mut(),
                kind.as_mut_ptr(),
                kind.len() as u32,
            ) != 0
    };
    known.then(|| vec![("source", narrow(&root)), ("filesystem", narrow(&kind))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_says_what_it_is() {
        assert!(!volume_facts(&std::env::temp_dir()).is_empty());
    }
}
