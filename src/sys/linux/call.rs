//! System calls that every kernel answers from memory, made by their numbers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::pipe::pipe;
use super::raw;

/// A descriptor without a file: the reading end of a pipe whose other end is closed.
pub struct IdleDescriptor(File);

impl IdleDescriptor {
    pub fn open() -> io::Result<IdleDescriptor> {
        Ok(IdleDescriptor(pipe()?.0))
    }

    /// `dup` of it, and `close` of the duplicate.
    #[inline]
    pub fn duplicate_and_close(&self) -> io::Result<()> {
        // SAFETY: no call takes a pointer; the descriptor that is closed was made for that.
        unsafe {
            let duplicate = raw::call(libc::SYS_dup, [self.0.as_raw_fd() as usize, 0, 0, 0])?;
            raw::call(libc::SYS_close, [duplicate, 0, 0, 0]).map(drop)
        }
    }
}

/// The ids of this process and of its user, by one call each.
#[inline]
pub fn own_ids() -> io::Result<(usize, usize)> {
    // SAFETY: neither call takes an argument.
    unsafe { Ok((raw::call(libc::SYS_getpid, [0; 4])?, raw::call(libc::SYS_getuid, [0; 4])?)) }
}

/// The file mode mask of this process (umask). Restored when dropped.
pub struct FileMask {
    mask: usize,
    before: usize,
}

impl FileMask {
    pub fn set(mask: u16) -> io::Result<FileMask> {
        let mask = mask.into();
        Ok(FileMask { mask, before: umask(mask)? })
    }

    /// Sets the same mask again; an error if another mask was set.
    #[inline]
    pub fn set_again(&self) -> io::Result<()> {
        match umask(self.mask)? {
            before if before == self.mask => Ok(()),
            _ => Err(io::Error::other("umask does not return the mask that was set before")),
        }
    }
}

impl Drop for FileMask {
    fn drop(&mut self) {
        let _ = umask(self.before);
    }
}

#[inline]
fn umask(mask: usize) -> io::Result<usize> {
    // SAFETY: the call takes a number only.
    unsafe { raw::call(libc::SYS_umask, [mask, 0, 0, 0]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_gone_and_ids_are_right() {
        let descriptor = IdleDescriptor::open().unwrap();
        // More descriptors than any limit under which tests run.
        for _ in 0..100_000 {
            descriptor.duplicate_and_close().unwrap();
        }
        let (process, user) = own_ids().unwrap();
        assert_eq!(process, std::process::id() as usize);
        // SAFETY: the call takes no argument.
        assert_eq!(user, unsafe { libc::getuid() } as usize);
    }
}
