//! Many threads that live at the same time and do nothing.

use std::ffi::c_void;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    CreateThread, GetCurrentProcess, INFINITE, WaitForSingleObject, WaitOnAddress, WakeByAddressAll,
};

use super::check_handle;
use super::limits::performance;
use crate::sys::{Footprint, Held};

/// What one takes at most, with a reserve. Wine 8 touches all of its stack: 975 KiB.
pub const HELD_THREAD_BYTES: u64 = 3 << 19;

/// States of a thread, in a word of its own on which it waits.
const STARTING: u32 = 0;
const WAITING: u32 = 1;
const ENDING: u32 = 2;

/// So long may threads take to come up once the last was created.
const PATIENCE: Duration = Duration::from_secs(30);

/// Threads that wait until their word says otherwise.
struct HeldThreads {
    threads: Vec<OwnedHandle>,
    /// One for each thread; the vector grows only while there is none.
    words: Vec<AtomicU32>,
}

/// Nothing held yet.
pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    Ok(Box::new(HeldThreads { threads: Vec::new(), words: Vec::new() }))
}

extern "system" fn wait_for_the_end(word: *mut c_void) -> u32 {
    // SAFETY: the word lives until this thread was waited for.
    let word = unsafe { &*word.cast::<AtomicU32>() };
    // A thread that is to end before it came up must not overwrite that.
    let _ = word.compare_exchange(STARTING, WAITING, Ordering::AcqRel, Ordering::Acquire);
    while word.load(Ordering::Acquire) == WAITING {
        let waits: *const u32 = &WAITING;
        // SAFETY: the word and what it is held against are valid, and of the size given. Returning
        // early is allowed: the loop looks again.
        unsafe { WaitOnAddress(word.as_ptr().cast(), waits.cast(), size_of::<u32>(), INFINITE) };
    }
    0
}

impl Held for HeldThreads {
    fn make_room(&mut self, most: usize) -> io::Result<()> {
        if most > self.words.len() {
            self.keep(0)?;
            self.threads.reserve(most);
            self.words.resize_with(most, || AtomicU32::new(STARTING));
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self) -> io::Result<()> {
        let Some(word) = self.words.get(self.threads.len()) else {
            return Err(io::Error::other("no room was made for so many threads"));
        };
        word.store(STARTING, Ordering::Release);
        let word = word.as_ptr().cast();
        // SAFETY: the word stays where it is until the thread was waited for; the handle is owned
        // by nobody else.
        let thread = unsafe {
            let handle = CreateThread(null(), 0, Some(wait_for_the_end), word, 0, null_mut());
            OwnedHandle::from_raw_handle(check_handle(handle)?)
        };
        self.threads.push(thread);
        Ok(())
    }

    fn all_wait(&mut self) -> io::Result<()> {
        let start = Instant::now();
        for word in &self.words[..self.threads.len()] {
            while word.load(Ordering::Acquire) == STARTING {
                if start.elapsed() > PATIENCE {
                    return Err(io::Error::other("not all threads came up"));
                }
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        Ok(())
    }

    fn keep(&mut self, count: usize) -> io::Result<()> {
        let count = count.min(self.threads.len());
        for word in &self.words[count..self.threads.len()] {
            word.store(ENDING, Ordering::Release);
            // SAFETY: wakes whoever waits on a word that is ours.
            unsafe { WakeByAddressAll(word.as_ptr().cast()) };
        }
        while self.threads.len() > count
            && let Some(thread) = self.threads.last()
        {
            // SAFETY: the handle is open.
            if unsafe { WaitForSingleObject(thread.as_raw_handle(), INFINITE) } != WAIT_OBJECT_0 {
                return Err(io::Error::last_os_error());
            }
            self.threads.pop();
        }
        Ok(())
    }

    /// All that a thread adds to the working set is this process's own, so that it is as good as
    /// the proportional set size.
    fn footprint(&mut self) -> Footprint {
        let bytes = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
        // SAFETY: the structure has the size given, and all zeroes is a valid one.
        let own = unsafe {
            let mut own: PROCESS_MEMORY_COUNTERS = zeroed();
            let known = K32GetProcessMemoryInfo(GetCurrentProcess(), &mut own, bytes) != 0;
            known.then_some(own.WorkingSetSize as u64)
        };
        let all = performance();
        let available = all.map(|all| (all.PhysicalAvailable * all.PageSize) as u64);
        let total = all.map(|all| (all.PhysicalTotal * all.PageSize) as u64);
        let used = total.zip(available).map(|(total, free)| total.saturating_sub(free));
        Footprint { pss: own, tables: None, kernel: None, available, used }
    }
}

impl Drop for HeldThreads {
    fn drop(&mut self) {
        if self.keep(0).is_err() {
            // A thread that could not be waited for may still look at its word.
            std::mem::forget(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_wait_as_were_added_and_end_when_told() {
        let mut held = hold_threads().unwrap();
        assert!(held.add().is_err(), "room first");
        held.make_room(20).unwrap();
        let before = held.footprint();
        (0..20).for_each(|_| held.add().unwrap());
        held.all_wait().unwrap();
        let with = held.footprint();
        assert!(with.pss > before.pss && with.available.is_some(), "{before:?} {with:?}");
        held.keep(5).unwrap();
        (0..15).for_each(|_| held.add().unwrap());
        assert!(held.add().is_err(), "no more than room was made for");
        held.keep(0).unwrap();
    }
}
