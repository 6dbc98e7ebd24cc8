//! Pipes.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

use super::{check, raw};

/// A pipe of which this process has both ends, neither of which ever waits.
pub struct OwnPipe {
    reads: File,
    writes: File,
}

impl OwnPipe {
    pub fn open() -> io::Result<OwnPipe> {
        let (reads, writes) = pipe_with(libc::O_CLOEXEC | libc::O_NONBLOCK)?;
        Ok(OwnPipe { reads, writes })
    }

    /// One `write`; how many bytes the pipe took. An error when it is full.
    #[inline]
    pub fn write(&self, block: &[u8]) -> io::Result<usize> {
        raw::write(self.writes.as_raw_fd(), block)
    }

    /// One `read`; how many bytes came. An error when it is empty.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        raw::read(self.reads.as_raw_fd(), buffer)
    }
}

/// The end for reading and the end for writing.
pub fn pipe() -> io::Result<(File, File)> {
    pipe_with(libc::O_CLOEXEC)
}

fn pipe_with(flags: libc::c_int) -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), flags) }.into())?;
    // SAFETY: both descriptors are new and owned by nobody else.
    Ok(unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_pipe_never_waits() {
        let pipe = OwnPipe::open().unwrap();
        let mut buffer = [0; 8];
        assert_eq!(pipe.read(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(pipe.write(b"abc").unwrap(), 3);
        assert_eq!(pipe.read(&mut buffer).unwrap(), 3);
        assert_eq!(&buffer[..3], b"abc");
        while pipe.write(&[0; 4096]).is_ok() {}
    }
}
