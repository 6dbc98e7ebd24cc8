//! The thread calls behind `thread.hold`: POSIX threads that sleep on a futex.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU32;

use super::super::shared::held::{Footprint, Held};
use super::super::shared::hold_threads::{HeldThreads, ThreadCalls, wait_for_the_end};
use super::footprint::ProcReader;
use super::raw;

/// Most memory that one held thread takes, in bytes: three times what was measured.
pub const HELD_THREAD_BYTES: u64 = 100 << 10;

/// Holds no thread yet.
pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    Ok(Box::new(HeldThreads::new(Calls { reader: ProcReader::new() })))
}

struct Calls {
    reader: ProcReader,
}

extern "C" fn entry(word: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passed on the pointer that it was given.
    unsafe { wait_for_the_end::<Calls>(word) };
    null_mut()
}

impl ThreadCalls for Calls {
    type Thread = libc::pthread_t;

    #[inline]
    unsafe fn start(word: *mut c_void) -> io::Result<libc::pthread_t> {
        let mut thread = MaybeUninit::uninit();
        // SAFETY: the handle is written before it is read; the caller keeps the word in place until
        // the thread was joined.
        match unsafe { libc::pthread_create(thread.as_mut_ptr(), null(), entry, word) } {
            // SAFETY: success means that the handle was written.
            0 => Ok(unsafe { thread.assume_init() }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    fn sleep_while(word: &AtomicU32, value: u32) {
        let wait = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        let arguments = [word.as_ptr() as usize, wait as usize, value as usize, 0];
        // SAFETY: the word is valid; the fourth argument means no time limit. An error means that
        // the word has changed or a signal came, and returning early is allowed.
        let _ = unsafe { raw::call(libc::SYS_futex, arguments) };
    }

    fn wake(word: &AtomicU32) -> io::Result<()> {
        let wake = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        let arguments = [word.as_ptr() as usize, wake as usize, 1, 0];
        // SAFETY: the word is valid.
        unsafe { raw::call(libc::SYS_futex, arguments) }.map(drop)
    }

    fn join(thread: &libc::pthread_t) -> io::Result<()> {
        // SAFETY: the handle came from pthread_create and was not joined yet.
        match unsafe { libc::pthread_join(*thread, null_mut()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    fn footprint(&mut self) -> Footprint {
        let (pss, tables) = self.reader.process(std::process::id() as libc::pid_t);
        let (kernel, available, used) = self.reader.system();
        Footprint { pss, tables, kernel, available, used, ..Footprint::default() }
    }
}
