//! System calls without a C library in between.
//!
//! Probes of single calls are made this way: musl's wrappers cost up to 5 % of a cheap call
//! (variable arguments, cancellation points, conversions), glibc's nearly nothing, and the wrappers
//! are not what is to be measured.

use std::io;
use std::os::fd::RawFd;

/// Makes the call with four arguments, of which it takes as many as it has.
///
/// # Safety
/// The arguments must be what the call expects, with pointers that are valid for it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn call(number: libc::c_long, args: [usize; 4]) -> io::Result<usize> {
    let result: isize;
    // SAFETY: the instruction changes the result, rcx and r11, and the memory the call is given,
    // for which the caller answers.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    checked(result)
}

/// As on x86-64.
///
/// # Safety
/// The arguments must be what the call expects, with pointers that are valid for it.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub unsafe fn call(number: libc::c_long, args: [usize; 4]) -> io::Result<usize> {
    let result: isize;
    // SAFETY: the instruction changes x0 and the memory the call is given, for which the caller
    // answers.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => result,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            options(nostack),
        );
    }
    checked(result)
}

/// One `read` of a single byte; an error also when there is none.
#[inline(always)]
pub fn read_byte(fd: RawFd) -> io::Result<u8> {
    let mut byte = 0u8;
    let arguments = [fd as usize, &raw mut byte as usize, 1, 0];
    // SAFETY: the buffer is one byte.
    match unsafe { call(libc::SYS_read, arguments) }? {
        1 => Ok(byte),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// One `write` of a single byte.
#[inline(always)]
pub fn write_byte(fd: RawFd, byte: u8) -> io::Result<()> {
    let arguments = [fd as usize, &raw const byte as usize, 1, 0];
    // SAFETY: the buffer is one byte.
    match unsafe { call(libc::SYS_write, arguments) }? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// One `read` of up to the buffer's length; how many bytes came.
#[inline(always)]
pub fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    let arguments = [fd as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0];
    // SAFETY: the buffer is valid for writing all of its length.
    unsafe { call(libc::SYS_read, arguments) }
}

/// One `write` of up to all bytes; how many were taken.
#[inline(always)]
pub fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let arguments = [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0];
    // SAFETY: the bytes are valid for reading all of their length.
    unsafe { call(libc::SYS_write, arguments) }
}

/// The kernel answers an error as its negative number, from -4095 on.
#[inline(always)]
fn checked(result: isize) -> io::Result<usize> {
    match result {
        -4095..=-1 => Err(io::Error::from_raw_os_error(-result as i32)),
        _ => Ok(result as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_come_back() {
        // SAFETY: neither call takes a pointer; no process has that descriptor.
        let (parent, closed) = unsafe {
            (call(libc::SYS_getppid, [0; 4]), call(libc::SYS_close, [usize::MAX, 0, 0, 0]))
        };
        assert_eq!(parent.unwrap(), std::os::unix::process::parent_id() as usize);
        assert_eq!(closed.unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
