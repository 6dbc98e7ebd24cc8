//! Two processes that take turns through a word in shared memory (futex).

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::peer::Peer;
use super::raw;
use super::shared_memory::{Atomics, Shared};

/// The values of the word: whose turn it is.
const OURS: u32 = 0;
const THEIRS: u32 = 1;

/// A forked process that takes turns with this one by a futex in memory of both.
pub struct FutexPeer {
    word: Shared<Turn>,
    _peer: Peer,
}

impl FutexPeer {
    /// Starts the peer, lets it run on `cpus` only when some are given, and takes one turn, so that
    /// it is known to be up. An error where there are no futexes.
    pub fn start(cpus: &[usize]) -> io::Result<FutexPeer> {
        let word = Shared::<Turn>::new()?;
        word.wake()?;
        // SAFETY: the peer makes futex calls only, which are system calls by number.
        let peer = unsafe { Peer::fork(cpus, &[], || answer(&word)) }?;
        let mut futex = FutexPeer { word, _peer: peer };
        futex.round_trip()?;
        Ok(futex)
    }

    /// Gives the turn to the peer and waits until it comes back.
    #[inline]
    pub fn round_trip(&mut self) -> io::Result<()> {
        self.word.give(THEIRS)?;
        self.word.wait_for(OURS)
    }
}

fn answer(word: &Turn) -> i32 {
    while word.wait_for(THEIRS).is_ok() && word.give(OURS).is_ok() {}
    1
}

/// The word that says whose turn it is; zero means that it is ours.
struct Turn(AtomicU32);

// SAFETY: it is one atomic number.
unsafe impl Atomics for Turn {}

impl Turn {
    /// Sets whose turn it is, and wakes the process that waits for it.
    #[inline]
    fn give(&self, turn: u32) -> io::Result<()> {
        self.0.store(turn, Ordering::Release);
        self.wake()
    }

    #[inline]
    fn wake(&self) -> io::Result<()> {
        let arguments = [self.address(), libc::FUTEX_WAKE as usize, 1, 0];
        // SAFETY: the address is the word's.
        unsafe { raw::call(libc::SYS_futex, arguments) }.map(drop)
    }

    /// Returns when it is that process's turn; at once when it already is.
    #[inline]
    fn wait_for(&self, turn: u32) -> io::Result<()> {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now == turn {
                return Ok(());
            }
            let arguments = [self.address(), libc::FUTEX_WAIT as usize, now as usize, 0];
            // SAFETY: the address is the word's; without a timeout the wait has no other pointer.
            match unsafe { raw::call(libc::SYS_futex, arguments) } {
                Err(e) if !matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                    return Err(e);
                }
                _ => {}
            }
        }
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken() {
        let mut peer = FutexPeer::start(&[]).unwrap();
        for _ in 0..100 {
            peer.round_trip().unwrap();
            assert_eq!(peer.word.0.load(Ordering::Acquire), OURS);
        }
        drop(peer);
        assert!(FutexPeer::start(&[100_000]).is_err(), "a peer that cannot be placed");
    }
}
