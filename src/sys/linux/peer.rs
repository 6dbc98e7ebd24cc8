//! A forked process with which this one exchanges something.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::pipe::pipe;
use super::process::{Pid, reap};
use super::{check, die_with_parent, getppid, pin_to, raw};

/// A forked process. It is killed when this is dropped, and when this process is killed.
pub(super) struct Peer(Pid);

impl Peer {
    /// Forks a process that closes `ours`, pins itself to `cpus` if some are given, and exits with
    /// what `work` returns. Returns when the peer begins its work.
    pub(super) unsafe fn fork(
        cpus: &[usize],
        ours: &[RawFd],
        work: impl FnOnce() -> i32,
    ) -> io::Result<Peer> {
        let (ready, up) = pipe()?;
        let parent = i64::from(std::process::id());
        // SAFETY: the child calls only close, prctl, getppid, sched_setaffinity, write, the work,
        // for which the caller answers, and _exit.
        let pid = match unsafe { libc::fork() } {
            0 => {
                drop(ready);
                for &fd in ours {
                    // SAFETY: the parent's; nothing in this process uses it.
                    unsafe { libc::close(fd) };
                }
                die_with_parent();
                // If the parent was killed before that call, nobody tells this process.
                let in_place = getppid() == parent && (cpus.is_empty() || pin_to(cpus).is_ok());
                let told = in_place && raw::write_byte(up.as_raw_fd(), 1).is_ok();
                drop(up);
                let status = if told { work() } else { 1 };
                // SAFETY: ends the child without running anything of the parent's.
                unsafe { libc::_exit(status) }
            }
            pid => check(pid.into()).map(|_| Pid::from_raw(pid))?,
        };
        drop(up);
        let peer = Peer(pid);
        match raw::read_byte(ready.as_raw_fd()) {
            Ok(_) => Ok(peer),
            Err(_) => Err(io::Error::other(format!("it cannot run on the CPUs {cpus:?}"))),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.kill();
        // A child that is gone already is no error here.
        let _ = reap(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(pid: libc::pid_t) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn a_peer_ends_with_its_owner() {
        // SAFETY: pause is async-signal-safe.
        let peer = unsafe { Peer::fork(&[], &[], || libc::pause()) }.unwrap();
        let pid = peer.0.as_raw();
        assert!(exists(pid));
        drop(peer);
        assert!(!exists(pid));
    }

    #[test]
    fn a_peer_dies_with_a_killed_parent() {
        let (read, write) = pipe().unwrap();
        // A process in between that is killed with its own peer running.
        // SAFETY: fork, pause and what Peer::fork does in both processes; the error's text is not
        // made, as no CPU is asked for.
        let between = unsafe {
            Peer::fork(&[], &[read.as_raw_fd()], move || {
                let Ok(peer) = Peer::fork(&[], &[], || libc::pause()) else { return 1 };
                let told = raw::write_byte(write.as_raw_fd(), 1).is_ok();
                libc::pause();
                drop(peer);
                i32::from(!told)
            })
        }
        .unwrap();
        raw::read_byte(read.as_raw_fd()).unwrap();
        drop(between);
        // The innermost process holds the last end for writing: its death closes the pipe.
        let ended = raw::read_byte(read.as_raw_fd()).unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
