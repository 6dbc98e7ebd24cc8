//! Memory that forked processes share, and waiting until a word in it changes.

use std::io;
use std::mem::size_of;
use std::ops::Deref;
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use super::raw;

/// Types that may lie in shared memory: they consist of atomic numbers, and all zeroes is a valid
/// value.
///
/// # Safety
///
/// Other processes write to a value of the type while this one reads it, and memory filled with
/// zeroes is read as one.
pub(super) unsafe trait Atomics: Sync {}

/// A value, zero at first, that this process shares with all processes that it forks from here on.
/// Unmapped when dropped, in the process that drops it.
pub(super) struct Shared<T: Atomics>(NonNull<T>);

impl<T: Atomics> Shared<T> {
    pub(super) fn new() -> io::Result<Shared<T>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
        let start = unsafe { libc::mmap(null_mut(), size_of::<T>(), access, flags, -1, 0) };
        match NonNull::new(start.cast()).filter(|_| start != libc::MAP_FAILED) {
            Some(start) => Ok(Shared(start)),
            None => Err(io::Error::last_os_error()),
        }
    }
}

impl<T: Atomics> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mapping has the size of a T, begins at a page and was made of zeroes, which
        // is a valid T; others change it through atomics only.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Atomics> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: exactly the range mapped in `new`; references to it ended before this.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<T>()) };
    }
}

/// A number that processes can wait on. Unlike a pipe, it is not kept open by copied descriptors.
#[derive(Default)]
#[repr(transparent)]
pub(super) struct Word(AtomicU32);

impl Word {
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Changes the number without waking those who wait.
    pub(super) fn reset(&self, value: u32) {
        self.0.store(value, Ordering::Release);
    }

    /// Changes the number and wakes all who wait, with one call.
    pub(super) fn announce(&self, value: u32) {
        self.reset(value);
        let wake = [self.address(), libc::FUTEX_WAKE as usize, i32::MAX as usize, 0];
        // SAFETY: the word lives through the call, which only looks up its address.
        let _ = unsafe { raw::call(libc::SYS_futex, wake) };
    }

    /// Sleeps until the number is no longer `value` or, with a limit, until that many seconds went
    /// by or something else woke this process. Returns whether the number has changed.
    pub(super) fn wait_while(&self, value: u32, limit_s: Option<i64>) -> bool {
        let limit = limit_s.map(|tv_sec| libc::timespec { tv_sec, tv_nsec: 0 });
        let limit = limit.as_ref().map_or(null(), |limit| limit as *const libc::timespec);
        let wait = [self.address(), libc::FUTEX_WAIT as usize, value as usize, limit as usize];
        while self.get() == value {
            // SAFETY: the word and the limit live through the call.
            let woken = unsafe { raw::call(libc::SYS_futex, wait) };
            let timed_out = woken.is_err_and(|e| e.raw_os_error() == Some(libc::ETIMEDOUT));
            if timed_out {
                return self.get() != value;
            }
        }
        true
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}
