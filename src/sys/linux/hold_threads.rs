//! Many threads that live at the same time and do nothing.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::footprint::ProcReader;
use super::raw;
use crate::sys::{Footprint, Held};

/// What one takes at most: about a third of this where it was measured.
pub const HELD_THREAD_BYTES: u64 = 100 << 10;

/// States of a thread, in a word of its own on which it waits.
const STARTING: u32 = 0;
const WAITING: u32 = 1;
const ENDING: u32 = 2;

/// So long may threads take to come up once the last was created.
const PATIENCE: Duration = Duration::from_secs(30);

/// Threads that wait until their word says otherwise.
struct HeldThreads {
    threads: Vec<libc::pthread_t>,
    /// One for each thread; the vector grows only while there is none.
    words: Vec<AtomicU32>,
    reader: ProcReader,
}

/// Nothing held yet.
pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    let reader = ProcReader::new();
    Ok(Box::new(HeldThreads { threads: Vec::new(), words: Vec::new(), reader }))
}

extern "C" fn wait_for_the_end(word: *mut c_void) -> *mut c_void {
    // SAFETY: the word lives until this thread was joined.
    let word = unsafe { &*word.cast::<AtomicU32>() };
    // A thread that is to end before it came up must not overwrite that.
    let _ = word.compare_exchange(STARTING, WAITING, Ordering::AcqRel, Ordering::Acquire);
    while word.load(Ordering::Acquire) == WAITING {
        let wait = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        let arguments = [word.as_ptr() as usize, wait as usize, WAITING as usize, 0];
        // SAFETY: the word is valid; the fourth argument is no limit. Errors mean that the word
        // has changed or a signal came: the loop looks again.
        let _ = unsafe { raw::call(libc::SYS_futex, arguments) };
    }
    null_mut()
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
        let mut thread = MaybeUninit::uninit();
        // SAFETY: the handle is written before it is read; the word stays where it is until the
        // thread was joined.
        match unsafe { libc::pthread_create(thread.as_mut_ptr(), null(), wait_for_the_end, word) } {
            0 => {
                // SAFETY: success means that the handle was written.
                self.threads.push(unsafe { thread.assume_init() });
                Ok(())
            }
            error => Err(io::Error::from_raw_os_error(error)),
        }
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
            let wake = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: wakes whoever waits on a word that is ours.
            unsafe { raw::call(libc::SYS_futex, [word.as_ptr() as usize, wake as usize, 1, 0]) }?;
        }
        while self.threads.len() > count
            && let Some(thread) = self.threads.pop()
        {
            // SAFETY: the handle came from pthread_create and is joined once.
            match unsafe { libc::pthread_join(thread, null_mut()) } {
                0 => {}
                error => return Err(io::Error::from_raw_os_error(error)),
            }
        }
        Ok(())
    }

    fn footprint(&mut self) -> Footprint {
        let (pss, tables) = self.reader.process(std::process::id() as libc::pid_t);
        let (kernel, available, used) = self.reader.system();
        Footprint { pss, tables, kernel, available, used }
    }
}

impl Drop for HeldThreads {
    fn drop(&mut self) {
        let kept = self.keep(0);
        if kept.is_err() {
            // A thread that could not be joined may still look at its word.
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
        (0..20).for_each(|_| held.add().unwrap());
        held.all_wait().unwrap();
        held.footprint();
        held.keep(5).unwrap();
        (0..15).for_each(|_| held.add().unwrap());
        assert!(held.add().is_err(), "no more than room was made for");
        held.keep(0).unwrap();
    }
}
