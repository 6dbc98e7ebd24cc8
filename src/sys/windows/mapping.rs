//! Files mapped into memory.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, read_volatile};

use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile, PAGE_READONLY,
    UnmapViewOfFile,
};

use super::{check, check_handle};

/// A whole file mapped for reading and shared. Unmapped by [`MappedFile::unmap`] or, unchecked,
/// when dropped.
pub struct MappedFile {
    view: MEMORY_MAPPED_VIEW_ADDRESS,
    bytes: usize,
}

impl MappedFile {
    /// Maps all of the file, which must not be empty.
    pub fn map(file: &File) -> io::Result<MappedFile> {
        let bytes = file.metadata()?.len() as usize;
        if bytes == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the file's handle is borrowed through the call; the section has no name, and its
        // handle is owned by nobody else. The view holds the section after the handle is closed.
        let view = unsafe {
            let section =
                CreateFileMappingW(file.as_raw_handle(), null(), PAGE_READONLY, 0, 0, null());
            let section = OwnedHandle::from_raw_handle(check_handle(section)?);
            MapViewOfFile(section.as_raw_handle(), FILE_MAP_READ, 0, 0, 0)
        };
        if view.Value.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(MappedFile { view, bytes })
    }

    /// Reads one byte at each of the offsets; says how many.
    #[inline]
    pub fn touch(&self, offsets: &[usize]) -> u64 {
        for offset in offsets {
            assert!(*offset < self.bytes, "beyond the mapping");
            // SAFETY: the byte is inside the view, which is ours until the drop.
            unsafe { read_volatile(self.view.Value.cast::<u8>().add(*offset)) };
        }
        offsets.len() as u64
    }

    #[inline]
    pub fn unmap(self) -> io::Result<()> {
        let view = self.view;
        std::mem::forget(self);
        // SAFETY: exactly the view made in `map`, to which no reference is ever given out.
        check(unsafe { UnmapViewOfFile(view) })
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: as in `unmap`, which forgets the value.
        unsafe { UnmapViewOfFile(self.view) };
    }
}
