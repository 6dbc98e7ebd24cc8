//! Files that only one process writes at a time; and whether something is a file at all.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Opens a file for reading and writing. While it is open, no other process can open it in this
/// way; then the error is `ResourceBusy`. A missing file is created. If `new` is set, an existing
/// file is an error.
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
