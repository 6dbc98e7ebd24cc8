//! Renames, links, makes and removes names in folders, by system calls on prepared paths.

use std::io;

use super::file::{FilePath, HERE};
use super::raw;

impl FilePath {
    /// Renames the file of this path; replaces a file that has the other name.
    #[inline]
    pub fn rename_to(&self, new: &FilePath) -> io::Result<()> {
        let arguments = [HERE, self.address(), HERE, new.address()];
        // SAFETY: both paths are zero-terminated and live through the call.
        unsafe { raw::call(libc::SYS_renameat, arguments) }.map(drop)
    }

    /// Makes a symbolic link here whose text is `target`, which need not exist.
    #[inline]
    pub fn symlink_to(&self, target: &FilePath) -> io::Result<()> {
        // SAFETY: both paths are zero-terminated and live through the call.
        unsafe { raw::call(libc::SYS_symlinkat, [target.address(), HERE, self.address(), 0]) }
            .map(drop)
    }

    /// Reads the text of the symbolic link into the buffer; returns its bytes.
    #[inline]
    pub fn read_link(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (start, length) = (buffer.as_mut_ptr() as usize, buffer.len());
        // SAFETY: the path is zero-terminated and the buffer is valid for all of its length.
        unsafe { raw::call(libc::SYS_readlinkat, [HERE, self.address(), start, length]) }
    }

    /// Makes a folder for its owner alone.
    #[inline]
    pub fn make_folder(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        unsafe { raw::call(libc::SYS_mkdirat, [HERE, self.address(), 0o700, 0]) }.map(drop)
    }

    /// Removes an empty folder.
    #[inline]
    pub fn remove_folder(&self) -> io::Result<()> {
        let arguments = [HERE, self.address(), libc::AT_REMOVEDIR as usize, 0];
        // SAFETY: the path is zero-terminated and lives through the call.
        unsafe { raw::call(libc::SYS_unlinkat, arguments) }.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn links_are_made_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("link");
        let link = FilePath::new(&at).unwrap();
        link.symlink_to(&FilePath::new(Path::new("gone")).unwrap()).unwrap();
        let mut text = [0; 16];
        assert_eq!(link.read_link(&mut text).unwrap(), 4);
        assert_eq!((&text[..4], fs::read_link(at).unwrap()), (&b"gone"[..], "gone".into()));
    }
}
