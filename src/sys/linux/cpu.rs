//! CPU sets, the CPU time of this process, and the cheapest system call.

use std::io;
use std::mem::{MaybeUninit, size_of};

use super::{check, raw};
use crate::model::Usage;

/// The CPUs this process may run on, ascending.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    // SAFETY: a cpu_set_t of zeroes is an empty set.
    let mut set: libc::cpu_set_t = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the set lives through the call and its size is the one given.
    let result = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    check(result.into())?;
    // SAFETY: CPU_ISSET reads the set at an index below its fixed size.
    let allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    Ok((0..libc::CPU_SETSIZE as usize).filter(allowed).collect())
}

/// Pins this process, and what it forks from here on, to `cpus`.
pub fn pin_to(cpus: &[usize]) -> io::Result<()> {
    pin_process(0, cpus)
}

/// Pins the process with that id, and what it forks from here on, to `cpus`; 0 is this process.
pub fn pin_process(id: u32, cpus: &[usize]) -> io::Result<()> {
    // SAFETY: a cpu_set_t of zeroes is an empty set.
    let mut set: libc::cpu_set_t = unsafe { MaybeUninit::zeroed().assume_init() };
    for &cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below the set's fixed size.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    let id = id as libc::pid_t;
    // SAFETY: the set lives through the call and its size is the one given.
    let result = unsafe { libc::sched_setaffinity(id, size_of::<libc::cpu_set_t>(), &set) };
    check(result.into()).map(drop)
}

/// One `getppid` by its number, never through a C library that could remember the answer.
#[inline]
pub fn getppid() -> i64 {
    // SAFETY: the call takes no argument and cannot fail.
    unsafe { raw::call(libc::SYS_getppid, [0; 4]).map_or(-1, |parent| parent as i64) }
}

/// What this process and its reaped children have used so far.
pub fn usage() -> Usage {
    let own = rusage(libc::RUSAGE_SELF);
    let children = rusage(libc::RUSAGE_CHILDREN);
    let sum = |field: fn(&libc::rusage) -> u64| field(&own) + field(&children);
    Usage {
        user_ns: sum(|r| nanoseconds(r.ru_utime)),
        system_ns: sum(|r| nanoseconds(r.ru_stime)),
        minor_faults: sum(|r| r.ru_minflt as u64),
        major_faults: sum(|r| r.ru_majflt as u64),
        voluntary_switches: sum(|r| r.ru_nvcsw as u64),
        involuntary_switches: sum(|r| r.ru_nivcsw as u64),
        run_queue_wait_ns: run_queue_wait_ns(),
    }
}

fn rusage(who: libc::c_int) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the buffer is a whole rusage; all zeroes is a valid value if the call fails.
    unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

/// Second field of `/proc/self/schedstat`, the ns spent waiting on a run queue.
fn run_queue_wait_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinning_to_one_cpu_leaves_that_cpu_only() {
        // A thread of its own, so that the test runner stays where it was.
        std::thread::spawn(|| {
            let all = allowed_cpus().unwrap();
            pin_to(&all[..1]).unwrap();
            assert_eq!(allowed_cpus().unwrap(), all[..1]);
            pin_to(&all).unwrap();
            assert_eq!(allowed_cpus().unwrap(), all);
        })
        .join()
        .unwrap();
    }
}
