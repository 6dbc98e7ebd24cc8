//! Runs a whole command to its end and reports what it and its children used, as counted by the job
//! object that they belong to. May use `sys` only. Must not know the protocol.

mod program;
mod start;
#[cfg(test)]
mod tests;

pub use program::{find_program, is_no_program};

use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::os::windows::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::Storage::FileSystem::{GetDriveTypeW, GetLogicalDrives};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetExitCodeProcess, WaitForSingleObject};

use self::program::{check_program, command_line};
use self::start::Streams;
use super::super::shared::command::{CommandEnd, CommandOrder, Killed};
use super::facts::wine_version;
use super::input::Input;
use super::job::Job;
use super::{check, not_here, now_ns, wide};
use crate::model::Usage;

/// Time between two checks of the time limit, of the interrupt and of the outputs' sizes.
const POLL_INTERVAL_MS: u32 = 100;
/// How long ended processes may take to disappear.
const LEAVING: Duration = Duration::from_secs(5);
/// A drive that is neither remote nor removable (`GetDriveTypeW`).
const DRIVE_FIXED: u32 = 3;

/// Runs a command to its end. It starts in a job of its own; what is left of that job afterwards is
/// ended. Errors are those of starting it.
pub fn run_command(order: &CommandOrder<'_>, interrupt: &Input) -> io::Result<CommandEnd> {
    let Some(name) = order.words.first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
    };
    let program = find_program(name).ok_or(io::ErrorKind::NotFound)?;
    check_program(&program)?;
    let program = wide(std::path::absolute(&program)?.as_os_str())?;
    let mut line = wide(command_line(order.words).as_ref())?;
    let streams = Streams::open(order)?;
    let job = Job::new()?;
    let start_ns = now_ns();
    let process = streams.start(&program, &mut line, &job)?;
    let killed = wait_for_end(&process.handle, &job, order, start_ns, interrupt)?;
    let end_ns = now_ns();
    // Wine knows the peak only until the process is gone, which may happen at any moment.
    let peak_bytes = peak_bytes(&process.handle);
    let left = end_the_rest(&job, process.id);
    let mut code = 0;
    // SAFETY: the handle is open, and the number lives through the call.
    check(unsafe { GetExitCodeProcess(process.handle.as_raw_handle(), &mut code) })?;
    let (usage, uncounted) = usage_of(&job);
    Ok(CommandEnd {
        status: ExitStatus::from_raw(code),
        killed,
        start_ns,
        end_ns,
        usage,
        peak_bytes,
        floor_bytes: None,
        storage: job.transferred().ok(),
        uncounted,
        left,
    })
}

/// Waits until everything that was written to this machine's drives is durable, which only an
/// administrator may ask for.
pub fn sync_all() -> io::Result<()> {
    if wine_version().is_some() {
        return not_here("Wine makes single files durable, but not a drive");
    }
    // SAFETY: takes nothing.
    let drives = unsafe { GetLogicalDrives() };
    for letter in ('A'..='Z').enumerate().filter(|(at, _)| drives >> at & 1 == 1).map(|it| it.1) {
        let root = wide(format!("{letter}:\\").as_ref())?;
        // SAFETY: the path is zero-terminated.
        if unsafe { GetDriveTypeW(root.as_ptr()) } == DRIVE_FIXED {
            File::options().write(true).open(format!("\\\\.\\{letter}:"))?.sync_all()?;
        }
    }
    Ok(())
}

/// Waits until the process has ended; ends its job when it has to.
fn wait_for_end(
    process: &OwnedHandle,
    job: &Job,
    order: &CommandOrder<'_>,
    start_ns: u64,
    interrupt: &Input,
) -> io::Result<Option<Killed>> {
    let mut killed = None;
    loop {
        // SAFETY: takes no pointer; the handle is open.
        match unsafe { WaitForSingleObject(process.as_raw_handle(), POLL_INTERVAL_MS) } {
            WAIT_OBJECT_0 => return Ok(killed),
            WAIT_TIMEOUT => {}
            _ => return Err(io::Error::last_os_error()),
        }
        let ran_ns = now_ns() - start_ns;
        killed = order.why_to_kill(ran_ns, || interrupt.is_ready_within(Duration::ZERO)).or(killed);
        if killed.is_some() {
            job.end();
        }
    }
}

/// Ends what is left of the job besides the process with the id `ended`; returns how many processes
/// there were. Their files can be removed afterwards.
fn end_the_rest(job: &Job, ended: u32) -> usize {
    let others = || {
        let ids = job.processes().unwrap_or_default();
        ids.into_iter().filter(|id| *id != ended).count()
    };
    let left = others();
    let until = Instant::now() + LEAVING;
    while others() > 0 && Instant::now() < until {
        job.end();
        thread::sleep(Duration::from_millis(1));
    }
    left
}

/// What the job counted, and the phases that it does not count. Wine has the fields but leaves them
/// at zero; no page faults tell this, because every program has some. The times that Wine 8 gives
/// for any process are those of the process that asks, so nothing else can be used.
fn usage_of(job: &Job) -> (Usage, &'static [&'static str]) {
    let totals = job.totals().unwrap_or_default();
    if totals.TotalPageFaultCount == 0 {
        return (Usage::default(), &["user", "system", "cpu", "switches"]);
    }
    // The system counts in units of 100 ns.
    let usage = Usage {
        user_ns: totals.TotalUserTime as u64 * 100,
        system_ns: totals.TotalKernelTime as u64 * 100,
        minor_faults: totals.TotalPageFaultCount.into(),
        ..Usage::default()
    };
    (usage, &["switches"])
}

/// Largest working set of a process that has ended; 0 where the system does not say.
fn peak_bytes(process: &OwnedHandle) -> u64 {
    let bytes = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the structure has the size given; all zeroes is a valid one if the call fails.
    unsafe {
        let mut counters: PROCESS_MEMORY_COUNTERS = zeroed();
        K32GetProcessMemoryInfo(process.as_raw_handle(), &mut counters, bytes);
        counters.PeakWorkingSetSize as u64
    }
}
