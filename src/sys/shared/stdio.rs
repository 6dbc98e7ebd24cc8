//! Files that are open in the C library (`stdio.h`), which has the same calls on every system.
//!
//! Probes time these functions, so each is one call of the library and nothing else.

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::NonNull;

unsafe extern "C" {
    fn fread(data: *mut c_void, size: usize, count: usize, file: *mut c_void) -> usize;
    fn fwrite(data: *const c_void, size: usize, count: usize, file: *mut c_void) -> usize;
    fn ferror(file: *mut c_void) -> c_int;
    fn fclose(file: *mut c_void) -> c_int;
}

/// A file with the buffer that the library takes by itself. Closed by [`StdioFile::close`] or,
/// unchecked, when dropped.
pub struct StdioFile(NonNull<c_void>);

impl StdioFile {
    /// Takes what `fopen` returned.
    ///
    /// # Safety
    /// It is null, or a file that is open and that nobody else closes.
    #[inline]
    pub unsafe fn opened(file: *mut c_void) -> io::Result<StdioFile> {
        NonNull::new(file).map(StdioFile).ok_or_else(io::Error::last_os_error)
    }

    /// One `fread` of the whole buffer; an error if the file has less or cannot be read.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        // SAFETY: the buffer is valid for writing all of its length, and the file is open.
        let read = unsafe { fread(buffer.as_mut_ptr().cast(), buffer.len(), 1, self.0.as_ptr()) };
        if read == 1 { Ok(()) } else { Err(self.read_error()) }
    }

    /// Why the last `fread` gave less than was wanted.
    #[cold]
    fn read_error(&self) -> io::Error {
        let error = io::Error::last_os_error();
        // SAFETY: the file is open.
        match unsafe { ferror(self.0.as_ptr()) } {
            0 => io::ErrorKind::UnexpectedEof.into(),
            _ => error,
        }
    }

    /// One `fwrite` of all of the data.
    #[inline]
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        // SAFETY: the data is valid for reading all of its length, and the file is open.
        let written = unsafe { fwrite(data.as_ptr().cast(), data.len(), 1, self.0.as_ptr()) };
        if written == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// One `fclose`, which writes what is still in the buffer.
    #[inline]
    pub fn close(self) -> io::Result<()> {
        let file = self.0;
        std::mem::forget(self);
        // SAFETY: the file is open, and nothing uses it after this.
        if unsafe { fclose(file.as_ptr()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for StdioFile {
    fn drop(&mut self) {
        // SAFETY: the file is open, and nothing uses it after this.
        unsafe { fclose(self.0.as_ptr()) };
    }
}
