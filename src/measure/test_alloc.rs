//! Counts allocations of the current thread, in unit tests only: the rule that nothing allocates
//! while it is timed is worth as much as the test that would notice.

use std::alloc::System;
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: crate::sys::CountingAllocator = crate::sys::CountingAllocator::new(System, count);

fn count() {
    // A thread that is being torn down has no counter any more, and nothing that is timed.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

/// Allocations made by this thread during `work`.
pub fn allocations_during(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}
