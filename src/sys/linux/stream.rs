//! Going back to the start of an open file.

use std::io;
use std::os::fd::RawFd;

use super::file::{ReadFile, WriteFile};
use super::raw;

impl ReadFile {
    /// Goes back to the start.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        rewind(self.0)
    }
}

impl WriteFile {
    /// Goes back to the start: what is there is overwritten.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        rewind(self.0)
    }
}

#[inline]
fn rewind(fd: RawFd) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    unsafe { raw::call(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_SET as usize, 0]) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::file::FilePath;
    use super::*;

    #[test]
    fn a_file_is_written_and_read_from_its_start_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = FilePath::new(&dir.path().join("f")).unwrap();
        let to = WriteFile::create(&path).unwrap();
        assert_eq!(to.write(b"first").unwrap(), 5);
        to.rewind().unwrap();
        assert_eq!(to.write(b"b").unwrap(), 1);
        let from = ReadFile::open(&path).unwrap();
        let mut buffer = [0; 8];
        for _ in 0..2 {
            assert_eq!(from.read(&mut buffer).unwrap(), 5);
            assert_eq!(&buffer[..5], b"birst");
            assert_eq!(from.read(&mut buffer).unwrap(), 0);
            from.rewind().unwrap();
        }
    }
}
