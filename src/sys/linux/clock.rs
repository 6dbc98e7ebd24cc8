//! The clock that all timing uses, and the others that programs read.

use std::io;

use super::check;

/// Name of the clock in facts and documents.
pub const CLOCK_NAME: &str = "CLOCK_MONOTONIC";

/// Nanoseconds since an arbitrary point, never adjusted backwards by the system.
///
/// Read through the vDSO where the environment has one; what a reading costs is measured and
/// recorded in every environment (`clock.read`), not assumed.
#[inline]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// A clock that this environment has.
#[derive(Clone, Copy, Debug)]
pub struct Clock(libc::clockid_t);

impl Clock {
    /// The clock of that name, read once: an error where the environment has none such.
    pub fn open(name: &str) -> io::Result<Clock> {
        let id = match name {
            "monotonic" => libc::CLOCK_MONOTONIC,
            "monotonicraw" => libc::CLOCK_MONOTONIC_RAW,
            "realtime" => libc::CLOCK_REALTIME,
            "boottime" => libc::CLOCK_BOOTTIME,
            "cputime" => libc::CLOCK_PROCESS_CPUTIME_ID,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec that lives through the call.
        check(unsafe { libc::clock_gettime(id, &mut time) }.into())?;
        Ok(Clock(id))
    }

    /// The clock's time in nanoseconds.
    #[inline]
    pub fn now_ns(self) -> u64 {
        read(self.0)
    }
}

#[inline]
fn read(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call. The call does not fail for
    // the monotonic clock, which every Linux has, and a clock that was read before.
    unsafe { libc::clock_gettime(id, &mut time) };
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}
