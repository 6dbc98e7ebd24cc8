//! Listing folders by `GetFileInformationByHandleEx` into the caller's buffer.

use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT, NtOpenFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_NO_MORE_FILES, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::file::{FilePath, close};
use super::{check, check_handle};

/// A folder opened for listing. Closed by [`Folder::close`] or, unchecked, when dropped.
pub struct Folder(OwnedHandle);

const ACCESS: u32 = fs::FILE_LIST_DIRECTORY | fs::SYNCHRONIZE;
const SHARED: u32 = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;

impl Folder {
    #[inline]
    pub fn open(path: &FilePath) -> io::Result<Folder> {
        let (how, flags) = (fs::OPEN_EXISTING, fs::FILE_FLAG_BACKUP_SEMANTICS);
        // SAFETY: the path is zero-terminated; the handle is owned by nobody else.
        unsafe {
            let path = path.pointer();
            let handle = fs::CreateFileW(path, ACCESS, SHARED, null(), how, flags, null_mut());
            Ok(Folder(OwnedHandle::from_raw_handle(check_handle(handle)?)))
        }
    }

    /// Opens a folder that lies in this one.
    #[inline]
    pub fn open_inner(&self, entry: &Entry<'_>) -> io::Result<Folder> {
        self.open_entry(entry, ACCESS, FILE_DIRECTORY_FILE).map(Folder)
    }

    /// One call: the next entries, none at the end.
    #[inline]
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Entries<'a>> {
        // Records begin at multiples of eight bytes.
        let start = buffer.as_ptr().align_offset(8).min(buffer.len());
        let buffer = &mut buffer[start..];
        let (handle, room) = (self.0.as_raw_handle(), buffer.len().min(u32::MAX as usize) as u32);
        // SAFETY: the buffer is valid for writing that many bytes.
        let done = unsafe {
            let (kind, buffer) = (fs::FileFullDirectoryInfo, buffer.as_mut_ptr().cast());
            fs::GetFileInformationByHandleEx(handle, kind, buffer, room)
        };
        if done == 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(code) if code == ERROR_NO_MORE_FILES as i32 => Ok(Entries(&[])),
                _ => Err(error),
            };
        }
        Ok(Entries(buffer))
    }

    /// Whether the entry itself is a folder. Windows has to be asked in three steps: the entry is
    /// opened for its attributes without following a link, asked, and closed.
    #[inline]
    pub fn is_folder(&self, entry: &Entry<'_>) -> io::Result<bool> {
        let access = fs::FILE_READ_ATTRIBUTES | fs::SYNCHRONIZE;
        let entry = self.open_entry(entry, access, FILE_OPEN_REPARSE_POINT)?;
        let mut about = fs::FILE_BASIC_INFO::default();
        let (handle, room) = (entry.as_raw_handle(), size_of::<fs::FILE_BASIC_INFO>() as u32);
        // SAFETY: the structure is that of this question, and has the size given.
        check(unsafe {
            let buffer = (&raw mut about).cast();
            fs::GetFileInformationByHandleEx(handle, fs::FileBasicInfo, buffer, room)
        })?;
        Ok(about.FileAttributes & fs::FILE_ATTRIBUTE_DIRECTORY != 0)
    }

    /// Opens an entry by its name in this open folder.
    #[inline]
    fn open_entry(&self, entry: &Entry<'_>, access: u32, how: u32) -> io::Result<OwnedHandle> {
        let bytes = entry.name.len() as u16;
        let name = UNICODE_STRING {
            Length: bytes,
            MaximumLength: bytes,
            // Records begin at eight bytes and their names at an even number of them.
            Buffer: entry.name.as_ptr().cast_mut().cast(),
        };
        let attributes = OBJECT_ATTRIBUTES {
            Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
            RootDirectory: self.0.as_raw_handle(),
            ObjectName: &raw const name,
            Attributes: OBJ_CASE_INSENSITIVE,
            ..Default::default()
        };
        let (mut handle, mut about) = (null_mut(), IO_STATUS_BLOCK::default());
        let how = how | FILE_SYNCHRONOUS_IO_NONALERT;
        // SAFETY: all that is pointed to lives through the call; on success the handle is owned by
        // nobody else. The conversion of its status takes no pointer.
        unsafe {
            match NtOpenFile(&mut handle, access, &attributes, &mut about, SHARED, how) {
                0.. => Ok(OwnedHandle::from_raw_handle(handle)),
                status => {
                    let code = RtlNtStatusToDosError(status);
                    Err(io::Error::from_raw_os_error(code as i32))
                }
            }
        }
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        close(self.0.into_raw_handle())
    }
}

/// The result of one call: all entries but the folder itself and its parent.
pub struct Entries<'a>(&'a [u8]);

/// One entry of a folder.
pub struct Entry<'a> {
    /// In UTF-16.
    name: &'a [u8],
    /// Always known: the listing tells.
    pub is_folder: Option<bool>,
}

/// Offsets in a record of `FILE_FULL_DIR_INFO`: its attributes, its name's bytes, and its name.
const ATTRIBUTES: usize = 56;
const NAME_BYTES: usize = 60;
const NAME: usize = 68;

impl<'a> Entries<'a> {
    /// Bytes that the system filled; zero at the end of the folder.
    pub fn bytes(&self) -> usize {
        let mut at = 0;
        loop {
            let Some(next) = number(self.0, at) else { return 0 };
            match next {
                0 => return at + NAME + number(self.0, at + NAME_BYTES).unwrap_or(0) as usize,
                next => at += next as usize,
            }
        }
    }
}

#[inline]
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let record = self.0;
            let length = number(record, NAME_BYTES)? as usize;
            let name = record.get(NAME..NAME + length)?;
            let attributes = number(record, ATTRIBUTES)?;
            self.0 = match number(record, 0)? as usize {
                0 => &[],
                next => record.get(next..)?,
            };
            if matches!(name, b".\0" | b".\0.\0") {
                continue;
            }
            let is_folder = Some(attributes & fs::FILE_ATTRIBUTE_DIRECTORY != 0);
            return Some(Entry { name, is_folder });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_folder_is_listed_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inner")).unwrap();
        std::fs::write(dir.path().join("inner").join("deep"), b"").unwrap();
        for i in 0..50 {
            std::fs::write(dir.path().join(format!("file{i}")), b"").unwrap();
        }
        let folder = Folder::open(&FilePath::new(dir.path()).unwrap()).unwrap();
        let (mut buffer, mut inner) = (vec![0; 1000], vec![0; 1000]);
        let (mut files, mut folders, mut bytes) = (0, 0, 0);
        loop {
            let entries = folder.read(&mut buffer).unwrap();
            if entries.bytes() == 0 {
                break;
            }
            bytes += entries.bytes();
            for entry in entries {
                assert_eq!(entry.is_folder, Some(folder.is_folder(&entry).unwrap()));
                if entry.is_folder == Some(true) {
                    folders += 1;
                    let below = folder.open_inner(&entry).unwrap();
                    assert_eq!(below.read(&mut inner).unwrap().count(), 1);
                    below.close().unwrap();
                } else {
                    files += 1;
                }
            }
        }
        assert_eq!((files, folders), (50, 1));
        assert!(bytes > 51 * NAME);
        folder.close().unwrap();
    }
}
