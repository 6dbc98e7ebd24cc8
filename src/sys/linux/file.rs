//! File calls by their numbers, on paths made before the clock starts.

use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::null_mut;

use super::{check, page_size, raw};

/// A path in the form the system takes it, so that no call has to convert or allocate.
pub struct FilePath(CString);

impl FilePath {
    /// Errors when the path contains a zero byte.
    pub fn new(path: &Path) -> io::Result<FilePath> {
        Ok(FilePath(CString::new(AsRef::<OsStr>::as_ref(path).as_bytes())?))
    }

    /// Removes the file.
    #[inline]
    pub fn unlink(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        unsafe { raw::call(libc::SYS_unlinkat, [HERE, self.address(), 0, 0]) }.map(drop)
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// Relative paths start from the current folder.
const HERE: usize = libc::AT_FDCWD as usize;

/// Size of the file in bytes, by one `newfstatat`.
#[inline]
pub fn stat_size(path: &FilePath) -> io::Result<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    let arguments = [HERE, path.address(), stat.as_mut_ptr() as usize, 0];
    // SAFETY: the path is zero-terminated and the buffer is a whole stat, which on these systems
    // has the kernel's layout.
    unsafe { raw::call(libc::SYS_newfstatat, arguments) }?;
    // SAFETY: success means that the buffer was filled.
    Ok(unsafe { stat.assume_init() }.st_size as u64)
}

#[inline]
fn open(path: &FilePath, flags: libc::c_int) -> io::Result<RawFd> {
    let arguments = [HERE, path.address(), (flags | libc::O_CLOEXEC) as usize, 0o600];
    // SAFETY: the path is zero-terminated; the mode is given for the flags that need one.
    unsafe { raw::call(libc::SYS_openat, arguments) }.map(|fd| fd as RawFd)
}

#[inline]
fn close(fd: RawFd) -> io::Result<()> {
    // SAFETY: callers own the descriptor and give it up here.
    unsafe { raw::call(libc::SYS_close, [fd as usize, 0, 0, 0]) }.map(drop)
}

/// Writes a file that its owner may execute.
pub fn write_executable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
    file.write_all(bytes)
}

/// A file opened for reading. Closed by [`ReadFile::close`] or, unchecked, when dropped.
pub struct ReadFile(RawFd);

impl ReadFile {
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<ReadFile> {
        open(path, libc::O_RDONLY).map(ReadFile)
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let fd = self.0;
        std::mem::forget(self);
        close(fd)
    }

    /// One `pread` of up to the buffer's length; says how many bytes came.
    #[inline]
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (start, length) = (buffer.as_mut_ptr() as usize, buffer.len());
        let arguments = [self.0 as usize, start, length, offset as usize];
        // SAFETY: the buffer is valid for writing all of its length.
        unsafe { raw::call(libc::SYS_pread64, arguments) }
    }
}

impl Drop for ReadFile {
    fn drop(&mut self) {
        let _ = close(self.0);
    }
}

/// A file that was created and is open for writing. Closed as [`ReadFile`] is.
pub struct WriteFile(RawFd);

impl WriteFile {
    /// Creates the file; an error when it exists.
    #[inline]
    pub fn create(path: &FilePath) -> io::Result<WriteFile> {
        open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL).map(WriteFile)
    }

    /// Writes one byte.
    #[inline]
    pub fn write_byte(&self) -> io::Result<()> {
        raw::write_byte(self.0, b'x')
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let fd = self.0;
        std::mem::forget(self);
        close(fd)
    }
}

impl Drop for WriteFile {
    fn drop(&mut self) {
        let _ = close(self.0);
    }
}

/// Pages of the file that are in the page cache, of how many (`mincore` on a mapping of it).
///
/// gVisor answers that all are, whatever the truth, and some filesystems cannot be mapped.
pub fn map_residency(file: &File) -> io::Result<(usize, usize)> {
    let bytes = file.metadata()?.len() as usize;
    let pages = bytes.div_ceil(page_size());
    if pages == 0 {
        return Ok((0, 0));
    }
    let fd = file.as_raw_fd();
    // SAFETY: a new read-only mapping at a place the kernel chooses; unmapped below.
    let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut states = vec![0u8; pages];
    // SAFETY: the range is the mapping made above; the vector has a byte for each of its pages.
    let result = check(unsafe { libc::mincore(start, bytes, states.as_mut_ptr()) }.into());
    // SAFETY: the mapping made above, not used after this.
    unsafe { libc::munmap(start, bytes) };
    result?;
    Ok((states.iter().filter(|state| **state & 1 == 1).count(), pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_created_once_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = FilePath::new(&dir.path().join("f")).unwrap();
        let file = WriteFile::create(&path).unwrap();
        file.write_byte().unwrap();
        file.close().unwrap();
        let again = WriteFile::create(&path).map(drop).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(stat_size(&path).unwrap(), 1);
        let mut buffer = [0; 2];
        let file = ReadFile::open(&path).unwrap();
        assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 1);
        assert_eq!(file.read_at(&mut buffer, 1).unwrap(), 0);
        file.close().unwrap();
        path.unlink().unwrap();
        assert_eq!(stat_size(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(FilePath::new(Path::new("a\0b")).is_err());
    }

    #[test]
    fn a_file_just_written_is_resident() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![1; 5 * page_size()]).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(map_residency(&file).unwrap(), (5, 5));
    }
}
