//! A round trip to another process with epoll_wait in between.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use super::check;
use super::pipe_peer::EchoPeer;

/// An echo peer whose answers are waited for with `epoll_wait`, as event loops do.
pub struct PolledPeer {
    echo: EchoPeer,
    poll: File,
}

impl PolledPeer {
    /// Starts the peer and lets it run on `cpus` only when some are given.
    pub fn start(cpus: &[usize]) -> io::Result<PolledPeer> {
        let echo = EchoPeer::start(cpus)?;
        // SAFETY: the call takes a number only.
        let poll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }.into())? as RawFd;
        // SAFETY: the descriptor is new and owned by nobody else.
        let poll = unsafe { File::from_raw_fd(poll) };
        let mut wanted = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        let (add, watched) = (libc::EPOLL_CTL_ADD, echo.answers_on());
        // SAFETY: the event lives through the call.
        check(unsafe { libc::epoll_ctl(poll.as_raw_fd(), add, watched, &mut wanted) }.into())?;
        Ok(PolledPeer { echo, poll })
    }

    /// One byte there and back: a write, a wait until the answer can be read, and its read.
    #[inline]
    pub fn round_trip(&mut self) -> io::Result<()> {
        self.echo.send()?;
        self.wait()?;
        self.echo.receive()
    }

    #[inline]
    fn wait(&self) -> io::Result<()> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: there is room for the one event asked for.
        let ready = unsafe { libc::epoll_wait(self.poll.as_raw_fd(), &mut event, 1, -1) };
        match check(ready.into()) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(e),
            // After a signal, the read waits for the rest.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_for_the_answer() {
        let mut peer = PolledPeer::start(&[]).unwrap();
        for _ in 0..100 {
            peer.round_trip().unwrap();
        }
        assert!(PolledPeer::start(&[100_000]).is_err(), "a peer that cannot be placed");
    }
}
