//! Sleeping until a time of the clock.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, INFINITE, SetWaitableTimer,
    TIMER_ALL_ACCESS, WaitForSingleObject,
};

use super::{check, check_handle, now_ns};

/// A timer with the best resolution that the system has: below a millisecond since Windows 10 1803,
/// the tick of its scheduler (15.6 ms) before.
pub(super) struct DueTimer(OwnedHandle);

impl DueTimer {
    pub(super) fn new() -> io::Result<DueTimer> {
        // SAFETY: a timer without name and attributes; its handle is owned by nobody else.
        let make = |flags| unsafe {
            let timer = CreateWaitableTimerExW(null(), null(), flags, TIMER_ALL_ACCESS);
            Ok(DueTimer(OwnedHandle::from_raw_handle(check_handle(timer)?)))
        };
        make(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION).or_else(|_: io::Error| make(0))
    }

    /// Returns at once when that time has passed.
    #[inline]
    pub(super) fn sleep_until(&self, ns: u64) -> io::Result<()> {
        loop {
            let left = ns.saturating_sub(now_ns());
            if left == 0 {
                return Ok(());
            }
            // In units of 100 ns; a negative number is a time from now.
            let due = -(left.div_ceil(100) as i64);
            let timer = self.0.as_raw_handle();
            // SAFETY: the time lives through the call; no function is called at the end.
            unsafe {
                check(SetWaitableTimer(timer, &due, 0, None, null_mut::<u8>().cast(), 0))?;
                if WaitForSingleObject(timer, INFINITE) != WAIT_OBJECT_0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
    }
}
