//! The thread calls behind `thread.hold`: threads that sleep in `WaitOnAddress`.

use std::ffi::c_void;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU32;

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    CreateThread, GetCurrentProcess, INFINITE, WaitForSingleObject, WaitOnAddress, WakeByAddressAll,
};

use super::super::shared::held::{Footprint, Held};
use super::super::shared::hold_threads::{HeldThreads, ThreadCalls, wait_for_the_end};
use super::check_handle;
use super::limits::performance;

/// Most memory that one held thread takes, in bytes. Wine 8 touches all of a thread's stack, which
/// takes 975 KiB; the rest is a reserve.
pub const HELD_THREAD_BYTES: u64 = 3 << 19;

/// Holds no thread yet.
pub fn hold_threads() -> io::Result<Box<dyn Held>> {
    Ok(Box::new(HeldThreads::new(Calls)))
}

struct Calls;

extern "system" fn entry(word: *mut c_void) -> u32 {
    // SAFETY: `start` passed on the pointer that it was given.
    unsafe { wait_for_the_end::<Calls>(word) };
    0
}

impl ThreadCalls for Calls {
    type Thread = OwnedHandle;

    #[inline]
    unsafe fn start(word: *mut c_void) -> io::Result<OwnedHandle> {
        // SAFETY: the caller keeps the word in place until the thread was joined; the handle is
        // owned by nobody else.
        unsafe {
            let handle = CreateThread(null(), 0, Some(entry), word, 0, null_mut());
            Ok(OwnedHandle::from_raw_handle(check_handle(handle)?))
        }
    }

    fn sleep_while(word: &AtomicU32, value: u32) {
        let asleep = (&raw const value).cast();
        // SAFETY: the word and the value that it is compared with are valid, and of the size given.
        unsafe { WaitOnAddress(word.as_ptr().cast(), asleep, size_of::<u32>(), INFINITE) };
    }

    fn wake(word: &AtomicU32) -> io::Result<()> {
        // SAFETY: the address is only compared with those that threads sleep on.
        unsafe { WakeByAddressAll(word.as_ptr().cast()) };
        Ok(())
    }

    fn join(thread: &OwnedHandle) -> io::Result<()> {
        // SAFETY: the handle is open.
        match unsafe { WaitForSingleObject(thread.as_raw_handle(), INFINITE) } {
            WAIT_OBJECT_0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// All that a thread adds to the working set is this process's own, so the working set serves
    /// as the proportional set size.
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
        Footprint { pss: own, available, used, ..Footprint::default() }
    }
}
