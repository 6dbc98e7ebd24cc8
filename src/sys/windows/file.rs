//! File calls on paths made before the clock starts.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_HANDLE_EOF, GENERIC_READ, GENERIC_WRITE, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::facts::wine_version;
use super::{check, check_handle, not_here, wide};

/// A path in the form the system takes it, so that no call has to convert or allocate.
pub struct FilePath(Vec<u16>);

impl FilePath {
    /// Errors when the path contains a zero.
    pub fn new(path: &Path) -> io::Result<FilePath> {
        // The system resolves no `/` in what is written into a link.
        let text = path.to_str().map(|text| text.replace('/', "\\"));
        let text = text.as_ref().map_or_else(|| path.as_os_str(), OsStr::new);
        wide(text).map(FilePath)
    }

    /// Removes the file.
    #[inline]
    pub fn unlink(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        check(unsafe { fs::DeleteFileW(self.pointer()) })
    }

    /// Where the zero-terminated path begins.
    pub(super) fn pointer(&self) -> *const u16 {
        self.0.as_ptr()
    }
}

/// Size of the file in bytes, by one `GetFileAttributesExW`.
#[inline]
pub fn stat_size(path: &FilePath) -> io::Result<u64> {
    let mut about = MaybeUninit::<fs::WIN32_FILE_ATTRIBUTE_DATA>::uninit();
    let (level, buffer) = (fs::GetFileExInfoStandard, about.as_mut_ptr().cast());
    // SAFETY: the path is zero-terminated and the buffer is the structure of that level.
    check(unsafe { fs::GetFileAttributesExW(path.pointer(), level, buffer) })?;
    // SAFETY: success means that the buffer was filled.
    let about = unsafe { about.assume_init() };
    Ok(u64::from(about.nFileSizeHigh) << 32 | u64::from(about.nFileSizeLow))
}

const SHARED: u32 = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;

#[inline]
fn open(path: &FilePath, access: u32, disposition: u32, flags: u32) -> io::Result<HANDLE> {
    // SAFETY: the path is zero-terminated; neither attributes nor a template are given.
    check_handle(unsafe {
        fs::CreateFileW(path.pointer(), access, SHARED, null(), disposition, flags, null_mut())
    })
}

#[inline]
pub(super) fn close(handle: HANDLE) -> io::Result<()> {
    // SAFETY: callers own the handle and give it up here.
    check(unsafe { CloseHandle(handle) })
}

#[inline]
pub(super) fn read(handle: HANDLE, buffer: &mut [u8], at: *mut OVERLAPPED) -> io::Result<usize> {
    let length = buffer.len().min(u32::MAX as usize) as u32;
    let mut bytes = 0;
    // SAFETY: the buffer is valid for writing so many bytes; `at` is null or lives through the
    // call, which waits, as no handle here is opened for overlapped access.
    let done = unsafe { fs::ReadFile(handle, buffer.as_mut_ptr(), length, &mut bytes, at) };
    match check(done) {
        // Reads with a place tell the end of the file by an error.
        Err(error) if error.raw_os_error() == Some(ERROR_HANDLE_EOF as i32) => Ok(0),
        result => result.map(|()| bytes as usize),
    }
}

#[inline]
pub(super) fn write(handle: HANDLE, data: &[u8], at: *mut OVERLAPPED) -> io::Result<usize> {
    let length = data.len().min(u32::MAX as usize) as u32;
    let mut bytes = 0;
    // SAFETY: the data is valid for reading so many bytes; for `at` see `read`.
    check(unsafe { fs::WriteFile(handle, data.as_ptr(), length, &mut bytes, at) })?;
    Ok(bytes as usize)
}

#[inline]
fn place(offset: u64) -> OVERLAPPED {
    let (low, high) = (offset as u32, (offset >> 32) as u32);
    let parts = OVERLAPPED_0_0 { Offset: low, OffsetHigh: high };
    OVERLAPPED {
        Internal: 0,
        InternalHigh: 0,
        Anonymous: OVERLAPPED_0 { Anonymous: parts },
        hEvent: null_mut(),
    }
}

/// Writes a file that can be executed, as every file can.
pub fn write_executable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// How reads and writes of an open file reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Through the system's cache.
    Buffered,
    /// Past it (`FILE_FLAG_NO_BUFFERING`): addresses, offsets and lengths have to be aligned.
    Direct,
    /// Through it, and durable when the write returns (`FILE_FLAG_WRITE_THROUGH`).
    Durable,
}

