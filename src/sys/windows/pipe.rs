//! Pipes.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::System::Pipes::CreatePipe;

use super::check;
use super::file::{read, write};

/// Bytes that a pipe holds: as many as on Linux.
const HOLDS: u32 = 64 << 10;

/// The end for reading and the end for writing.
pub fn pipe() -> io::Result<(File, File)> {
    let (mut reads, mut writes) = (null_mut(), null_mut());
    // SAFETY: both handles live through the call; on success they are owned by nobody else.
    unsafe {
        check(CreatePipe(&mut reads, &mut writes, null(), HOLDS))?;
        Ok((File::from_raw_handle(reads), File::from_raw_handle(writes)))
    }
}

/// A pipe of which this process has both ends. Blocks that would wait are cut to what it holds.
pub struct OwnPipe {
    reads: File,
    writes: File,
}

impl OwnPipe {
    pub fn open() -> io::Result<OwnPipe> {
        let (reads, writes) = pipe()?;
        Ok(OwnPipe { reads, writes })
    }

    /// One `WriteFile`; returns how many bytes the pipe took, if it was empty before.
    #[inline]
    pub fn write(&self, block: &[u8]) -> io::Result<usize> {
        let most = block.len().min(HOLDS as usize);
        write(self.writes.as_raw_handle(), &block[..most], null_mut())
    }

    /// One `ReadFile`; how many bytes came. Waits when the pipe is empty.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.reads.as_raw_handle(), buffer, null_mut())
    }
}
