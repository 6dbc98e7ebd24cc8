//! Calls on files, on paths that were prepared before the clock starts.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::windows::ffi::OsStringExt;
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_HANDLE_EOF, GENERIC_READ, GENERIC_WRITE, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::super::shared::file::{self, Access, FileCalls, Opening};
use super::facts::wine_version;
use super::{check, check_handle, not_here, wide};

/// Units of UTF-16 from which on calls refuse a path that is not marked as verbatim. Folders get
/// twelve less than files.
const LONG: usize = 248;

/// The whole path with the mark `\\?\`, after which Windows takes paths of any length.
fn verbatim(path: Vec<u16>) -> io::Result<Vec<u16>> {
    let path = std::path::absolute(OsString::from_wide(&path[..path.len() - 1]))?;
    let text = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let marked = match text.strip_prefix(r"\\") {
        Some(rest) if rest.starts_with(['?', '.']) => text.to_owned(),
        Some(share) => format!(r"\\?\UNC\{share}"),
        None => format!(r"\\?\{text}"),
    };
    wide(OsStr::new(&marked))
}

/// A path in the form that Windows takes, so that no call has to convert or allocate.
pub struct FilePath(Vec<u16>);

impl FilePath {
    /// Errors when the path contains a zero.
    pub fn new(path: &Path) -> io::Result<FilePath> {
        // The system resolves no `/` in what is written into a link.
        let text = path.to_str().map(|text| text.replace('/', "\\"));
        let text = text.as_ref().map_or_else(|| path.as_os_str(), OsStr::new);
        let path = wide(text)?;
        Ok(FilePath(if path.len() < LONG { path } else { verbatim(path)? }))
    }

    /// Removes the file.
    #[inline]
    pub fn unlink(&self) -> io::Result<()> {
        // SAFETY: the path is zero-terminated and lives through the call.
        check(unsafe { fs::DeleteFileW(self.pointer()) })
    }

    /// The path as it was given, for another process.
    pub(super) fn text(&self) -> String {
        super::narrow(&self.0)
    }

    /// Address of the zero-terminated path.
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

#[inline]
pub(super) fn close(handle: HANDLE) -> io::Result<()> {
    // SAFETY: callers own the handle and give it up here.
    check(unsafe { CloseHandle(handle) })
}

#[inline]
pub(super) fn read(handle: HANDLE, buffer: &mut [u8], at: *mut OVERLAPPED) -> io::Result<usize> {
    let length = buffer.len().min(u32::MAX as usize) as u32;
    let mut bytes = 0;
    // SAFETY: the buffer is valid for writing that many bytes; `at` is null or lives through the
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
    // SAFETY: the data is valid for reading that many bytes; for `at` see `read`.
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

/// The calls of Windows on open files.
pub enum Calls {}

pub type ReadFile = file::ReadFile<Calls>;
pub type WriteFile = file::WriteFile<Calls>;

/// What other programs may do with the file meanwhile: everything.
const SHARED: u32 = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;

/// The flag of an access. Wine takes both flags and obeys neither: a probe would measure the cache.
#[inline]
fn flag(access: Access) -> io::Result<u32> {
    let flag = match access {
        Access::Buffered => return Ok(0),
        Access::Direct => fs::FILE_FLAG_NO_BUFFERING,
        Access::Durable => fs::FILE_FLAG_WRITE_THROUGH,
    };
    match wine_version() {
        Some(_) => not_here("Wine reads and writes through the cache, even if asked not to"),
        None => Ok(flag),
    }
}

impl FileCalls for Calls {
    type Path = FilePath;
    type Handle = HANDLE;

    #[inline]
    fn open(path: &FilePath, opening: Opening, access: Access) -> io::Result<HANDLE> {
        let (rights, disposition) = match opening {
            Opening::Read => (GENERIC_READ, fs::OPEN_EXISTING),
            Opening::Write => (GENERIC_WRITE, fs::OPEN_EXISTING),
            Opening::Create => (GENERIC_WRITE, fs::CREATE_NEW),
        };
        let (path, flag) = (path.pointer(), flag(access)?);
        // SAFETY: the path is zero-terminated; neither attributes nor a template are given.
        check_handle(unsafe {
            fs::CreateFileW(path, rights, SHARED, null(), disposition, flag, null_mut())
        })
    }

    #[inline]
    fn close(file: HANDLE) -> io::Result<()> {
        close(file)
    }

    #[inline]
    fn read(file: HANDLE, buffer: &mut [u8]) -> io::Result<usize> {
        read(file, buffer, null_mut())
    }

    #[inline]
    fn read_at(file: HANDLE, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        read(file, buffer, &mut place(offset))
    }

    #[inline]
    fn write(file: HANDLE, data: &[u8]) -> io::Result<usize> {
        write(file, data, null_mut())
    }

    #[inline]
    fn write_at(file: HANDLE, data: &[u8], offset: u64) -> io::Result<usize> {
        write(file, data, &mut place(offset))
    }

    #[inline]
    fn rewind(file: HANDLE) -> io::Result<()> {
        // SAFETY: the new position is not asked for.
        check(unsafe { fs::SetFilePointerEx(file, 0, null_mut(), fs::FILE_BEGIN) })
    }

    /// `FlushFileBuffers`, which makes attributes durable too: Windows has no lesser one.
    #[inline]
    fn sync_data(file: HANDLE) -> io::Result<()> {
        Calls::sync_all(file)
    }

    /// One `FlushFileBuffers`.
    #[inline]
    fn sync_all(file: HANDLE) -> io::Result<()> {
        // SAFETY: no pointer is passed.
        check(unsafe { fs::FlushFileBuffers(file) })
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
    fn paths_may_be_long() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("a".repeat(120)).join("b".repeat(120));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("c".repeat(60));
        std::fs::write(&file, "four").unwrap();
        let path = FilePath::new(&file).unwrap();
        assert_eq!(stat_size(&path).unwrap(), 4);
        path.unlink().unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn long_paths_are_marked_in_the_form_of_their_kind() {
        let marked = |path: &str| {
            let path = verbatim(wide(path.as_ref()).unwrap()).unwrap();
            super::super::narrow(&path)
        };
        assert_eq!(marked(r"C:\a\b"), r"\\?\C:\a\b");
        assert_eq!(marked(r"\\host\share\b"), r"\\?\UNC\host\share\b");
        assert_eq!(marked(r"\\?\C:\a\b"), r"\\?\C:\a\b");
    }
}
