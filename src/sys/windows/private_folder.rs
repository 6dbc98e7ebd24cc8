//! Folders that belong to one user alone.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Makes the folder. It inherits its rights from the folder for temporary files, which is the
/// user's own.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Makes a folder, and those above it that are missing.
pub fn make_private_folders(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Opens a file to append to it.
pub fn append_private(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

/// Creates or empties a file.
pub fn create_private(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// Whether the open folder is the one at the path: folders cannot be opened as files here.
pub fn is_at(_open: &File, path: &Path) -> bool {
    path.exists()
}

/// There is no mode, but a list of rights that files inherit from their folder.
pub fn mode_of(_about: &Metadata) -> Option<u32> {
    None
}

/// Nothing to set.
pub fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

pub fn is_private_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Makes a symbolic link to a folder at `place`, as far as the user may.
pub fn make_link(to: &Path, place: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(to, place)
}

/// Does nothing: nothing is ever mounted there.
pub fn unmount_below(_path: &Path) -> io::Result<()> {
    Ok(())
}
