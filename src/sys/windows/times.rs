//! Times as Windows gives them, in nanoseconds.

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// The system counts in units of 100 ns.
#[inline]
pub(super) fn nanoseconds(time: FILETIME) -> u64 {
    ((u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime)) * 100
}

/// Nanoseconds that this process spent in itself and in the kernel.
#[inline]
pub(super) fn process_times() -> (u64, u64) {
    const ZERO: FILETIME = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let (mut start, mut end, mut kernel, mut user) = (ZERO, ZERO, ZERO, ZERO);
    // SAFETY: the four structures live through the call; without an answer they remain zero.
    unsafe { GetProcessTimes(GetCurrentProcess(), &mut start, &mut end, &mut kernel, &mut user) };
    (nanoseconds(user), nanoseconds(kernel))
}
