//! Anonymous memory of base pages.

use std::io;
use std::ptr::{null_mut, write_volatile};

use super::check;

/// Bytes of one page.
pub fn page_size() -> usize {
    // SAFETY: a constant of the system is read.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Anonymous private memory of base pages that nothing has touched yet. Unmapped when dropped.
pub struct Region(Mapping);

impl Region {
    /// Maps `bytes` and asks the system not to use huge pages for them: a fault that brings in 2
    /// MiB is another operation than a fault that brings in a page.
    pub fn map(bytes: usize) -> io::Result<Region> {
        let mapping = Mapping::make(bytes, libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the range was mapped above. Refusal (no such advice in a small kernel) means
        // there are no huge pages to keep out.
        unsafe { libc::madvise(mapping.start, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Region(mapping))
    }

    /// Writes one byte at the start of every stretch of `step` bytes; returns how many.
    #[inline]
    pub fn touch(&mut self, step: usize) -> u64 {
        let mut touched = 0;
        for offset in (0..self.0.bytes).step_by(step) {
            // SAFETY: the offset is inside the mapping, which is ours until the drop.
            unsafe { write_volatile(self.0.start.cast::<u8>().add(offset), 1) };
            touched += 1;
        }
        touched
    }

    /// The whole region as words of eight bytes; zeroes where nothing was written yet.
    #[inline]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping begins at a page, is readable and writable up to its length, and any
        // bytes are a number; the borrow keeps it mapped and keeps others from using it.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.cast(), self.0.bytes / 8) }
    }
}

/// A place for mappings that are made and removed again and again: a hole between two guards, which
/// a mapping fills.
///
/// The kernel takes the highest hole that is large enough. Elsewhere a mapping would join
/// neighbours of its kind, and would make and remove nodes of the tree in which the kernel keeps
/// mappings, depending on how many others there are. The cost would vary by half between programs
/// on one kernel.
pub struct MapPlace {
    bytes: usize,
    _guards: [Mapping; 2],
}

impl MapPlace {
    /// A place for mappings of `bytes`.
    pub fn find(bytes: usize) -> io::Result<MapPlace> {
        let page = page_size();
        let hole = bytes.next_multiple_of(page);
        let whole = Mapping::make(hole + 2 * page, libc::PROT_NONE)?;
        let (below, rest) = whole.split_at(page);
        let (hole, above) = rest.split_at(hole);
        hole.remove()?;
        Ok(MapPlace { bytes, _guards: [below, above] })
    }

    /// Maps anonymous private memory for reading and writing, and unmaps it untouched.
    #[inline]
    pub fn map_and_unmap(&self) -> io::Result<()> {
        Mapping::make(self.bytes, libc::PROT_READ | libc::PROT_WRITE)?.remove()
    }
}

/// Anonymous private memory. Unmapped by [`Mapping::remove`] or, unchecked, when dropped.
struct Mapping {
    start: *mut libc::c_void,
    bytes: usize,
}

impl Mapping {
    #[inline]
    fn make(bytes: usize, access: libc::c_int) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
        match start {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            start => Ok(Mapping { start, bytes }),
        }
    }

    /// Splits it into two, the lower one with `bytes` bytes, which are whole pages.
    fn split_at(self, bytes: usize) -> (Mapping, Mapping) {
        let upper =
            Mapping { start: self.start.wrapping_byte_add(bytes), bytes: self.bytes - bytes };
        let lower = Mapping { start: self.start, bytes };
        std::mem::forget(self);
        (lower, upper)
    }

    #[inline]
    fn remove(self) -> io::Result<()> {
        let result = self.unmap();
        std::mem::forget(self);
        result
    }

    #[inline]
    fn unmap(&self) -> io::Result<()> {
        // SAFETY: a range that was mapped in `make`, of which no reference is ever given out.
        check(unsafe { libc::munmap(self.start, self.bytes) }.into()).map(drop)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let _ = self.unmap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_mapped_is_gone_again() {
        let bytes = 64 << 10;
        let place = MapPlace::find(bytes).unwrap();
        // More mappings than a process may have (vm.max_map_count is 65530).
        for _ in 0..70_000 {
            place.map_and_unmap().unwrap();
        }
        let (lower, upper) = Mapping::make(bytes, libc::PROT_NONE).unwrap().split_at(bytes / 2);
        assert_eq!(lower.start.wrapping_byte_add(bytes / 2), upper.start);
        lower.remove().unwrap();
        upper.remove().unwrap();
    }
}
