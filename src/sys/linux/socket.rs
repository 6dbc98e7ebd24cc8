//! Pairs of connected sockets.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Duration;

use super::check;

/// Loopback answers at once; a firewall that swallows packets never does.
const CONNECTED_AFTER: Duration = Duration::from_secs(2);

/// Two Unix stream sockets, connected to each other.
pub(super) fn unix_pair() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }.into())?;
    // SAFETY: both descriptors are new and owned by nobody else.
    Ok(unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

/// The two ends of a TCP connection on 127.0.0.1 that sends every byte at once (TCP_NODELAY).
pub struct TcpPair {
    pub(super) ours: File,
    pub(super) theirs: File,
}

impl TcpPair {
    /// Connects to a port that the system chooses. Errors say that there is no loopback here.
    pub fn connect() -> io::Result<TcpPair> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let ours = TcpStream::connect_timeout(&listener.local_addr()?, CONNECTED_AFTER)?;
        let (theirs, from) = listener.accept()?;
        if from != ours.local_addr()? {
            return Err(io::Error::other("another program connected to the probe's port"));
        }
        for end in [&ours, &theirs] {
            end.set_nodelay(true)?;
        }
        let [ours, theirs] = [ours, theirs].map(|end| File::from(OwnedFd::from(end)));
        Ok(TcpPair { ours, theirs })
    }
}
