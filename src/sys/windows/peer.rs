//! A second process with which this one exchanges something: this binary once more, because Windows
//! has no fork.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Console::{GetStdHandle, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE};

use super::console::no_window;
use super::file::{read, write};
use super::pipe::pipe;
use super::process::PEER_VERB;
use super::{bystander, library_host, not_here, pin_to, process_tree};

/// Time for a peer to connect: loopback answers at once, but the process has to start first.
const CONNECTED_AFTER: Duration = Duration::from_secs(10);

/// A started peer. It ends when its channel closes, and is killed when this is dropped.
struct Peer(Child);

impl Peer {
    fn start(work: &str, cpus: &[usize], from: Stdio, to: Stdio) -> io::Result<Peer> {
        let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let mut command = Command::new(env::current_exe()?);
        command
            .args([PEER_VERB, work, &cpus.join(",")])
            .stdin(from)
            .stdout(to)
            .stderr(Stdio::null());
        command.creation_flags(no_window()).spawn().map(Peer)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// If this process was started as a peer, does its work until the channel closes and returns the
/// exit status.
pub fn run_as_peer() -> Option<u8> {
    let words: Vec<String> = env::args_os().filter_map(|word| word.into_string().ok()).collect();
    let [_, verb, work, cpus] = words.as_slice() else { return None };
    (verb == PEER_VERB).then(|| u8::from(work_on(work, cpus).is_err()))
}

fn work_on(work: &str, cpus: &str) -> io::Result<()> {
    let cpus: Vec<usize> = cpus.split(',').filter_map(|cpu| cpu.parse().ok()).collect();
    if !cpus.is_empty() {
        pin_to(&cpus)?;
    }
    match work.split_once(':') {
        None if work == "echo" => echo(&standard(STD_INPUT_HANDLE), &standard(STD_OUTPUT_HANDLE)),
        None if work == "write" => write_on(),
        Some((process_tree::ROLE, words)) => process_tree::be_member(words),
        Some((bystander::ROLE, words)) => bystander::stand_by(words, &cpus),
        Some((library_host::ROLE, paths)) => {
            library_host::load(paths, &standard(STD_OUTPUT_HANDLE))
        }
        Some(("tcp", port)) => {
            let port = port.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_nodelay(true)?;
            let mut byte = [0];
            while stream.read(&mut byte)? == 1 {
                stream.write_all(&byte)?;
            }
            Ok(())
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// A standard handle, without the buffers of the library.
fn standard(which: u32) -> File {
    // SAFETY: the handle is there for the whole life of this process, and nothing else uses it.
    unsafe { File::from_raw_handle(GetStdHandle(which)) }
}

fn echo(from: &File, to: &File) -> io::Result<()> {
    let mut byte = [0];
    while read(from.as_raw_handle(), &mut byte, null_mut())? == 1 {
        write(to.as_raw_handle(), &byte, null_mut())?;
    }
    Ok(())
}

/// Reads the block, and writes it again and again.
fn write_on() -> io::Result<()> {
    let mut block = Vec::new();
    standard(STD_INPUT_HANDLE).read_to_end(&mut block)?;
    let to = standard(STD_OUTPUT_HANDLE);
    loop {
        let mut rest = &block[..];
        while !rest.is_empty() {
            rest = &rest[write(to.as_raw_handle(), rest, null_mut())?..];
        }
    }
}

/// A process that sends every byte it receives straight back.
pub struct EchoPeer {
    channel: Channel,
    _peer: Peer,
}

enum Channel {
    Pipes { to_peer: File, from_peer: File },
    Stream(TcpStream),
}

impl EchoPeer {
    /// Starts the peer behind two pipes, lets it run on `cpus` only when some are given, and
    /// exchanges one byte with it, so that it is known to be up before any clock is read.
    pub fn start(cpus: &[usize]) -> io::Result<EchoPeer> {
        let (peer_reads, to_peer) = pipe()?;
        let (from_peer, peer_writes) = pipe()?;
        let peer = Peer::start("echo", cpus, peer_reads.into(), peer_writes.into())?;
        EchoPeer { channel: Channel::Pipes { to_peer, from_peer }, _peer: peer }.greeted(cpus)
    }

    pub fn start_behind_unix_socket(_cpus: &[usize]) -> io::Result<EchoPeer> {
        not_here("Windows has no pairs of Unix sockets")
    }

    /// As [`EchoPeer::start`], behind a TCP connection.
    pub fn start_behind_tcp(connection: TcpPair, cpus: &[usize]) -> io::Result<EchoPeer> {
        let listener = connection.0;
        let work = format!("tcp:{}", listener.local_addr()?.port());
        let peer = Peer::start(&work, cpus, Stdio::null(), Stdio::null())?;
        let stream = accept(&listener)?;
        stream.set_nodelay(true)?;
        EchoPeer { channel: Channel::Stream(stream), _peer: peer }.greeted(cpus)
    }

    fn greeted(mut self, cpus: &[usize]) -> io::Result<EchoPeer> {
        match self.round_trip() {
            Ok(()) => Ok(self),
            Err(_) => Err(io::Error::other(format!("it cannot run on the CPUs {cpus:?}"))),
        }
    }

    /// One byte there and back.
    #[inline]
    pub fn round_trip(&mut self) -> io::Result<()> {
        let mut byte = [0x55];
        let came = match &mut self.channel {
            Channel::Pipes { to_peer, from_peer } => {
                write(to_peer.as_raw_handle(), &byte, null_mut())?;
                read(from_peer.as_raw_handle(), &mut byte, null_mut())?
            }
            Channel::Stream(stream) => {
                stream.write_all(&byte)?;
                stream.read(&mut byte)?
            }
        };
        if came == 1 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Waits for the peer to connect, with a time limit.
fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    let until = Instant::now() + CONNECTED_AFTER;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
}

/// A port on 127.0.0.1 for a connection that sends every byte at once (TCP_NODELAY).
pub struct TcpPair(TcpListener);

impl TcpPair {
    /// Listens, and sees that a connection can be made. Errors say that there is no loopback here.
    pub fn connect() -> io::Result<TcpPair> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let ours = TcpStream::connect_timeout(&listener.local_addr()?, CONNECTED_AFTER)?;
        let (_, from) = listener.accept()?;
        match from == ours.local_addr()? {
            true => Ok(TcpPair(listener)),
            false => Err(io::Error::other("another program connected to the probe's port")),
        }
    }
}

/// A process that writes the same block into a pipe again and again, and waits whenever the pipe is
/// full. It ends when the pipe closes.
pub struct WriterPeer {
    reads: File,
    _peer: Peer,
}

impl WriterPeer {
    /// Starts it, and lets it run on `cpus` only when some are given.
    pub fn start(cpus: &[usize], block: &[u8]) -> io::Result<WriterPeer> {
        let (reads, writes) = pipe()?;
        let (peer_reads, mut sends) = pipe()?;
        let peer = Peer::start("write", cpus, peer_reads.into(), writes.into())?;
        sends.write_all(block)?;
        Ok(WriterPeer { reads, _peer: peer })
    }

    /// One `ReadFile`; how many bytes came. Zero when the peer is gone.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.reads.as_raw_handle(), buffer, null_mut())
    }
}

/// Two processes that take turns through a word in shared memory: not possible on Windows.
pub enum FutexPeer {}

impl FutexPeer {
    pub fn start(_cpus: &[usize]) -> io::Result<FutexPeer> {
        not_here("Windows has no futex that two processes share")
    }

    pub fn round_trip(&mut self) -> io::Result<()> {
        match *self {}
    }
}

/// A peer whose answers are waited for with epoll: Windows has no epoll.
pub enum PolledPeer {}

impl PolledPeer {
    pub fn start(_cpus: &[usize]) -> io::Result<PolledPeer> {
        not_here("Windows has no epoll")
    }

    pub fn round_trip(&mut self) -> io::Result<()> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_peer_is_one() {
        assert_eq!(run_as_peer(), None);
        assert!(work_on("nothing", "").is_err());
    }
}
