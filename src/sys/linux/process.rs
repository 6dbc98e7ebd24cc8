//! Creates, replaces and reaps processes by system calls alone.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null;

use super::super::shared::types::Console;
use super::check;

/// A program that does nothing, with its dynamic linker and C library.
pub const DYNAMIC_PROGRAM: Option<&str> = Some("/bin/true");
/// Whether [`fork_exec_group`] can start shell scripts.
pub const HAS_UNIX_SHELL: bool = true;
/// A shell that does nothing.
pub const SHELL_PROGRAM: &[&str] = &["/bin/sh", "-c", ":"];

/// A child that has not been reaped.
#[derive(Clone, Copy, Debug)]
pub struct Pid(libc::pid_t);

impl Pid {
    pub(super) fn from_raw(pid: libc::pid_t) -> Pid {
        Pid(pid)
    }

    /// Whether the process has ended; it still has to be reaped.
    pub(super) fn has_ended(self) -> bool {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the buffer is a whole siginfo_t; all zeroes, which the call leaves when the
        // child runs on, is a valid one.
        unsafe {
            let result = libc::waitid(libc::P_PID, self.0 as libc::id_t, info.as_mut_ptr(), flags);
            result < 0 || info.assume_init().si_pid() != 0
        }
    }

    /// Kills the process; it still has to be reaped.
    pub(super) fn kill(self) {
        // SAFETY: sends a signal to a child that nobody has reaped: the id is still its own.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    #[cfg(test)]
    pub(super) fn as_raw(self) -> libc::pid_t {
        self.0
    }

    /// Stops the process, and returns when it has stopped.
    #[cfg(test)]
    pub(super) fn stop(self) -> io::Result<()> {
        // SAFETY: as in `kill`; no status is asked for.
        let stopped = unsafe {
            libc::kill(self.0, libc::SIGSTOP);
            libc::waitpid(self.0, std::ptr::null_mut(), libc::WUNTRACED)
        };
        check(stopped.into()).map(drop)
    }

    /// Continues a stopped process.
    #[cfg(test)]
    pub(super) fn go_on(self) {
        // SAFETY: as in `kill`.
        unsafe { libc::kill(self.0, libc::SIGCONT) };
    }
}

/// Forks a child that only exits, with status 0.
#[inline]
pub fn fork_exiting() -> io::Result<Pid> {
    // SAFETY: the child calls nothing but _exit, which is async-signal-safe.
    match unsafe { libc::fork() } {
        // SAFETY: as above.
        0 => unsafe { libc::_exit(0) },
        pid => check(pid.into()).map(|_| Pid(pid)),
    }
}

/// Waits for the child; returns its exit status, or 128 and the signal that ended it.
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

/// A program with its arguments and environment, prepared so that executing it allocates nothing.
pub struct Executable {
    words: Strings,
    environment: Strings,
}

/// Strings in the form that system calls take: a pointer to each, and a null.
struct Strings {
    texts: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl Strings {
    fn new(texts: &[&str]) -> io::Result<Strings> {
        let texts: Vec<CString> =
            texts.iter().map(|text| CString::new(*text)).collect::<Result<_, _>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([null()]).collect();
        Ok(Strings { texts, pointers })
    }
}

impl Executable {
    /// The first word is the path of the program; no search is done. The environment is empty.
    pub fn new(words: &[&str]) -> io::Result<Executable> {
        Ok(Executable { words: Strings::new(words)?, environment: Strings::new(&[])? })
    }

    /// The same program with these variables, `NAME=VALUE`.
    pub fn with_environment(self, variables: &[&str]) -> io::Result<Executable> {
        Ok(Executable { environment: Strings::new(variables)?, ..self })
    }

    /// The program and its arguments, for messages.
    pub fn words(&self) -> String {
        let words: Vec<_> = self.words.texts.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    pub(super) fn path(&self) -> *const libc::c_char {
        self.words.texts[0].as_ptr()
    }

    /// The words, with a null at their end.
    pub(super) fn pointers(&self) -> *const *const libc::c_char {
        self.words.pointers.as_ptr()
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

/// As [`fork_exec`]; an error for a console of its own, which programs have on Windows only.
#[inline]
pub fn fork_exec_with(program: &Executable, console: Console) -> io::Result<Pid> {
    match console {
        Console::Attached => fork_exec(program),
        Console::Detached | Console::Hidden => {
            let text = "programs have consoles of their own on Windows only";
            Err(io::Error::new(io::ErrorKind::Unsupported, text))
        }
    }
}

/// An error: a process that has not begun exists on Windows only.
pub fn create_suspended(_program: &Executable) -> io::Result<()> {
    let text = "processes are created without being started on Windows only";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// As [`fork_exec`], with the child as leader of a process group of its own. The child receives
/// SIGTERM when this process dies, and has to pass it on to its group if it starts others.
#[inline]
pub fn fork_exec_group(program: &Executable) -> io::Result<Pid> {
    // SAFETY: cannot fail and touches nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: the child calls only async-signal-safe functions. Where it may not lead a group or be
    // told of the parent's death (some emulators), it runs on without.
    match unsafe { libc::fork() } {
        // SAFETY: as above.
        0 => unsafe {
            libc::setpgid(0, 0);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::getppid() != parent {
                // The parent died before it could be watched.
                libc::_exit(127)
            }
            become_program(program)
        },
        pid => check(pid.into()).map(|_| Pid(pid)),
    }
}

/// Executes the program, or exits with 127.
pub(super) fn become_program(program: &Executable) -> ! {
    let (path, words) = (program.path(), program.pointers());
    let environment = &program.environment.pointers;
    // SAFETY: both lists were made before the fork, end with a null and point into strings that
    // live on.
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

    #[test]
    fn a_program_gets_its_environment() {
        let shell = |variables: &[&str]| {
            let program = Executable::new(&["/bin/sh", "-c", "exit $STATUS"]).unwrap();
            reap(fork_exec(&program.with_environment(variables).unwrap()).unwrap()).unwrap()
        };
        assert_eq!(shell(&["A=1", "STATUS=9"]), 9);
        assert_eq!(shell(&[]), 0);
    }

    #[test]
    fn a_group_hears_of_the_death_of_its_parent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid").to_str().unwrap().to_owned();
        let script = "trap 'kill -9 0' TERM; sleep 100 & echo $$ >$0.new; mv $0.new $0; wait";
        let words = ["/bin/sh", "-c", script, &file];
        let program = Executable::new(&words).unwrap();
        let program = program.with_environment(&["PATH=/usr/bin:/bin"]).unwrap();
        // SAFETY: the child forks another, whose calls are async-signal-safe, and waits.
        let parent = match unsafe { libc::fork() } {
            0 => {
                let _ = fork_exec_group(&program);
                loop {
                    // SAFETY: waits for a signal.
                    unsafe { libc::pause() };
                }
            }
            pid => pid,
        };
        let soon = |condition: &dyn Fn() -> bool| {
            let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
            while !condition() {
                assert!(std::time::Instant::now() < until, "still not after 5 s");
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        };
        soon(&|| std::path::Path::new(&file).exists());
        let group: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        assert!(super::super::group_exists(group));
        // SAFETY: the child made above, which nobody else waits for.
        unsafe { libc::kill(parent, libc::SIGKILL) };
        assert_eq!(reap(Pid(parent)).unwrap(), 128 + 9);
        soon(&|| !super::super::group_exists(group));
    }
}
