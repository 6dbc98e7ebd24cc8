//! Files that one process writes at a time, and what is no file.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Opens a file for reading and writing, by this process alone for as long as the file is open. One
/// that is not there is made; if `new` is set, one that is there is an error. `ResourceBusy` says
/// that another process has it open in this way.
pub fn open_exclusively(path: &Path, new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).create_new(new);
    let file = options.open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
        // There are filesystems without locks.
        Err(TryLockError::Error(_)) | Ok(()) => Ok(file),
    }
}

/// Whether it is a device, which may have no end.
pub fn is_device(about: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    kind.is_char_device() || kind.is_block_device()
}
