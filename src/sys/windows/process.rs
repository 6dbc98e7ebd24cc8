//! Starting programs and waiting for their end.

use std::ffi::OsStr;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW,
    DETACHED_PROCESS, GetExitCodeProcess, INFINITE, PROCESS_INFORMATION, STARTUPINFOW,
    TerminateProcess, WaitForSingleObject,
};

use super::super::shared::types::Console;
use super::{check, not_here, wide};

/// None: no program that does nothing is on every Windows.
pub const DYNAMIC_PROGRAM: Option<&str> = None;
/// Whether [`fork_exec_group`] can start shell scripts.
pub const HAS_UNIX_SHELL: bool = false;
/// A shell that does nothing.
pub const SHELL_PROGRAM: &[&str] = &["C:\\windows\\system32\\cmd.exe", "/d", "/c", "rem"];

/// The first argument of this binary where it is a process beside a worker.
pub(super) const PEER_VERB: &str = "peer";

const NO_FORK: &str = "Windows has no fork";

/// A child that has not been waited for.
#[derive(Debug)]
pub struct Pid(OwnedHandle);

impl Pid {
    pub(super) fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Ends it at once; waiting for its end is left to [`reap`].
    pub(super) fn end(&self) -> io::Result<()> {
        // SAFETY: takes no pointer; the handle is open.
        check(unsafe { TerminateProcess(self.handle(), 1) })
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        // SAFETY: takes no pointer; the handle is open.
        unsafe { WaitForSingleObject(self.0.as_raw_handle(), 0) == WAIT_OBJECT_0 }
    }
}

/// A program with its arguments and environment, ready to be started without allocation.
pub struct Executable {
    words: String,
    path: Vec<u16>,
    line: Vec<u16>,
    environment: Vec<u16>,
}

impl Executable {
    /// The first word is the path of the program; no search is done. The environment is empty.
    pub fn new(words: &[&str]) -> io::Result<Executable> {
        let path = words.first().copied().unwrap_or_default();
        // The system prefixes paths so once it has resolved their links, but not every call
        // understands the prefix.
        let path = path.strip_prefix("\\\\?\\").unwrap_or(path);
        // No word that is used here has quotes in it.
        let quoted = words.iter().map(|word| match word.contains(' ') {
            true => format!("\"{word}\""),
            false => (*word).to_owned(),
        });
        let quoted: Vec<String> = quoted.collect();
        Ok(Executable {
            words: words.join(" "),
            path: wide(OsStr::new(path))?,
            line: wide(OsStr::new(&quoted.join(" ")))?,
            environment: vec![0; 2],
        })
    }

    /// The same program with these variables, `NAME=VALUE`.
    pub fn with_environment(self, variables: &[&str]) -> io::Result<Executable> {
        let mut environment = Vec::new();
        for variable in variables {
            environment.extend(wide(OsStr::new(variable))?);
        }
        environment.extend([0, 0]);
        Ok(Executable { environment, ..self })
    }

    /// The program and its arguments, for messages.
    pub fn words(&self) -> String {
        self.words.clone()
    }
}

/// One `CreateProcessW`. Nothing is copied before it: what Windows has instead of fork and exec.
#[inline]
pub fn fork_exec(program: &Executable) -> io::Result<Pid> {
    fork_exec_with(program, Console::Attached)
}

/// As [`fork_exec`], with that console.
#[inline]
pub fn fork_exec_with(program: &Executable, console: Console) -> io::Result<Pid> {
    start(
        program,
        match console {
            Console::Attached => 0,
            Console::Detached => DETACHED_PROCESS,
            Console::Hidden => CREATE_NO_WINDOW,
        },
    )
}

/// Creates the process suspended and ends it before it has run: what creation costs alone.
#[inline]
pub fn create_suspended(program: &Executable) -> io::Result<()> {
    let pid = start(program, CREATE_SUSPENDED)?;
    pid.end()?;
    reap(pid).map(drop)
}

#[inline]
fn start(program: &Executable, flags: u32) -> io::Result<Pid> {
    const BYTES: u32 = size_of::<STARTUPINFOW>() as u32;
    let startup = STARTUPINFOW { cb: BYTES, ..Default::default() };
    let mut started = MaybeUninit::<PROCESS_INFORMATION>::uninit();
    // SAFETY: path, line and environment are zero-terminated and live through the call. It may
    // write into the line, which it leaves as it was: nobody else reads that meanwhile. Success
    // means that both handles are there and owned by nobody else.
    unsafe {
        check(CreateProcessW(
            program.path.as_ptr(),
            program.line.as_ptr().cast_mut(),
            null(),
            null(),
            0,
            CREATE_UNICODE_ENVIRONMENT | flags,
            program.environment.as_ptr().cast(),
            null(),
            &startup,
            started.as_mut_ptr(),
        ))?;
        let started = started.assume_init();
        CloseHandle(started.hThread);
        Ok(Pid(OwnedHandle::from_raw_handle(started.hProcess)))
    }
}

/// An error: process groups that receive signals exist on Unix only.
pub fn fork_exec_group(_program: &Executable) -> io::Result<Pid> {
    not_here("there is no Unix shell on Windows")
}

pub fn fork_exiting() -> io::Result<Pid> {
    not_here(NO_FORK)
}

/// Waits for the child; its exit status.
#[inline]
pub fn reap(pid: Pid) -> io::Result<i32> {
    let handle = pid.0.as_raw_handle();
    let mut status = 0;
    // SAFETY: the handle is open until the end of this function, and so is the number.
    unsafe {
        if WaitForSingleObject(handle, INFINITE) != WAIT_OBJECT_0 {
            return Err(io::Error::last_os_error());
        }
        check(GetExitCodeProcess(handle, &mut status))?;
    }
    Ok(status as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_started_with_its_words_and_waited_for() {
        let cmd = SHELL_PROGRAM[0];
        let program = Executable::new(&[cmd, "/d", "/c", "exit", "7"]).unwrap();
        assert_eq!(reap(fork_exec(&program).unwrap()).unwrap(), 7);
        let missing = Executable::new(&["C:\\no\\such.exe"]).unwrap();
        assert_eq!(fork_exec(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
