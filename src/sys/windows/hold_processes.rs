//! Many processes that live at the same time: this binary once more in each of them, because
//! Windows has no fork.

use std::env;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::AsRawHandle;
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::ProcessStatus::{
    K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS, PROCESS_MEMORY_COUNTERS_EX,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessHandleCount, WaitForSingleObject,
};

use super::super::shared::held::{Footprint, Held};
use super::agent::bind_children;
use super::limits::performance;
use super::process::{Executable, PEER_VERB, Pid, fork_exec, reap};
use super::process_tree::{self, Gate};

/// Time in ms within which a process has to report once all were started.
const START_LIMIT_MS: u32 = 60_000;

/// Members of a tree, all started by this process. They wait for an end that is never announced.
struct HeldProcesses {
    gate: Gate,
    member: Executable,
    pids: Vec<Pid>,
    came_up: usize,
}

/// Holds no process yet.
pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    static CROWDS: AtomicU32 = AtomicU32::new(0);
    bind_children();
    let worker = std::process::id();
    let token = format!("{worker}-held-{}", CROWDS.fetch_add(1, Ordering::Relaxed));
    let own = env::current_exe()?;
    let own = own.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let role = format!("{}:{token}:{worker}:0:attached:", process_tree::ROLE);
    let member = Executable::new(&[own, PEER_VERB, &role, "-"])?;
    let gate = Gate::make(&token)?;
    Ok(Box::new(HeldProcesses { gate, member, pids: Vec::new(), came_up: 0 }))
}

impl Held for HeldProcesses {
    fn make_room(&mut self, most: usize) -> io::Result<()> {
        self.pids.reserve(most.saturating_sub(self.pids.len()));
        Ok(())
    }

    #[inline]
    fn add(&mut self) -> io::Result<()> {
        self.pids.push(fork_exec(&self.member)?);
        Ok(())
    }

    fn all_wait(&mut self) -> io::Result<()> {
        while self.came_up < self.pids.len() {
            // SAFETY: takes no pointer; the handle is open.
            let answer =
                unsafe { WaitForSingleObject(self.gate.up.as_raw_handle(), START_LIMIT_MS) };
            if answer != WAIT_OBJECT_0 {
                let (up, all) = (self.came_up, self.pids.len());
                return Err(io::Error::other(format!("only {up} of {all} processes came up")));
            }
            self.came_up += 1;
        }
        Ok(())
    }

    fn keep(&mut self, count: usize) -> io::Result<()> {
        let count = count.min(self.pids.len());
        // What is ended before it reports must not count for others.
        let waited = self.all_wait();
        let ended: Vec<Pid> = self.pids.drain(count..).collect();
        let told: Vec<io::Result<()>> = ended.iter().map(Pid::end).collect();
        let reaped = ended.into_iter().map(|pid| reap(pid).map(drop));
        self.came_up = self.came_up.min(count);
        waited.and(told.into_iter().chain(reaped).collect())
    }

    /// `pss` is the sum of what each process has for itself alone (its commit charge), and `kernel`
    /// the pools of the system. Windows tells nothing of page tables.
    fn footprint(&mut self) -> Footprint {
        let of_all = |of: fn(&Pid) -> Option<u64>| self.pids.iter().map(of).sum::<Option<u64>>();
        // SAFETY: takes nothing; the handle is a constant.
        let own = commit(unsafe { GetCurrentProcess() });
        let pss = of_all(|pid| commit(pid.handle())).zip(own).map(|(sum, own)| sum + own);
        let all = performance();
        let bytes =
            |pages: fn(&_) -> usize| all.as_ref().map(|all| (pages(all) * all.PageSize) as u64);
        let available = bytes(|all| all.PhysicalAvailable);
        let total = bytes(|all| all.PhysicalTotal);
        let used = total.zip(available).map(|(total, free)| total.saturating_sub(free));
        Footprint {
            pss,
            tables: None,
            kernel: bytes(|all| all.KernelTotal),
            available,
            used,
            working_set: of_all(|pid| counters(pid.handle()).map(|it| it.WorkingSetSize as u64)),
            handles: of_all(handles),
        }
    }
}

impl Drop for HeldProcesses {
    fn drop(&mut self) {
        // Somebody else may have ended one; that is no error here.
        let _ = self.keep(0);
    }
}

fn counters(process: *mut std::ffi::c_void) -> Option<PROCESS_MEMORY_COUNTERS_EX> {
    let bytes = size_of::<PROCESS_MEMORY_COUNTERS_EX>() as u32;
    // SAFETY: the structure has the size given, and all zeroes is a valid one; the longer one
    // begins as the shorter one does.
    unsafe {
        let mut found: PROCESS_MEMORY_COUNTERS_EX = zeroed();
        let place = (&raw mut found).cast::<PROCESS_MEMORY_COUNTERS>();
        (K32GetProcessMemoryInfo(process, place, bytes) != 0).then_some(found)
    }
}

fn commit(process: *mut std::ffi::c_void) -> Option<u64> {
    counters(process).map(|found| found.PrivateUsage as u64)
}

fn handles(pid: &Pid) -> Option<u64> {
    let mut count = 0;
    // SAFETY: the number lives through the call, and the handle is open.
    (unsafe { GetProcessHandleCount(pid.handle(), &mut count) } != 0).then_some(u64::from(count))
}
