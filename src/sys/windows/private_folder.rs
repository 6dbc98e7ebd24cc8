//! Folders that belong to one user alone.

use std::io;
use std::path::Path;

/// Makes the folder. It inherits its rights from the folder for temporary files, which is the
/// user's own.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
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
