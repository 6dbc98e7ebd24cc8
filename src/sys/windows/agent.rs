//! What agent and controller need of the system: starting the running binary again, children that
//! end with this process, and waiting for an answer or an interrupt.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, WaitForSingleObject};

use super::super::shared::types::Ready;
use super::console::no_window;
use super::input::Input;
use super::job::Job;
use super::not_here;

/// The running binary, from which fresh workers are started.
pub enum AgentImage {
    Path(PathBuf),
    /// The words of a command that runs it.
    Through(Vec<String>),
}

impl AgentImage {
    /// An error: Windows starts programs by their paths, and a running binary cannot be removed
    /// anyway.
    pub fn hold_open(self) -> io::Result<AgentImage> {
        not_here("Windows starts programs by their paths only")
    }

    /// A command that starts the binary with one argument. It inherits the environment: Windows has
    /// no sockets without some variables, and their size does not move the stack here.
    pub fn command(&self, verb: &str) -> io::Result<Command> {
        bind_children();
        let (program, more) = match self {
            AgentImage::Path(path) => (path.as_os_str(), &[][..]),
            AgentImage::Through(words) => {
                let (program, more) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
                (program.as_ref(), more)
            }
        };
        let mut command = Command::new(program);
        command.args(more).arg(verb);
        Ok(command)
    }
}

/// Puts this process into a job that ends all its processes when its last handle is closed, which
/// happens when this process dies. What it starts from here on dies with it.
pub(super) fn bind_children() {
    static JOB: OnceLock<Option<Job>> = OnceLock::new();
    // Where jobs are refused, workers end by their own limits.
    JOB.get_or_init(|| {
        let job = Job::new().ok()?;
        job.join().ok()?;
        Some(job)
    });
}

/// Does nothing: a worker is in its agent's job, which ends it.
pub fn die_with_parent() {}

pub fn enter_namespace() -> Result<(), String> {
    Err("namespaces exist on Linux only".into())
}

pub fn enter_chroot(_dir: &Path) -> Result<(), String> {
    Err("chroot exists on Unix only".into())
}

/// Makes the command start in a process group of its own: Ctrl-C in the console does not reach it.
pub fn new_session(command: &mut Command) {
    bind_children();
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | no_window());
}

/// Does nothing: the job of the process that started it ends it.
pub fn end_group(_leader: u32) {}

/// Does nothing: Windows cannot ask a process without a window to end.
pub fn ask_group_to_end(_leader: u32) {}

/// Always false: the job of the process that started it ends it.
pub fn group_exists(_leader: u32) -> bool {
    false
}

/// Whether the child has ended, leaving it to be reaped.
pub fn has_ended(child: &Child) -> bool {
    // SAFETY: the handle is the child's, which is borrowed through the call.
    unsafe { WaitForSingleObject(child.as_raw_handle(), 0) != WAIT_TIMEOUT }
}

/// Shortest and longest time between two checks of a pipe.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// Waits until `answer` or `interrupt` can be read or was closed, at most `limit_ms`.
///
/// Windows cannot wait for an anonymous pipe. The pipe is checked from time to time, and less often
/// the longer it takes, because a check costs a block that runs meanwhile some time.
pub fn wait_for_answer(
    answer: &impl AsHandle,
    interrupt: &Input,
    limit_ms: u64,
) -> io::Result<Ready> {
    let (start, limit) = (Instant::now(), Duration::from_millis(limit_ms));
    let mut pause = Duration::ZERO;
    loop {
        if is_ready(answer.as_handle()) {
            return Ok(Ready::Answer);
        }
        let spent = start.elapsed();
        if interrupt.is_ready_within(pause.min(limit.saturating_sub(spent))) {
            return Ok(Ready::Interrupted);
        }
        if spent >= limit {
            return Ok(Ready::TimedOut);
        }
        pause = (spent / 8).clamp(PAUSES[0], PAUSES[1]);
    }
}

/// Whether a read of the pipe would return at once, also because its other end is closed.
fn is_ready(pipe: BorrowedHandle<'_>) -> bool {
    let mut bytes = 0;
    let handle = pipe.as_raw_handle();
    // SAFETY: no data is asked for; the number lives through the call.
    let known = unsafe { PeekNamedPipe(handle, null_mut(), 0, null_mut(), &mut bytes, null_mut()) };
    known == 0 || bytes > 0
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::pipe::pipe;
    use super::*;

    #[test]
    fn data_and_closed_ends_are_seen() {
        let (answer, mut answers) = pipe().unwrap();
        let (interrupt, interrupts) = pipe().unwrap();
        let interrupt = Input::from(interrupt);
        assert_eq!(wait_for_answer(&answer, &interrupt, 10).unwrap(), Ready::TimedOut);
        answers.write_all(b"x").unwrap();
        assert_eq!(wait_for_answer(&answer, &interrupt, 1000).unwrap(), Ready::Answer);
        let (quiet, _open) = pipe().unwrap();
        drop(interrupts);
        assert_eq!(wait_for_answer(&quiet, &interrupt, 1000).unwrap(), Ready::Interrupted);
    }
}
