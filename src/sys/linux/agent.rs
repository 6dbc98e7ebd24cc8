//! What agent and controller need of the system: starting the running binary again, ending process
//! groups, and waiting for an answer or an interrupt.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::ptr::null;

use super::super::shared::types::Ready;
use super::check;

/// The running binary, from which fresh workers are started.
pub enum AgentImage {
    /// A path that leads to it in this environment.
    Path(PathBuf),
    /// An open file, for where no path does: after a chroot, or when the file was unlinked.
    Open(File),
    /// A command that runs it: an emulator with its options, then the path.
    Through(Vec<String>),
}

impl AgentImage {
    /// The same binary held open, so that it outlives the path that led to it.
    pub fn hold_open(self) -> io::Result<AgentImage> {
        match self {
            AgentImage::Path(path) => File::open(path).map(AgentImage::Open),
            other => Ok(other),
        }
    }

    /// A command that starts the binary with one argument and no environment variables: their
    /// size moves the stack, and would differ between ways into an environment (Mytkowicz and
    /// others, Producing Wrong Data Without Doing Anything Obviously Wrong, 2009).
    pub fn command(&self, verb: &str) -> io::Result<Command> {
        match self {
            AgentImage::Path(path) => {
                let mut command = Command::new(path);
                command.arg(verb).env_clear();
                Ok(command)
            }
            AgentImage::Through(words) => {
                let (program, more) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
                let mut command = Command::new(program);
                command.args(more).arg(verb).env_clear();
                Ok(command)
            }
            AgentImage::Open(file) => {
                // The command's own path is never executed: the hook below replaces the child.
                let mut command = Command::new("/");
                let fd = file.as_raw_fd();
                let arguments = [CString::new("envtax")?, CString::new(verb)?];
                // SAFETY: between fork and exec only execveat is called, on memory made before.
                unsafe { command.pre_exec(move || Err(execute_open(fd, &arguments))) };
                Ok(command)
            }
        }
    }
}

/// Replaces this process by the open program; returns only when that failed.
fn execute_open(fd: RawFd, arguments: &[CString; 2]) -> io::Error {
    let arguments = [arguments[0].as_ptr(), arguments[1].as_ptr(), null()];
    let environment: [*const libc::c_char; 1] = [null()];
    let empty = c"".as_ptr();
    // SAFETY: both lists end with a null and their strings outlive the call.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            fd,
            empty,
            arguments.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    io::Error::last_os_error()
}

/// Makes the kernel kill this process when its parent dies, so that a killed agent leaves no
/// worker.
pub fn die_with_parent() {
    // SAFETY: sets a flag of this process. Where it is refused (some emulators), the worker ends by
    // its own bounds instead.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Makes the command start in a session of its own: Ctrl-C in the terminal does not reach it, and
/// nothing in it can ask the terminal for a password.
pub fn new_session(command: &mut Command) {
    // SAFETY: setsid is async-signal-safe and touches nothing of ours.
    unsafe {
        command.pre_exec(|| check(libc::setsid().into()).map(drop));
    }
}

/// Kills every process of the session that `new_session` started with this process as leader.
pub fn end_group(leader: u32) {
    // SAFETY: sends a signal; the group is one that this program made.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGKILL) };
    // Whole commands have groups of their own.
    for pid in super::descendants::of_session(leader) {
        // SAFETY: sends a signal to a process of the session that this program made.
        unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
    }
}

/// Asks every process of that group to end (SIGTERM).
pub fn ask_group_to_end(leader: u32) {
    // SAFETY: sends a signal; the group is one that this program made.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGTERM) };
}

/// Whether any process of that group is there.
pub fn group_exists(leader: u32) -> bool {
    // SAFETY: signal 0 is sent to nobody; only its error is of interest.
    unsafe { libc::kill(-(leader as libc::pid_t), 0) == 0 }
}

/// Whether the child has ended, leaving it to be reaped.
pub fn has_ended(child: &Child) -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the buffer is a whole siginfo_t; all zeroes, which the call leaves when the child
    // runs on, is a valid one.
    unsafe {
        let result = libc::waitid(libc::P_PID, child.id(), info.as_mut_ptr(), flags);
        result < 0 || info.assume_init().si_pid() != 0
    }
}

/// Waits until `answer` or `interrupt` can be read or was closed, at most `limit_ms`.
pub fn wait_for_answer(
    answer: &impl AsFd,
    interrupt: &impl AsFd,
    limit_ms: u64,
) -> io::Result<Ready> {
    let watch =
        |fd: BorrowedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut watched = [watch(answer.as_fd()), watch(interrupt.as_fd())];
    let limit = limit_ms.min(i32::MAX as u64) as libc::c_int;
    // SAFETY: the array has the length given and lives through the call.
    check(unsafe { libc::poll(watched.as_mut_ptr(), 2, limit) }.into())?;
    Ok(match (watched[0].revents, watched[1].revents) {
        (0, 0) => Ready::TimedOut,
        (0, _) => Ready::Interrupted,
        _ => Ready::Answer,
    })
}
