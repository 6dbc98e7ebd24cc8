//! Memory of base pages that belongs to no file.

use std::io;
use std::ptr::{NonNull, null, write_volatile};

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

use super::check;

/// Bytes of one page, on every processor that Windows runs on.
pub fn page_size() -> usize {
    4096
}

/// Memory that nothing has touched yet. Given back when dropped.
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

impl Region {
    /// Reserves and commits `bytes`. Windows makes no huge pages unless it is asked to.
    #[inline]
    pub fn map(bytes: usize) -> io::Result<Region> {
        // SAFETY: new memory at a place the system chooses touches nothing of ours.
        let start =
            unsafe { VirtualAlloc(null(), bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE) };
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Region { start, bytes }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// Writes one byte at the start of every stretch of `step` bytes; returns how many.
    #[inline]
    pub fn touch(&mut self, step: usize) -> u64 {
        let mut touched = 0;
        for offset in (0..self.bytes).step_by(step) {
            // SAFETY: the offset is inside the memory, which is ours until the drop.
            unsafe { write_volatile(self.start.as_ptr().add(offset), 1) };
            touched += 1;
        }
        touched
    }

    /// The whole region as words of eight bytes; zeroes where nothing was written yet.
    #[inline]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the memory begins at a page, is readable and writable up to its length, and any
        // bytes are a number; the borrow keeps it and keeps others from using it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes / 8) }
    }

    #[inline]
    fn release(&self) -> io::Result<()> {
        // SAFETY: memory that was made in `map`, of which no reference is left.
        check(unsafe { VirtualFree(self.start.as_ptr().cast(), 0, MEM_RELEASE) })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

/// A place for memory that is allocated and freed again and again: anywhere, because neighbours
/// share nothing on Windows.
pub struct MapPlace {
    bytes: usize,
}

impl MapPlace {
    pub fn find(bytes: usize) -> io::Result<MapPlace> {
        Ok(MapPlace { bytes })
    }

    /// One `VirtualAlloc` that reserves and commits, and one `VirtualFree`.
    #[inline]
    pub fn map_and_unmap(&self) -> io::Result<()> {
        let region = Region::map(self.bytes)?;
        let result = region.release();
        std::mem::forget(region);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back() {
        let place = MapPlace::find(64 << 10).unwrap();
        for _ in 0..1000 {
            place.map_and_unmap().unwrap();
        }
    }
}
