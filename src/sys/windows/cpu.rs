//! CPU sets, and the CPU time of this process.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessAffinityMask, OpenProcess, PROCESS_SET_INFORMATION,
    SetProcessAffinityMask,
};

use super::times::process_times;
use super::{check, check_handle};
use crate::model::Usage;

/// The CPUs this process may run on, ascending: those of its processor group, at most 64.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let (mut own, mut all) = (0usize, 0usize);
    // SAFETY: both masks live through the call; the handle of the own process is always valid.
    check(unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut all) })?;
    Ok((0..usize::BITS as usize).filter(|cpu| own >> cpu & 1 == 1).collect())
}

/// Pins this process, and what it starts from here on, to `cpus`.
pub fn pin_to(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: the handle of the own process is a constant.
    pin(unsafe { GetCurrentProcess() }, cpus)
}

/// Pins the process with that id, and what it starts from here on, to `cpus`.
pub fn pin_process(id: u32, cpus: &[usize]) -> io::Result<()> {
    // SAFETY: takes no pointer; the handle is owned by nobody else.
    let process = unsafe {
        let handle = OpenProcess(PROCESS_SET_INFORMATION, 0, id);
        OwnedHandle::from_raw_handle(check_handle(handle)?)
    };
    pin(process.as_raw_handle(), cpus)
}

fn pin(process: HANDLE, cpus: &[usize]) -> io::Result<()> {
    let bits = cpus.iter().filter(|cpu| **cpu < usize::BITS as usize);
    let mask = bits.fold(0usize, |mask, cpu| mask | 1 << cpu);
    if mask == 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: takes no pointer; the handle is the caller's.
    check(unsafe { SetProcessAffinityMask(process, mask) })
}

/// Always -1: Windows has no such call.
pub fn getppid() -> i64 {
    -1
}

/// What this process has used so far. Windows does not add up what its children used.
pub fn usage() -> Usage {
    let (user_ns, system_ns) = process_times();
    Usage { user_ns, system_ns, minor_faults: faults(), ..Usage::default() }
}

/// Page faults of both kinds: Windows does not tell them apart.
fn faults() -> u64 {
    let mut counters = MaybeUninit::<PROCESS_MEMORY_COUNTERS>::zeroed();
    let bytes = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the structure has the size given; all zeroes is a valid one if the call fails.
    unsafe {
        K32GetProcessMemoryInfo(GetCurrentProcess(), counters.as_mut_ptr(), bytes);
        counters.assume_init().PageFaultCount.into()
    }
}
