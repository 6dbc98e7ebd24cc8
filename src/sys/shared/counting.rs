//! An allocator that calls a function before each allocation; unit tests count with it.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator with a call before each allocation.
pub struct CountingAllocator {
    inner: System,
    count: fn(),
}

impl CountingAllocator {
    pub const fn new(inner: System, count: fn()) -> CountingAllocator {
        CountingAllocator { inner, count }
    }
}

// SAFETY: every call is passed on unchanged to an allocator that fulfils the contract.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        (self.count)();
        // SAFETY: the caller's promise is passed on.
        unsafe { self.inner.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.inner.dealloc(pointer, layout) }
    }
}
