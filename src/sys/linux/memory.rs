//! Anonymous memory, touched page by page.

use std::io;
use std::ptr::{null_mut, write_volatile};

/// Bytes of one page.
pub fn page_size() -> usize {
    // SAFETY: a constant of the system is read.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Anonymous private memory of base pages that nothing has touched yet. Unmapped when dropped.
pub struct Region {
    start: *mut u8,
    bytes: usize,
}

impl Region {
    /// Maps `bytes`, asking the system to keep huge pages out of it: a fault that brings in 2 MiB
    /// is another operation than one that brings in a page.
    pub fn map(bytes: usize) -> io::Result<Region> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the range was mapped above. Refusal (no such advice in a small kernel) means
        // there are no huge pages to keep out.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Region { start: start.cast(), bytes })
    }

    /// Writes one byte at the start of every stretch of `step` bytes; says how many.
    #[inline]
    pub fn touch(&mut self, step: usize) -> u64 {
        let mut touched = 0;
        for offset in (0..self.bytes).step_by(step) {
            // SAFETY: the offset is inside the mapping, which is ours until the drop.
            unsafe { write_volatile(self.start.add(offset), 1) };
            touched += 1;
        }
        touched
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: exactly the range mapped in `map`, to which no reference is ever given out.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_touched_once() {
        let mut region = Region::map(10 * page_size()).unwrap();
        assert_eq!(region.touch(page_size()), 10);
    }
}
