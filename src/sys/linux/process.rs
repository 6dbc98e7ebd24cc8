//! Creating, replacing and reaping processes, with nothing of a runtime in between.

use std::ffi::CString;
use std::io;
use std::ptr::null;

use super::check;

/// A child that has not been reaped.
#[derive(Clone, Copy, Debug)]
pub struct Pid(libc::pid_t);

impl Pid {
    pub(super) fn from_raw(pid: libc::pid_t) -> Pid {
        Pid(pid)
    }
}

/// Forks a child whose only instruction is to exit with status 0.
#[inline]
pub fn fork_exiting() -> io::Result<Pid> {
    // SAFETY: the child calls nothing but _exit, which is async-signal-safe.
    match unsafe { libc::fork() } {
        // SAFETY: as above.
        0 => unsafe { libc::_exit(0) },
        pid => check(pid.into()).map(|_| Pid(pid)),
    }
}

/// Waits for the child; its exit status, or 128 and the signal that ended it.
#[inline]
pub fn reap(pid: Pid) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call; the pid is a child's that nobody else waits for.
        match check(unsafe { libc::waitpid(pid.0, &mut status, 0) }.into()) {
            Ok(_) if libc::WIFEXITED(status) => return Ok(libc::WEXITSTATUS(status)),
            Ok(_) => return Ok(128 + libc::WTERMSIG(status)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        }
    }
}

/// A program with its arguments and an empty environment, ready to be executed without allocation.
pub struct Executable {
    words: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl Executable {
    /// The first word is the path of the program; no search is done.
    pub fn new(words: &[&str]) -> io::Result<Executable> {
        let words: Vec<CString> =
            words.iter().map(|word| CString::new(*word)).collect::<Result<_, _>>()?;
        let pointers = words.iter().map(|word| word.as_ptr()).chain([null()]).collect();
        Ok(Executable { words, pointers })
    }

    /// The program and its arguments, for messages.
    pub fn words(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

/// Forks, and executes the program in the child, which exits with 127 if that fails.
#[inline]
pub fn fork_exec(program: &Executable) -> io::Result<Pid> {
    // SAFETY: the child calls only execve and _exit, both async-signal-safe.
    match unsafe { libc::fork() } {
        0 => become_program(program),
        pid => check(pid.into()).map(|_| Pid(pid)),
    }
}

fn become_program(program: &Executable) -> ! {
    let environment = [null()];
    let (path, words) = (program.words[0].as_ptr(), program.pointers.as_ptr());
    // SAFETY: the list of words was made before the fork, ends with a null and points into
    // strings that live on.
    unsafe {
        libc::execve(path, words, environment.as_ptr());
        libc::_exit(127)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_reaped_with_their_status() {
        assert_eq!(reap(fork_exiting().unwrap()).unwrap(), 0);
        let fails = Executable::new(&["/bin/sh", "-c", "exit 7"]).unwrap();
        assert_eq!(reap(fork_exec(&fails).unwrap()).unwrap(), 7);
        let missing = Executable::new(&["/no/such/program"]).unwrap();
        assert_eq!(reap(fork_exec(&missing).unwrap()).unwrap(), 127);
        let killed = Executable::new(&["/bin/sh", "-c", "kill -9 $$"]).unwrap();
        assert_eq!(reap(fork_exec(&killed).unwrap()).unwrap(), 128 + 9);
    }
}
