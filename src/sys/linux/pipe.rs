//! Two processes and two pipes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;

use super::process::{Pid, reap};
use super::{check, pin_to};

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
        let mut byte = [0x55];
        if let Some(pipe) = &mut self.to_peer {
            pipe.write_all(&byte)?;
        }
        self.from_peer.read_exact(&mut byte)
    }
}

impl Drop for EchoPeer {
    fn drop(&mut self) {
        self.to_peer = None;
        // The peer sees its pipe close and exits; a child that is gone already is no error here.
        let _ = reap(self.pid);
    }
}

fn echo(mut from: File, mut to: File) -> i32 {
    let mut byte = [0];
    while matches!(from.read(&mut byte), Ok(1)) {
        if to.write_all(&byte).is_err() {
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
