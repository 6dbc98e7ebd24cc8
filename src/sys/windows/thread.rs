//! Threads that end at once.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{CreateThread, INFINITE, WaitForSingleObject};

use super::check_handle;

/// A started thread that nobody has waited for yet.
pub struct Thread(OwnedHandle);

extern "system" fn end_at_once(_: *mut c_void) -> u32 {
    0
}

/// `CreateThread` with default attributes; the thread returns at once.
#[inline]
pub fn start_thread() -> io::Result<Thread> {
    // SAFETY: the function touches nothing; the handle is owned by nobody else.
    unsafe {
        let handle = CreateThread(null(), 0, Some(end_at_once), null(), 0, null_mut());
        Ok(Thread(OwnedHandle::from_raw_handle(check_handle(handle)?)))
    }
}

impl Thread {
    /// Waits until the thread has ended, and closes its handle.
    #[inline]
    pub fn join(self) -> io::Result<()> {
        // SAFETY: the handle is open until the end of this function.
        match unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) } {
            WAIT_OBJECT_0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
