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

    /// Where the zero-terminated path begins.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// Relative paths start from the current folder.
pub(super) const HERE: usize = libc::AT_FDCWD as usize;

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
pub(super) fn close(fd: RawFd) -> io::Result<()> {
    // SAFETY: callers own the descriptor and give it up here.
    unsafe { raw::call(libc::SYS_close, [fd as usize, 0, 0, 0]) }.map(drop)
}

/// Writes a file that its owner may execute.
pub fn write_executable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
    file.write_all(bytes)
}

/// How reads and writes of an open file reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Through the page cache.
    Buffered,
    /// Past it (`O_DIRECT`): addresses, offsets and lengths have to be aligned.
    Direct,
    /// Through it, and durable when the write returns (`O_DSYNC`).
    Durable,
}

impl Access {
    fn flags(self) -> libc::c_int {
        match self {
            Access::Buffered => 0,
            Access::Direct => libc::O_DIRECT,
            Access::Durable => libc::O_DSYNC,
        }
    }
}

/// A file opened for reading. Closed by [`ReadFile::close`] or, unchecked, when dropped.
pub struct ReadFile(pub(super) RawFd);

impl ReadFile {
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<ReadFile> {
        open(path, libc::O_RDONLY).map(ReadFile)
    }

    #[inline]
    pub fn open_as(path: &FilePath, access: Access) -> io::Result<ReadFile> {
        open(path, libc::O_RDONLY | access.flags()).map(ReadFile)
    }

    /// One `read` of up to the buffer's length, from where the last one ended.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let arguments = [self.0 as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0];
        // SAFETY: the buffer is valid for writing all of its length.
        unsafe { raw::call(libc::SYS_read, arguments) }
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let fd = self.0;
        std::mem::forget(self);
        close(fd)
    }

    /// One `read` of a single byte; an error also when there is none.
    #[inline]
    pub fn read_byte(&self) -> io::Result<u8> {
        raw::read_byte(self.0)
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

/// A file that is open for writing. Closed as [`ReadFile`] is.
pub struct WriteFile(pub(super) RawFd);

impl WriteFile {
    /// Creates the file; an error when it exists.
    #[inline]
    pub fn create(path: &FilePath) -> io::Result<WriteFile> {
        open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL).map(WriteFile)
    }

    /// Opens a file that exists, and changes nothing of it.
    pub fn open(path: &FilePath) -> io::Result<WriteFile> {
        open(path, libc::O_WRONLY).map(WriteFile)
    }

    /// Creates the file; an error when it exists.
    #[inline]
    pub fn create_as(path: &FilePath, access: Access) -> io::Result<WriteFile> {
        open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | access.flags()).map(WriteFile)
    }

    /// Opens a file that exists.
    #[inline]
    pub fn open_as(path: &FilePath, access: Access) -> io::Result<WriteFile> {
        open(path, libc::O_WRONLY | access.flags()).map(WriteFile)
    }

    /// One `write` from where the last one ended; says how many bytes were taken.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        let arguments = [self.0 as usize, data.as_ptr() as usize, data.len(), 0];
        // SAFETY: the data is valid for reading all of its length.
        unsafe { raw::call(libc::SYS_write, arguments) }
    }

    /// One `pwrite`; says how many bytes were taken.
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        let arguments = [self.0 as usize, data.as_ptr() as usize, data.len(), offset as usize];
        // SAFETY: the data is valid for reading all of its length.
        unsafe { raw::call(libc::SYS_pwrite64, arguments) }
    }

    /// `fdatasync`: the data is durable, and of the attributes what is needed to read it.
    #[inline]
    pub fn sync_data(&self) -> io::Result<()> {
        // SAFETY: takes no pointer.
        unsafe { raw::call(libc::SYS_fdatasync, [self.0 as usize, 0, 0, 0]) }.map(drop)
    }

    /// `fsync`: data and attributes are durable.
    #[inline]
    pub fn sync_all(&self) -> io::Result<()> {
        // SAFETY: takes no pointer.
        unsafe { raw::call(libc::SYS_fsync, [self.0 as usize, 0, 0, 0]) }.map(drop)
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
    fn blocks_are_written_and_read_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = FilePath::new(&dir.path().join("f")).unwrap();
        let file = WriteFile::create_as(&path, Access::Durable).unwrap();
        assert_eq!((file.write(b"one").unwrap(), file.write(b"two").unwrap()), (3, 3));
        file.sync_data().unwrap();
        file.close().unwrap();
        let file = WriteFile::open_as(&path, Access::Buffered).unwrap();
        assert_eq!(file.write_at(b"2", 3).unwrap(), 1);
        file.sync_all().unwrap();
        file.close().unwrap();
        let file = ReadFile::open_as(&path, Access::Buffered).unwrap();
        let mut buffer = [0; 4];
        assert_eq!((file.read(&mut buffer).unwrap(), &buffer), (4, b"one2"));
        assert_eq!((file.read(&mut buffer).unwrap(), &buffer[..2]), (2, &b"wo"[..]));
        assert_eq!(file.read(&mut buffer).unwrap(), 0);
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
