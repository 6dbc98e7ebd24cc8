//! The clock that all timing uses.

/// Name of the clock in facts and documents.
pub const CLOCK_NAME: &str = "CLOCK_MONOTONIC";

/// Nanoseconds since an arbitrary point, never adjusted backwards by the system.
///
/// Read through the vDSO where the environment has one; what a reading costs is measured and
/// recorded in every environment (`clock.read`), not assumed.
#[inline]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call. The call cannot fail for
    // this clock, which every Linux has.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}
