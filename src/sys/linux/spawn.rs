//! Starts a program without a copy of this process.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null;

use super::check;
use super::process::{Executable, Pid, become_program};

/// Bytes of the child's stack until it has executed the program: it makes one call.
const STACK: usize = 16 << 10;

/// The stack that the child of [`Spawner::vfork_exec`] uses while this process waits.
pub struct Spawner {
    // Words of 16 bytes, to which stacks are aligned.
    stack: Vec<u128>,
}

extern "C" fn execute(program: *mut c_void) -> libc::c_int {
    // SAFETY: the caller of clone waits, with the program borrowed, until this has executed it.
    become_program(unsafe { &*program.cast::<Executable>() })
}

impl Spawner {
    pub fn new() -> Spawner {
        Spawner { stack: vec![0; STACK / size_of::<u128>()] }
    }

    /// As `vfork` and `execve`: the child shares this process's memory, and this process waits
    /// until the child has executed the program. The child exits with 127 if that fails.
    #[inline]
    pub fn vfork_exec(&mut self, program: &Executable) -> io::Result<Pid> {
        let top = self.stack.as_mut_ptr_range().end.cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let program = (&raw const *program).cast_mut().cast();
        // SAFETY: the child runs on a stack of its own and calls only execve and _exit; what it
        // borrows stays where it is, because this process waits for it.
        let pid = unsafe { libc::clone(execute, top, flags, program) };
        check(pid.into()).map(|_| Pid::from_raw(pid))
    }
}

/// The C library's `posix_spawn` without any attribute; an error when the program cannot be
/// executed.
#[inline]
pub fn posix_spawn(program: &Executable) -> io::Result<Pid> {
    let environment = [null::<libc::c_char>().cast_mut()];
    let mut pid = MaybeUninit::uninit();
    // SAFETY: path, words and environment are valid and end with a null; the call writes to none of
    // them, in spite of its types.
    let error = unsafe {
        libc::posix_spawn(
            pid.as_mut_ptr(),
            program.path(),
            null(),
            null(),
            program.pointers().cast(),
            environment.as_ptr(),
        )
    };
    match error {
        // SAFETY: success means that the id was written.
        0 => Ok(Pid::from_raw(unsafe { pid.assume_init() })),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reap;
    use super::*;

    #[test]
    fn both_ways_start_the_program_with_its_words() {
        let mut spawner = Spawner::new();
        let program = Executable::new(&["/bin/sh", "-c", "exit 7"]).unwrap();
        assert_eq!(reap(spawner.vfork_exec(&program).unwrap()).unwrap(), 7);
        assert_eq!(reap(posix_spawn(&program).unwrap()).unwrap(), 7);
    }

    #[test]
    fn what_cannot_be_executed_is_told() {
        let missing = Executable::new(&["/no/such/program"]).unwrap();
        assert_eq!(reap(Spawner::new().vfork_exec(&missing).unwrap()).unwrap(), 127);
        assert_eq!(posix_spawn(&missing).unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }
}
