//! Files that one process writes at a time, and what is no file.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

/// Opens a file for reading and writing, by this process alone for as long as the file is open. One
/// that is not there is made; if `new` is set, one that is there is an error. `ResourceBusy` says
/// that another process has it open in this way.
pub fn open_exclusively(path: &Path, new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).create_new(new).share_mode(FILE_SHARE_READ);
    let busy = |error: &io::Error| error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32);
    options.open(path).map_err(|error| match busy(&error) {
        true => io::ErrorKind::ResourceBusy.into(),
        false => error,
    })
}

/// Whether it is a device, which may have no end. On Windows none is opened by such a path.
pub fn is_device(_: &Metadata) -> bool {
    false
}
