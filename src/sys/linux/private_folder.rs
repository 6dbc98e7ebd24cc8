//! Folders that belong to one user alone, and mounts below them.

use std::ffi::{CString, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::check;

/// Makes a folder that only this user may enter. One that exists is an error.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a folder, and those above it that are missing, for this user alone.
pub fn make_private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file to append to it. A new one is for this user alone; a link is an error.
pub fn append_private(path: &Path) -> io::Result<File> {
    private_file().append(true).open(path)
}

/// Creates or empties a file, and makes it this user's alone. A link is an error.
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = private_file().write(true).open(path)?;
    set_mode(&file, 0o600)?;
    file.set_len(0)?;
    Ok(file)
}

fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options
}

/// Who may read, write and execute the file: the nine bits that `chmod` takes.
pub fn mode_of(about: &Metadata) -> Option<u32> {
    Some(about.mode() & 0o777)
}

/// Whether the open file or folder is the one at the path, and not an earlier one of that name.
pub fn is_at(open: &File, path: &Path) -> bool {
    let found = open.metadata().ok().zip(fs::metadata(path).ok());
    found.is_some_and(|(own, there)| (own.dev(), own.ino()) == (there.dev(), there.ino()))
}

/// Sets these nine bits, whatever the file creation mask is.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode & 0o777))
}

/// Whether the folder itself (not a link to one) belongs to this user, and nobody else may write to
/// it.
pub fn is_private_folder(path: &Path) -> bool {
    let (own, _) = own_user_and_group();
    fs::symlink_metadata(path)
        .is_ok_and(|about| about.is_dir() && about.uid() == own && about.mode() & 0o022 == 0)
}

/// The user and the group that this process acts as.
pub fn own_user_and_group() -> (u32, u32) {
    // SAFETY: both calls only read the ids of this process.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    own_user_and_group().0 == 0
}

/// Makes a symbolic link to a folder at `place`.
pub fn make_link(to: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, place)
}

/// Unmounts everything below `path` that this process sees mounted, the deepest first. Lazily: a
/// mount that is still used keeps working, but no path leads there any more.
pub fn unmount_below(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let table = fs::read("/proc/self/mountinfo")?;
    let mut points: Vec<PathBuf> = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(unescaped)
        .filter(|point| point.starts_with(&path))
        .collect();
    points.sort();
    for point in points.iter().rev() {
        let point = CString::new(point.as_os_str().as_bytes())?;
        // SAFETY: the path is zero-terminated and lives through the call.
        check(unsafe { libc::umount2(point.as_ptr(), libc::MNT_DETACH) }.into())?;
    }
    Ok(())
}

/// A path of the mount table: a backslash and three octal digits stand for one byte (proc(5)).
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((first, more)) = rest.split_first() {
        let octal = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (first, value) {
            (b'\\', Some(value)) => {
                bytes.push(value);
                rest = &more[3..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_mount_table_are_read() {
        assert_eq!(unescaped(b"/a\\040b\\134c"), Path::new("/a b\\c"));
        assert_eq!(unescaped(b"/plain"), Path::new("/plain"));
        assert_eq!(unescaped(b"/end\\0"), Path::new("/end\\0"));
    }

    #[test]
    fn private_folders_are_told_from_others() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("own");
        make_private_folder(&own).unwrap();
        assert!(is_private_folder(&own));
        assert!(make_private_folder(&own).is_err(), "it exists");
        assert!(!is_private_folder(Path::new("/tmp")), "everybody writes there");
        assert!(!is_private_folder(&place.path().join("none")));
        unmount_below(&own).unwrap();
    }
}
