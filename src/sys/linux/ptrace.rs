//! A tracer that stops its tracee at every system call and does nothing else. It shows what an
//! environment that translates system calls with ptrace costs before it translates anything.

use std::io::{self, PipeReader, Read, Write};

use super::check;
use super::enter::{exit_as, step};

/// Options: children are traced like their parents, stops at system calls differ from other traps,
/// and all tracees die with the tracer.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;
/// Event by which a seized tracee reports a group stop or a stop by the tracer (ptrace(2)).
const EVENT_STOP: libc::c_int = 128;

/// Lets a tracer stop every system call of this program and of what it starts.
///
/// Returns in a child, which is traced. The process that called is the tracer, and exits as the
/// child does.
pub fn enter_ptrace() -> Result<(), String> {
    let (gate, mut opening) = io::pipe().map_err(|e| format!("a pipe: {e}"))?;
    // SAFETY: the process has one thread, so the child may go on as the program it is.
    match unsafe { libc::fork() } {
        0 => {
            drop(opening);
            wait_at(gate);
            Ok(())
        }
        pid => {
            step("a process to trace", pid)?;
            drop(gate);
            if let Err(error) = attach(pid).and_then(|()| opening.write_all(b".")) {
                // SAFETY: our own child, which nobody reaped.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                return Err(format!("tracing a process: {error}"));
            }
            drop(opening);
            trace(pid)
        }
    }
}

/// Waits until this process is traced. If that never happens the process ends: it must not go on
/// untraced.
fn wait_at(mut gate: PipeReader) {
    if gate.read_exact(&mut [0]).is_err() {
        // SAFETY: ends a child in which nothing was begun.
        unsafe { libc::_exit(1) }
    }
}

/// Seizes the process and stops it, so that it stops at system calls from its next step on.
fn attach(pid: libc::pid_t) -> io::Result<()> {
    ptrace(libc::PTRACE_SEIZE, pid, OPTIONS)?;
    ptrace(libc::PTRACE_INTERRUPT, pid, 0)
}

/// Continues tracees from stop to stop until the first of them ends, and exits as that one did.
fn trace(first: libc::pid_t) -> ! {
    loop {
        let mut status = 0;
        // SAFETY: waits for our own tracees; the status outlives the call.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL) };
        if pid < 0 {
            if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                continue;
            }
            exit_as(status);
        }
        if libc::WIFSTOPPED(status) {
            let (request, signal) = after_stop(status);
            // A tracee that was killed meanwhile cannot be continued; its end is reported next.
            let _ = ptrace(request, pid, signal);
        } else if pid == first {
            exit_as(status);
        }
    }
}

/// How to continue a tracee after that stop, and with which signal.
fn after_stop(status: libc::c_int) -> (Request, libc::c_int) {
    let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    match event {
        // A group stop: the tracee stays stopped until it is told to continue.
        EVENT_STOP if stops.contains(&signal) => (libc::PTRACE_LISTEN, 0),
        // A signal that is to be delivered to the tracee.
        0 if signal != libc::SIGTRAP | 0x80 => (libc::PTRACE_SYSCALL, signal),
        // A system call, or the start of a child or a program.
        _ => (libc::PTRACE_SYSCALL, 0),
    }
}

/// The type of requests differs between C libraries.
#[cfg(target_env = "musl")]
pub(super) type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
pub(super) type Request = libc::c_uint;

pub(super) fn ptrace(request: Request, pid: libc::pid_t, data: libc::c_int) -> io::Result<()> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: none of the requests used here reads or writes memory of this process.
    check(unsafe { libc::ptrace(request, pid, none, data as libc::c_long) } as libc::c_long)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(event: libc::c_int, signal: libc::c_int) -> (Request, libc::c_int) {
        after_stop(event << 16 | signal << 8 | 0x7f)
    }

    #[test]
    fn every_stop_is_gone_on_from_as_it_asks() {
        let system_call = libc::SIGTRAP | 0x80;
        assert_eq!(stopped(0, system_call), (libc::PTRACE_SYSCALL, 0));
        assert_eq!(stopped(0, libc::SIGTERM), (libc::PTRACE_SYSCALL, libc::SIGTERM));
        assert_eq!(stopped(0, libc::SIGTRAP), (libc::PTRACE_SYSCALL, libc::SIGTRAP));
        assert_eq!(stopped(0, libc::SIGSTOP), (libc::PTRACE_SYSCALL, libc::SIGSTOP));
        assert_eq!(stopped(EVENT_STOP, libc::SIGSTOP), (libc::PTRACE_LISTEN, 0));
        assert_eq!(stopped(EVENT_STOP, libc::SIGTRAP), (libc::PTRACE_SYSCALL, 0));
        let fork = libc::PTRACE_EVENT_FORK;
        assert_eq!(stopped(fork, libc::SIGTRAP), (libc::PTRACE_SYSCALL, 0));
    }
}
