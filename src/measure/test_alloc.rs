//! Counts allocations of the current thread, in unit tests only: tests check with it that nothing
//! is allocated while something is timed.

use std::alloc::System;
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: crate::sys::CountingAllocator = crate::sys::CountingAllocator::new(System, count);

fn count() {
    // A thread that is ending has no counter any more, and times nothing.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

/// Allocations made by this thread during `work`.
pub fn allocations_during(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}
