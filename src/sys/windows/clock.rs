//! The clock of all timing, and other clocks that programs read.

use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;

use super::times::{nanoseconds, process_times};

/// Name of the clock in facts and documents.
pub const CLOCK_NAME: &str = "QueryPerformanceCounter";

/// Nanoseconds since an arbitrary point, never adjusted backwards by the system.
#[inline]
pub fn now_ns() -> u64 {
    let mut ticks = 0i64;
    // SAFETY: the number lives through the call, which does not fail since Windows XP.
    unsafe { QueryPerformanceCounter(&mut ticks) };
    let (ticks, frequency) = (ticks as u64, frequency());
    // The usual 10 MHz divide a second. For other frequencies seconds and rest are converted apart,
    // because the product might overflow.
    match 1_000_000_000 % frequency {
        0 => ticks * (1_000_000_000 / frequency),
        _ => {
            let rest = ticks % frequency * 1_000_000_000 / frequency;
            ticks / frequency * 1_000_000_000 + rest
        }
    }
}

/// Ticks a second.
#[inline]
fn frequency() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let mut frequency = 0i64;
        // SAFETY: the number lives through the call, which does not fail since Windows XP.
        unsafe { QueryPerformanceFrequency(&mut frequency) };
        (frequency as u64).max(1)
    })
}

/// A clock that this environment has.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Counter,
    Date,
    ProcessTime,
}

impl Clock {
    /// The Windows clock that corresponds to the clock of this name on Linux.
    pub fn open(name: &str) -> io::Result<Clock> {
        match name {
            "monotonic" => Ok(Clock::Counter),
            "realtime" => Ok(Clock::Date),
            "cputime" => Ok(Clock::ProcessTime),
            "monotonicraw" | "boottime" => super::not_here("Windows has no second such counter"),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The clock's time in nanoseconds.
    #[inline]
    pub fn now_ns(self) -> u64 {
        match self {
            Clock::Counter => now_ns(),
            Clock::Date => date_ns(),
            Clock::ProcessTime => {
                let (user, kernel) = process_times();
                user + kernel
            }
        }
    }
}

#[inline]
fn date_ns() -> u64 {
    let mut time = MaybeUninit::<FILETIME>::uninit();
    // SAFETY: the call fills the structure and cannot fail.
    unsafe {
        GetSystemTimePreciseAsFileTime(time.as_mut_ptr());
        nanoseconds(time.assume_init())
    }
}
