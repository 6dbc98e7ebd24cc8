//! Listing folders by `getdents64` into the caller's buffer.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

use super::file::{FilePath, HERE, close};
use super::raw;

/// A folder opened for listing. Closed by [`Folder::close`] or, unchecked, when dropped.
pub struct Folder(RawFd);

impl Folder {
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<Folder> {
        open(HERE, path.address())
    }

    /// Opens a folder that lies in this one.
    #[inline]
    pub fn open_inner(&self, entry: &Entry<'_>) -> io::Result<Folder> {
        open(self.0 as usize, entry.name.as_ptr() as usize)
    }

    /// One `getdents64`: the next entries, none at the end.
    #[inline]
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Entries<'a>> {
        let arguments = [self.0 as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0];
        // SAFETY: the buffer is valid for writing all of its length.
        let filled = unsafe { raw::call(libc::SYS_getdents64, arguments) }?;
        Ok(Entries(&buffer[..filled]))
    }

    /// Whether the entry is a folder itself, by one `newfstatat` that follows no link.
    #[inline]
    pub fn is_folder(&self, entry: &Entry<'_>) -> io::Result<bool> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        let (name, buffer) = (entry.name.as_ptr() as usize, stat.as_mut_ptr() as usize);
        let arguments = [self.0 as usize, name, buffer, libc::AT_SYMLINK_NOFOLLOW as usize];
        // SAFETY: the name is zero-terminated and the buffer is a whole stat, which on these
        // systems has the kernel's layout.
        unsafe { raw::call(libc::SYS_newfstatat, arguments) }?;
        // SAFETY: success means that the buffer was filled.
        Ok(unsafe { stat.assume_init() }.st_mode & libc::S_IFMT == libc::S_IFDIR)
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let fd = self.0;
        std::mem::forget(self);
        close(fd)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = close(self.0);
    }
}

#[inline]
fn open(folder: usize, name: usize) -> io::Result<Folder> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: callers pass the address of a zero-terminated name that lives through the call.
    unsafe { raw::call(libc::SYS_openat, [folder, name, flags as usize, 0]) }
        .map(|fd| Folder(fd as RawFd))
}

/// The result of one call: all entries but the folder itself and its parent.
pub struct Entries<'a>(&'a [u8]);

/// One entry of a folder.
pub struct Entry<'a> {
    pub name: &'a CStr,
    /// Whether the entry is a folder, where the listing tells.
    pub is_folder: Option<bool>,
}

impl Entries<'_> {
    /// Bytes that the system filled; zero at the end of the folder.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Offsets in a record of the kernel's `linux_dirent64`: its length, its kind and its name.
const LENGTH: usize = 16;
const KIND: usize = 18;
const NAME: usize = 19;

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let length = u16::from_ne_bytes([*self.0.get(LENGTH)?, *self.0.get(LENGTH + 1)?]);
            let (record, rest) = self.0.split_at_checked(length.into())?;
            self.0 = rest;
            let name = CStr::from_bytes_until_nul(record.get(NAME..)?).ok()?;
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let is_folder = match record[KIND] {
                libc::DT_UNKNOWN => None,
                kind => Some(kind == libc::DT_DIR),
            };
            return Some(Entry { name, is_folder });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    #[test]
    fn everything_in_a_folder_is_listed_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inner")).unwrap();
        fs::write(dir.path().join("inner/deep"), b"").unwrap();
        std::os::unix::fs::symlink("inner", dir.path().join("link")).unwrap();
        for i in 0..50 {
            fs::write(dir.path().join(format!("file{i}")), b"").unwrap();
        }
        let folder = Folder::open(&FilePath::new(dir.path()).unwrap()).unwrap();
        // Small, so that it takes several calls.
        let mut buffer = [0; 256];
        let mut seen = BTreeMap::new();
        let mut calls = 0;
        loop {
            let entries = folder.read(&mut buffer).unwrap();
            if entries.bytes() == 0 {
                break;
            }
            calls += 1;
            for entry in entries {
                let name = entry.name.to_str().unwrap().to_owned();
                let is_folder = folder.is_folder(&entry).unwrap();
                assert_eq!(entry.is_folder.unwrap_or(is_folder), is_folder, "{name}");
                if is_folder {
                    let inner = folder.open_inner(&entry).unwrap();
                    let mut buffer = [0; 256];
                    let names = inner.read(&mut buffer).unwrap().map(|entry| entry.name.to_owned());
                    assert_eq!(names.collect::<Vec<_>>(), [c"deep".to_owned()]);
                    inner.close().unwrap();
                }
                assert!(seen.insert(name, is_folder).is_none());
            }
        }
        folder.close().unwrap();
        assert!(calls > 5 && seen.len() == 52, "{calls} {seen:?}");
        assert!(seen["inner"] && !seen["link"] && !seen["file7"]);
        let file = FilePath::new(&dir.path().join("file7")).unwrap();
        assert_eq!(Folder::open(&file).map(drop).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_broken_record_ends_the_listing() {
        assert!(Entries(&[0; 64]).next().is_none());
        assert!(Entries(&[255; 24]).next().is_none());
    }
}
