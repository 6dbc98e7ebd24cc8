//! Calls on files, made by their numbers on paths that were prepared before the clock starts.

use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::null_mut;

use super::super::shared::file::{self, Access, FileCalls, Opening};
use super::{check, page_size, raw};

/// A path in the form that system calls take, so that no call has to convert or allocate.
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

    /// Address of the zero-terminated path.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    pub(super) fn pointer(&self) -> *const libc::c_char {
        self.0.as_ptr()
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
pub(super) fn close(fd: RawFd) -> io::Result<()> {
    // SAFETY: callers own the descriptor and give it up here.
    unsafe { raw::call(libc::SYS_close, [fd as usize, 0, 0, 0]) }.map(drop)
}

/// Writes a file that its owner may execute.
pub fn write_executable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
    file.write_all(bytes)
}

/// The system calls on open files.
pub enum Calls {}

pub type ReadFile = file::ReadFile<Calls>;
pub type WriteFile = file::WriteFile<Calls>;

impl FileCalls for Calls {
    type Path = FilePath;
    type Handle = RawFd;

    #[inline]
    fn open(path: &FilePath, opening: Opening, access: Access) -> io::Result<RawFd> {
        let purpose = match opening {
            Opening::Read => libc::O_RDONLY,
            Opening::Write => libc::O_WRONLY,
            Opening::Create => libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL,
        };
        let way = match access {
            Access::Buffered => 0,
            Access::Direct => libc::O_DIRECT,
            Access::Durable => libc::O_DSYNC,
        };
        let flags = purpose | way | libc::O_CLOEXEC;
        let arguments = [HERE, path.address(), flags as usize, 0o600];
        // SAFETY: the path is zero-terminated; the mode is given for the flags that need one.
        unsafe { raw::call(libc::SYS_openat, arguments) }.map(|fd| fd as RawFd)
    }

    #[inline]
    fn close(file: RawFd) -> io::Result<()> {
        close(file)
    }

    #[inline]
    fn read(file: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
        raw::read(file, buffer)
    }

    #[inline]
    fn read_at(file: RawFd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (start, length) = (buffer.as_mut_ptr() as usize, buffer.len());
        let arguments = [file as usize, start, length, offset as usize];
        // SAFETY: the buffer is valid for writing all of its length.
        unsafe { raw::call(libc::SYS_pread64, arguments) }
    }

    #[inline]
    fn write(file: RawFd, data: &[u8]) -> io::Result<usize> {
        raw::write(file, data)
    }

    #[inline]
    fn write_at(file: RawFd, data: &[u8], offset: u64) -> io::Result<usize> {
        let arguments = [file as usize, data.as_ptr() as usize, data.len(), offset as usize];
        // SAFETY: the data is valid for reading all of its length.
        unsafe { raw::call(libc::SYS_pwrite64, arguments) }
    }

    #[inline]
    fn rewind(file: RawFd) -> io::Result<()> {
        let arguments = [file as usize, 0, libc::SEEK_SET as usize, 0];
        // SAFETY: no pointer is passed.
        unsafe { raw::call(libc::SYS_lseek, arguments) }.map(drop)
    }

    /// One `fdatasync`.
    #[inline]
    fn sync_data(file: RawFd) -> io::Result<()> {
        // SAFETY: no pointer is passed.
        unsafe { raw::call(libc::SYS_fdatasync, [file as usize, 0, 0, 0]) }.map(drop)
    }

    /// One `fsync`.
    #[inline]
    fn sync_all(file: RawFd) -> io::Result<()> {
        // SAFETY: no pointer is passed.
        unsafe { raw::call(libc::SYS_fsync, [file as usize, 0, 0, 0]) }.map(drop)
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
    fn a_file_just_written_is_resident() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![1; 5 * page_size()]).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(map_residency(&file).unwrap(), (5, 5));
    }
}
