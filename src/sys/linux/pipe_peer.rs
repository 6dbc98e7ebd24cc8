//! Peers: forked processes at the other end of pipes and sockets, which echo bytes or write blocks.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::peer::Peer;
use super::pipe::pipe;
use super::raw;
use super::socket::{TcpPair, unix_pair};

/// A forked process that sends every byte it receives straight back.
///
/// It ends by itself when the other end of its channel closes, so it is gone also when this process
/// is killed.
pub struct EchoPeer {
    to_peer: File,
    from_peer: File,
    _peer: Peer,
}

impl EchoPeer {
    /// Starts the peer behind two pipes, lets it run on `cpus` only when some are given, and
    /// exchanges one byte with it, so that it is known to be up before any clock is read.
    pub fn start(cpus: &[usize]) -> io::Result<EchoPeer> {
        let (peer_reads, we_write) = pipe()?;
        let (we_read, peer_writes) = pipe()?;
        EchoPeer::behind([we_write, we_read], [peer_reads, peer_writes], cpus)
    }

    /// As [`EchoPeer::start`], behind a pair of Unix stream sockets.
    pub fn start_behind_unix_socket(cpus: &[usize]) -> io::Result<EchoPeer> {
        let (ours, theirs) = unix_pair()?;
        EchoPeer::behind([ours.try_clone()?, ours], [theirs.try_clone()?, theirs], cpus)
    }

    /// As [`EchoPeer::start`], behind a TCP connection.
    pub fn start_behind_tcp(connection: TcpPair, cpus: &[usize]) -> io::Result<EchoPeer> {
        let TcpPair { ours, theirs } = connection;
        EchoPeer::behind([ours.try_clone()?, ours], [theirs.try_clone()?, theirs], cpus)
    }

    /// `ours` are the ends for writing and for reading, `theirs` the peer's for reading and for
    /// writing.
    fn behind(ours: [File; 2], theirs: [File; 2], cpus: &[usize]) -> io::Result<EchoPeer> {
        let fds = ours.each_ref().map(File::as_raw_fd);
        let [from, to] = theirs;
        // SAFETY: the peer reads, writes and closes, all async-signal-safe.
        let peer = unsafe { Peer::fork(cpus, &fds, move || echo(from, to)) }?;
        let [to_peer, from_peer] = ours;
        let mut echo = EchoPeer { to_peer, from_peer, _peer: peer };
        echo.round_trip()?;
        Ok(echo)
    }

    /// One byte there and back.
    #[inline]
    pub fn round_trip(&mut self) -> io::Result<()> {
        self.send()?;
        self.receive()
    }

    #[inline]
    pub(super) fn send(&mut self) -> io::Result<()> {
        raw::write_byte(self.to_peer.as_raw_fd(), 0x55)
    }

    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<()> {
        raw::read_byte(self.from_peer.as_raw_fd()).map(drop)
    }

    /// The descriptor from which the answer can be read.
    pub(super) fn answers_on(&self) -> RawFd {
        self.from_peer.as_raw_fd()
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

/// A forked process that writes the same block into a pipe again and again, and waits whenever the
/// pipe is full. It ends when the pipe closes.
pub struct WriterPeer {
    reads: File,
    _peer: Peer,
}

impl WriterPeer {
    /// Starts it, and lets it run on `cpus` only when some are given.
    pub fn start(cpus: &[usize], block: &[u8]) -> io::Result<WriterPeer> {
        let (reads, writes) = pipe()?;
        let ours = [reads.as_raw_fd()];
        // SAFETY: the peer writes and closes, both async-signal-safe.
        let peer = unsafe { Peer::fork(cpus, &ours, move || write_on(&writes, block)) }?;
        Ok(WriterPeer { reads, _peer: peer })
    }

    /// One `read`; how many bytes came. Zero when the peer is gone.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        raw::read(self.reads.as_raw_fd(), buffer)
    }
}

fn write_on(to: &File, block: &[u8]) -> i32 {
    let mut rest = block;
    while let Ok(written) = raw::write(to.as_raw_fd(), rest) {
        rest = &rest[written..];
        if rest.is_empty() {
            rest = block;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_answers_and_ends() {
        let over_tcp = |cpus: &[usize]| EchoPeer::start_behind_tcp(TcpPair::connect()?, cpus);
        for start in [EchoPeer::start, EchoPeer::start_behind_unix_socket, over_tcp] {
            let mut peer = start(&[]).unwrap();
            for _ in 0..100 {
                peer.round_trip().unwrap();
            }
            drop(peer);
            assert!(start(&[100_000]).is_err(), "a peer that cannot be placed is an error");
        }
    }

    #[test]
    fn a_writer_writes_whole_blocks_in_order() {
        let block: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        let peer = WriterPeer::start(&[], &block).unwrap();
        let mut seen = Vec::new();
        let mut buffer = [0; 7000];
        while seen.len() < 3 * block.len() {
            let read = peer.read(&mut buffer).unwrap();
            seen.extend_from_slice(&buffer[..read]);
        }
        assert!(seen.chunks(block.len()).all(|part| part == &block[..part.len()]));
    }
}
