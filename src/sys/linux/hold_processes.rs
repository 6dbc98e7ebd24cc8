//! Many processes that live at the same time and do nothing.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

use super::super::shared::held::{Footprint, Held};
use super::footprint::ProcReader;
use super::pipe::pipe;
use super::process::{Pid, reap};
use super::{check, raw};

/// Time in ms within which all children have to run once the last was forked.
const START_LIMIT_MS: libc::c_int = 30_000;

/// Forked children that wait for a byte that never comes.
///
/// They are killed when this is dropped. When this process is killed they die by the signal that
/// they asked for; where there is no such signal, the pipe that they wait on closes.
struct HeldProcesses {
    pids: Vec<libc::pid_t>,
    /// Pipe to which each child writes a byte before it waits, and how many bytes were read from
    /// it.
    ready_reads: File,
    ready_writes: File,
    came_up: usize,
    /// Pipe that the children wait on.
    lifeline_reads: File,
    lifeline: File,
    reader: ProcReader,
}

/// Holds no process yet.
pub fn hold_processes() -> io::Result<Box<dyn Held>> {
    let (ready_reads, ready_writes) = pipe()?;
    let (lifeline_reads, lifeline) = pipe()?;
    let reader = ProcReader::new();
    let pids = Vec::new();
    Ok(Box::new(HeldProcesses {
        pids,
        ready_reads,
        ready_writes,
        came_up: 0,
        lifeline_reads,
        lifeline,
        reader,
    }))
}

impl HeldProcesses {
    /// System calls by numbers only: every library function that a child calls would cost it page
    /// faults and memory that a bare program's child does not need.
    #[inline(always)]
    fn wait_as_child(&self, parent: libc::pid_t) -> ! {
        let die_with_parent = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0];
        let lifeline = self.lifeline.as_raw_fd() as usize;
        // SAFETY: no call takes a pointer. The lifeline's descriptor is this process' own copy.
        let own_parent = unsafe {
            let _ = raw::call(libc::SYS_prctl, die_with_parent);
            let _ = raw::call(libc::SYS_close, [lifeline, 0, 0, 0]);
            raw::call(libc::SYS_getppid, [0; 4])
        };
        // If the parent died before the signal was asked for, no signal comes.
        if own_parent.is_ok_and(|pid| pid == parent as usize)
            && raw::write_byte(self.ready_writes.as_raw_fd(), 1).is_ok()
        {
            let _ = raw::read_byte(self.lifeline_reads.as_raw_fd());
        }
        loop {
            // SAFETY: ends the process.
            let _ = unsafe { raw::call(libc::SYS_exit_group, [0; 4]) };
        }
    }
}

impl Held for HeldProcesses {
    fn make_room(&mut self, most: usize) -> io::Result<()> {
        self.pids.reserve(most.saturating_sub(self.pids.len()));
        Ok(())
    }

    #[inline]
    fn add(&mut self) -> io::Result<()> {
        // SAFETY: a number is asked for; musl and glibc ask the system each time.
        let own = unsafe { libc::getpid() };
        // SAFETY: the child makes system calls only, on descriptors made before the fork.
        match unsafe { libc::fork() } {
            0 => self.wait_as_child(own),
            pid => check(pid.into()).map(|_| self.pids.push(pid)),
        }
    }

    fn all_wait(&mut self) -> io::Result<()> {
        let mut bytes = [0; 256];
        while self.came_up < self.pids.len() {
            let fd = self.ready_reads.as_raw_fd();
            let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor is watched, and it lives through the call.
            if check(unsafe { libc::poll(&mut watched, 1, START_LIMIT_MS) }.into())? == 0 {
                let (up, all) = (self.came_up, self.pids.len());
                return Err(io::Error::other(format!("only {up} of {all} children came up")));
            }
            self.came_up += self.ready_reads.read(&mut bytes)?;
        }
        Ok(())
    }

    fn keep(&mut self, count: usize) -> io::Result<()> {
        let count = count.min(self.pids.len());
        if self.came_up < self.pids.len() {
            // Children may be ended before they were waited for; their bytes must not count for
            // others.
            match count {
                0 => (self.ready_reads, self.ready_writes) = pipe()?,
                _ => self.all_wait()?,
            }
        }
        for &pid in &self.pids[count..] {
            // SAFETY: sends a signal to a child that was not reaped yet, so the id is still its.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        let mut result = Ok(());
        while self.pids.len() > count
            && let Some(pid) = self.pids.pop()
        {
            result = result.and(reap(Pid::from_raw(pid)).map(drop));
        }
        self.came_up = self.came_up.min(count);
        result
    }

    fn footprint(&mut self) -> Footprint {
        let (mut pss, mut tables) = (Some(0), Some(0));
        // SAFETY: a number is asked for.
        let own = unsafe { libc::getpid() };
        for &pid in self.pids.iter().chain([&own]) {
            let (own_pss, own_tables) = self.reader.process(pid);
            pss = pss.zip(own_pss).map(|(sum, one)| sum + one);
            tables = tables.zip(own_tables).map(|(sum, one)| sum + one);
        }
        let (kernel, available, used) = self.reader.system();
        Footprint { pss, tables, kernel, available, used, ..Footprint::default() }
    }
}

impl Drop for HeldProcesses {
    fn drop(&mut self) {
        // Somebody else may have ended the child; that is no error here.
        let _ = self.keep(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(pid: libc::pid_t) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    /// The children of this thread, which forks nothing else.
    fn children() -> Vec<libc::pid_t> {
        // SAFETY: a number is asked for.
        let thread = unsafe { libc::gettid() };
        let path = format!("/proc/self/task/{thread}/children");
        let text = std::fs::read_to_string(path).unwrap();
        text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    #[test]
    fn as_many_live_as_were_added_and_none_afterwards() {
        let mut held = hold_processes().unwrap();
        held.make_room(20).unwrap();
        (0..20).for_each(|_| held.add().unwrap());
        held.all_wait().unwrap();
        held.footprint();
        let pids = children();
        assert_eq!(pids.len(), 20);
        let state = |pid: &libc::pid_t| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            stat.rsplit_once(") ").unwrap().1.as_bytes()[0]
        };
        assert!(pids.iter().all(|pid| matches!(state(pid), b'S' | b'R')));
        held.keep(5).unwrap();
        assert_eq!(children(), pids[..5]);
        (0..5).for_each(|_| held.add().unwrap());
        held.all_wait().unwrap();
        assert_eq!(children().len(), 10);
        drop(held);
        assert!(children().is_empty() && !pids.iter().any(|pid| exists(*pid)));
    }

    #[test]
    fn a_child_that_was_killed_by_somebody_is_no_error() {
        let mut held = hold_processes().unwrap();
        held.make_room(3).unwrap();
        (0..3).for_each(|_| held.add().unwrap());
        // SAFETY: sends a signal to a child of this test.
        unsafe { libc::kill(children()[1], libc::SIGKILL) };
        held.keep(0).unwrap();
        assert!(children().is_empty());
    }
}
