//! Open files. The code is the same on every system; what differs are the system's own calls,
//! which each system gives as a [`FileCalls`].
//!
//! Probes time these functions, so each is one call of the system and nothing else.

use std::io;

/// How reads and writes of an open file reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Through the cache.
    Buffered,
    /// Past the cache (`O_DIRECT`, `FILE_FLAG_NO_BUFFERING`): addresses, offsets and lengths have
    /// to be aligned.
    Direct,
    /// Through the cache, and durable when the write returns (`O_DSYNC`,
    /// `FILE_FLAG_WRITE_THROUGH`).
    Durable,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    Read,
    /// Writing to a file that exists.
    Write,
    /// Writing to a new file; an error when the name is taken.
    Create,
}

/// The calls of one system on files. Callers pass handles that they own and have not closed.
pub trait FileCalls {
    type Path;
    type Handle: Copy;

    fn open(path: &Self::Path, opening: Opening, access: Access) -> io::Result<Self::Handle>;
    fn close(file: Self::Handle) -> io::Result<()>;
    /// One read from the current position; returns how many bytes came, 0 at the end.
    fn read(file: Self::Handle, buffer: &mut [u8]) -> io::Result<usize>;
    /// One read at that offset; the current position does not matter.
    fn read_at(file: Self::Handle, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// One write at the current position; returns how many bytes were taken.
    fn write(file: Self::Handle, data: &[u8]) -> io::Result<usize>;
    fn write_at(file: Self::Handle, data: &[u8], offset: u64) -> io::Result<usize>;
    /// Moves the current position to the start.
    fn rewind(file: Self::Handle) -> io::Result<()>;
    /// Makes the data durable, and of the attributes what is needed to read the data.
    fn sync_data(file: Self::Handle) -> io::Result<()>;
    /// Makes data and attributes durable.
    fn sync_all(file: Self::Handle) -> io::Result<()>;
}

/// What is common to files that are open for reading and for writing.
struct OpenFile<C: FileCalls>(C::Handle);

impl<C: FileCalls> OpenFile<C> {
    #[inline]
    fn open(path: &C::Path, opening: Opening, access: Access) -> io::Result<Self> {
        C::open(path, opening, access).map(OpenFile)
    }

    #[inline]
    fn rewind(&self) -> io::Result<()> {
        C::rewind(self.0)
    }

    #[inline]
    fn close(self) -> io::Result<()> {
        let file = self.0;
        std::mem::forget(self);
        C::close(file)
    }
}

impl<C: FileCalls> Drop for OpenFile<C> {
    fn drop(&mut self) {
        let _ = C::close(self.0);
    }
}

/// A file that is open for reading. Closed by [`ReadFile::close`] or, unchecked, when dropped.
pub struct ReadFile<C: FileCalls>(OpenFile<C>);

impl<C: FileCalls> ReadFile<C> {
    #[inline]
    pub fn open(path: &C::Path) -> io::Result<Self> {
        OpenFile::open(path, Opening::Read, Access::Buffered).map(ReadFile)
    }

    #[inline]
    pub fn open_as(path: &C::Path, access: Access) -> io::Result<Self> {
        OpenFile::open(path, Opening::Read, access).map(ReadFile)
    }

    /// One read of up to the buffer's length, from where the last one ended.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        C::read(self.0.0, buffer)
    }

    /// One read of a single byte; an error if there is none.
    #[inline]
    pub fn read_byte(&self) -> io::Result<u8> {
        let mut byte = [0];
        match C::read(self.0.0, &mut byte)? {
            1 => Ok(byte[0]),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// One read at that offset, of up to the buffer's length; returns how many bytes came.
    #[inline]
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        C::read_at(self.0.0, buffer, offset)
    }

    /// Goes back to the start.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        self.0.rewind()
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        self.0.close()
    }
}

/// A file that is open for writing. Closed by [`WriteFile::close`] or, unchecked, when dropped.
pub struct WriteFile<C: FileCalls>(OpenFile<C>);

impl<C: FileCalls> WriteFile<C> {
    /// Creates the file; an error if it exists.
    #[inline]
    pub fn create(path: &C::Path) -> io::Result<Self> {
        OpenFile::open(path, Opening::Create, Access::Buffered).map(WriteFile)
    }

    /// Creates the file; an error if it exists.
    #[inline]
    pub fn create_as(path: &C::Path, access: Access) -> io::Result<Self> {
        OpenFile::open(path, Opening::Create, access).map(WriteFile)
    }

    /// Opens an existing file and leaves it unchanged.
    #[inline]
    pub fn open(path: &C::Path) -> io::Result<Self> {
        OpenFile::open(path, Opening::Write, Access::Buffered).map(WriteFile)
    }

    /// Opens an existing file and leaves it unchanged.
    #[inline]
    pub fn open_as(path: &C::Path, access: Access) -> io::Result<Self> {
        OpenFile::open(path, Opening::Write, access).map(WriteFile)
    }

    /// One write from where the last one ended; returns how many bytes were taken.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        C::write(self.0.0, data)
    }

    /// One write at that offset; returns how many bytes were taken.
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        C::write_at(self.0.0, data, offset)
    }

    /// One write of a single byte.
    #[inline]
    pub fn write_byte(&self) -> io::Result<()> {
        match C::write(self.0.0, b"x")? {
            1 => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Makes the data durable, and of the attributes what is needed to read the data.
    #[inline]
    pub fn sync_data(&self) -> io::Result<()> {
        C::sync_data(self.0.0)
    }

    /// Makes data and attributes durable.
    #[inline]
    pub fn sync_all(&self) -> io::Result<()> {
        C::sync_all(self.0.0)
    }

    /// Goes back to the start: the next write replaces what is there.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        self.0.rewind()
    }

    #[inline]
    pub fn close(self) -> io::Result<()> {
        self.0.close()
    }
}
