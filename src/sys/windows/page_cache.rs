//! The cache of files: Windows does not tell what is in it.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::GENERIC_READ;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, ReOpenFile,
};

use super::{check_handle, not_here};

#[derive(Clone, Copy, Debug)]
pub enum CacheView {}

impl CacheView {
    pub const ALL: [CacheView; 0] = [];

    pub fn name(self) -> &'static str {
        match self {}
    }

    pub fn brings_in(self) -> bool {
        match self {}
    }

    pub fn resident(self, _file: &File) -> io::Result<(u64, u64)> {
        match self {}
    }
}

/// Opens the file once more without buffering, which has the system write and forget what it has
/// of it in the cache, unless another program has the file open or mapped. Nothing tells whether it
/// did; Wine does not.
pub fn evict(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match error.kind() {
        // A handle for reading has nothing to write.
        io::ErrorKind::PermissionDenied => Ok(()),
        _ => Err(error),
    })?;
    let shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the handle is open; the new one is owned by nobody else.
    unsafe {
        let again = ReOpenFile(file.as_raw_handle(), GENERIC_READ, shared, FILE_FLAG_NO_BUFFERING);
        drop(OwnedHandle::from_raw_handle(check_handle(again)?));
    }
    Ok(())
}

pub const DROP_CACHES: &str = "the standby list";

pub fn may_drop_caches() -> io::Result<()> {
    not_here("Windows does not say what of a file is in the cache")
}

pub fn drop_caches() -> io::Result<()> {
    not_here("Windows does not say what of a file is in the cache")
}
