//! Two processes and two pipes.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

use super::process::{Pid, reap};
use super::{check, pin_to, raw};

/// A forked process that sends every byte it receives straight back.
///
/// It ends by itself when the other end of its pipe closes, so it is gone also when this process
/// is killed.
pub struct EchoPeer {
    to_peer: Option<File>,
    from_peer: File,
    pid: Pid,
}

impl EchoPeer {
    /// Starts the peer, lets it run on `cpus` only when some are given, and exchanges one byte with
    /// it, so that it is known to be up before any clock is read.
    pub fn start(cpus: &[usize]) -> io::Result<EchoPeer> {
        let (peer_reads, we_write) = pipe()?;
        let (we_read, peer_writes) = pipe()?;
        // SAFETY: the child calls only async-signal-safe functions: close, read, write, _exit and
        // sched_setaffinity on values made before the fork.
        let pid = match unsafe { libc::fork() } {
            0 => {
                drop((we_write, we_read));
                let pinned = cpus.is_empty() || pin_to(cpus).is_ok();
                let status = if pinned { echo(peer_reads, peer_writes) } else { 1 };
                // SAFETY: ends the child without running anything of the parent's.
                unsafe { libc::_exit(status) }
            }
            pid => check(pid.into()).map(|_| Pid::from_raw(pid))?,
        };
        drop((peer_reads, peer_writes));
        let mut peer = EchoPeer { to_peer: Some(we_write), from_peer: we_read, pid };
        peer.round_trip()?;
        Ok(peer)
    }

    /// One byte there and back.
    #[inline]
    pub fn round_trip(&mut self) -> io::Result<()> {
        raw::write_byte(self.to_peer.as_ref().map_or(-1, File::as_raw_fd), 0x55)?;
        raw::read_byte(self.from_peer.as_raw_fd()).map(drop)
    }
}

impl Drop for EchoPeer {
    fn drop(&mut self) {
        self.to_peer = None;
        // The peer sees its pipe close and exits; a child that is gone already is no error here.
        let _ = reap(self.pid);
    }
}

fn echo(from: File, to: File) -> i32 {
    let (from, to) = (from.as_raw_fd(), to.as_raw_fd());
    while let Ok(byte) = raw::read_byte(from) {
        if raw::write_byte(to, byte).is_err() {
            return 1;
        }
    }
    0
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
    // SAFETY: both descriptors are new and owned by nobody else.
    Ok(unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_answers_and_ends() {
        let mut peer = EchoPeer::start(&[]).unwrap();
        for _ in 0..100 {
            peer.round_trip().unwrap();
        }
        drop(peer);
        assert!(EchoPeer::start(&[100_000]).is_err(), "a peer that cannot be placed is an error");
    }
}
