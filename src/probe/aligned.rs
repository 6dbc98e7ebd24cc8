//! Buffers that begin at the start of a page, whatever the allocator does.

use std::ops::{Deref, DerefMut};

use crate::sys;

/// Memory that begins where a page does: direct access requires it, and a copy to an address in the
/// middle of a page costs up to a fifth more.
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Aligned {
    /// All zeros.
    pub fn new(bytes: usize) -> Aligned {
        let page = sys::page_size();
        // Written, so that no page has to be brought in while something is timed.
        let memory = vec![1; bytes + page];
        let mut aligned = Aligned { start: memory.as_ptr().align_offset(page), memory, bytes };
        aligned.fill(0);
        aligned
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Aligned {
        let mut aligned = Aligned::new(bytes.len());
        aligned.copy_from_slice(bytes);
        aligned
    }
}

impl Deref for Aligned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.bytes]
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}
