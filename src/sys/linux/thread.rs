//! Threads that end at once.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// A started thread that nobody has joined yet.
pub struct Thread(libc::pthread_t);

extern "C" fn end_at_once(_: *mut c_void) -> *mut c_void {
    null_mut()
}

/// `pthread_create` with default attributes; the thread returns at once.
#[inline]
pub fn start_thread() -> io::Result<Thread> {
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the handle is written before it is read, and the function touches nothing.
    match unsafe { libc::pthread_create(thread.as_mut_ptr(), null(), end_at_once, null_mut()) } {
        // SAFETY: success means that the handle was written.
        0 => Ok(Thread(unsafe { thread.assume_init() })),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

impl Thread {
    /// Waits until the thread has ended and its stack is given back.
    #[inline]
    pub fn join(self) -> io::Result<()> {
        // SAFETY: the handle came from pthread_create and is joined once, as `self` is consumed.
        match unsafe { libc::pthread_join(self.0, null_mut()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
