//! Many threads that live at the same time and do nothing, over the thread calls of a system.
//!
//! Each thread sleeps on a word of its own until the word says that the thread is to end.

use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::held::{Footprint, Held};

/// The states of a thread, in its word.
const STARTING: u32 = 0;
const WAITING: u32 = 1;
const ENDING: u32 = 2;

/// Time within which all threads have to run once the last was created.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The calls of one system on threads.
pub trait ThreadCalls: Sized {
    type Thread;

    /// Starts a thread that calls [`wait_for_the_end`] with this word.
    ///
    /// # Safety
    /// The word stays valid until the thread was joined.
    unsafe fn start(word: *mut c_void) -> io::Result<Self::Thread>;
    /// Sleeps while the word has that value. May return early.
    fn sleep_while(word: &AtomicU32, value: u32);
    /// Wakes the thread that sleeps on the word.
    fn wake(word: &AtomicU32) -> io::Result<()>;
    /// Waits for the end of a thread that was not joined before.
    fn join(thread: &Self::Thread) -> io::Result<()>;
    /// The memory that can be seen now. Allocates nothing.
    fn footprint(&mut self) -> Footprint;
}

/// Threads that wait until their words tell them to end.
pub struct HeldThreads<C: ThreadCalls> {
    threads: Vec<C::Thread>,
    /// One for each thread; the vector grows only while there is no thread.
    words: Vec<AtomicU32>,
    calls: C,
}

impl<C: ThreadCalls> HeldThreads<C> {
    /// Nothing is held yet.
    pub fn new(calls: C) -> HeldThreads<C> {
        HeldThreads { threads: Vec::new(), words: Vec::new(), calls }
    }
}

/// The work of a held thread.
///
/// # Safety
/// `word` is the pointer that [`ThreadCalls::start`] was given.
pub unsafe fn wait_for_the_end<C: ThreadCalls>(word: *mut c_void) {
    // SAFETY: the word is one of `words`, and lives until this thread was joined.
    let word = unsafe { &*word.cast::<AtomicU32>() };
    // The thread may have been told to end before it ran: that must not be overwritten.
    let _ = word.compare_exchange(STARTING, WAITING, Ordering::AcqRel, Ordering::Acquire);
    while word.load(Ordering::Acquire) == WAITING {
        C::sleep_while(word, WAITING);
    }
}

impl<C: ThreadCalls> Held for HeldThreads<C> {
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
            return Err(io::Error::other("no room was reserved for another thread"));
        };
        word.store(STARTING, Ordering::Release);
        // SAFETY: the word stays where it is until the thread was joined.
        let thread = unsafe { C::start(word.as_ptr().cast()) }?;
        self.threads.push(thread);
        Ok(())
    }

    fn all_wait(&mut self) -> io::Result<()> {
        let start = Instant::now();
        for word in &self.words[..self.threads.len()] {
            while word.load(Ordering::Acquire) == STARTING {
                if start.elapsed() > START_LIMIT {
                    let seconds = START_LIMIT.as_secs();
                    let text = format!("not all threads ran within {seconds} s");
                    return Err(io::Error::other(text));
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
            C::wake(word)?;
        }
        while self.threads.len() > count
            && let Some(thread) = self.threads.last()
        {
            C::join(thread)?;
            self.threads.pop();
        }
        Ok(())
    }

    fn footprint(&mut self) -> Footprint {
        self.calls.footprint()
    }
}

impl<C: ThreadCalls> Drop for HeldThreads<C> {
    fn drop(&mut self) {
        if self.keep(0).is_err() {
            // A thread that could not be joined may still read its word.
            std::mem::forget(std::mem::take(&mut self.words));
        }
    }
}