impl Access {
    /// Wine takes both flags and obeys neither: it would be the cache that is measured.
    fn flags(self) -> io::Result<u32> {
        let flag = match self {
            Access::Buffered => return Ok(0),
            Access::Direct => fs::FILE_FLAG_NO_BUFFERING,
            Access::Durable => fs::FILE_FLAG_WRITE_THROUGH,
        };
        match wine_version() {
            Some(_) => not_here("Wine reads and writes through the cache whatever is asked for"),
            None => Ok(flag),
        }
    }
}

/// A file opened for reading. Closed by [`ReadFile::close`] or, unchecked, when dropped.
pub struct ReadFile(pub(super) HANDLE);

impl ReadFile {
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<ReadFile> {
        open(path, GENERIC_READ, fs::OPEN_EXISTING, 0).map(ReadFile)
    }

    pub fn open_as(path: &FilePath, access: Access) -> io::Result<ReadFile> {
        open(path, GENERIC_READ, fs::OPEN_EXISTING, access.flags()?).map(ReadFile)
    }

    /// One `ReadFile` of up to the buffer's length, from where the last one ended.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.0, buffer, null_mut())
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let handle = self.0;
        std::mem::forget(self);
        close(handle)
    }

    /// One `ReadFile` of a single byte; an error also when there is none.
    #[inline]
    pub fn read_byte(&self) -> io::Result<u8> {
        let mut byte = [0];
        match self.read(&mut byte)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(byte[0]),
        }
    }

    /// One `ReadFile` at that place; says how many bytes came.
    #[inline]
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        read(self.0, buffer, &mut place(offset))
    }
}

impl Drop for ReadFile {
    fn drop(&mut self) {
        let _ = close(self.0);
    }
}

/// A file that is open for writing. Closed as [`ReadFile`] is.
pub struct WriteFile(pub(super) HANDLE);

impl WriteFile {
    /// Creates the file; an error when it exists.
    #[inline]
    pub fn create(path: &FilePath) -> io::Result<WriteFile> {
        open(path, GENERIC_WRITE, fs::CREATE_NEW, 0).map(WriteFile)
    }

    /// Opens a file that exists, and changes nothing of it.
    pub fn open(path: &FilePath) -> io::Result<WriteFile> {
        open(path, GENERIC_WRITE, fs::OPEN_EXISTING, 0).map(WriteFile)
    }

    /// Creates the file; an error when it exists.
    #[inline]
    pub fn create_as(path: &FilePath, access: Access) -> io::Result<WriteFile> {
        open(path, GENERIC_WRITE, fs::CREATE_NEW, access.flags()?).map(WriteFile)
    }

    /// Opens a file that exists.
    #[inline]
    pub fn open_as(path: &FilePath, access: Access) -> io::Result<WriteFile> {
        open(path, GENERIC_WRITE, fs::OPEN_EXISTING, access.flags()?).map(WriteFile)
    }

    /// One `WriteFile` from where the last one ended; says how many bytes were taken.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        write(self.0, data, null_mut())
    }

    /// One `WriteFile` at that place; says how many bytes were taken.
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        write(self.0, data, &mut place(offset))
    }

    /// `FlushFileBuffers`, which makes attributes durable too: Windows has no lesser one.
    #[inline]
    pub fn sync_data(&self) -> io::Result<()> {
        self.sync_all()
    }

    /// `FlushFileBuffers`: data and attributes are durable.
    #[inline]
    pub fn sync_all(&self) -> io::Result<()> {
        // SAFETY: takes no pointer.
        check(unsafe { fs::FlushFileBuffers(self.0) })
    }

    /// Writes one byte.
    #[inline]
    pub fn write_byte(&self) -> io::Result<()> {
        self.write(b"x").map(drop)
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        let handle = self.0;
        std::mem::forget(self);
        close(handle)
    }
}

impl Drop for WriteFile {
    fn drop(&mut self) {
        let _ = close(self.0);
    }
}

/// Windows does not say what of a file is in the cache.
pub fn map_residency(_file: &File) -> io::Result<(usize, usize)> {
    not_here("Windows does not say what of a file is in the cache")
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
        file.sync_all().unwrap();
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
        let file = WriteFile::create_as(&path, Access::Buffered).unwrap();
        assert_eq!((file.write(b"one").unwrap(), file.write(b"two").unwrap()), (3, 3));
        assert_eq!(file.write_at(b"2", 3).unwrap(), 1);
        file.close().unwrap();
        let file = ReadFile::open_as(&path, Access::Buffered).unwrap();
        let mut buffer = [0; 4];
        assert_eq!((file.read(&mut buffer).unwrap(), &buffer), (4, b"one2"));
        assert_eq!((file.read(&mut buffer).unwrap(), &buffer[..2]), (2, &b"wo"[..]));
        assert_eq!(file.read(&mut buffer).unwrap(), 0);
    }
}
