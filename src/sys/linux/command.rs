//! A whole command from its start to its end, with what it and its children used.

use std::env;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::ptr::null_mut;

use super::super::shared::command::{CommandEnd, CommandOrder, Killed};
use super::{adopt_orphans, check, descendants, now_ns};
use crate::model::Usage;

/// Time between two checks of the time limit, of the interrupt and of the outputs' sizes.
const POLL_INTERVAL_NS: libc::c_long = 100_000_000;
/// Folders that are searched where no search path is set, as execvp(3) does.
const USUAL_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Runs a command to its end in a process group of its own. Kills the processes that it left
/// behind, in that group or detached. An error means that it was not started.
pub fn run_command(order: &CommandOrder<'_>, interrupt: &impl AsFd) -> io::Result<CommandEnd> {
    let Some((program, arguments)) = order.words.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    match order.stdin {
        Some(path) => command.stdin(File::open(path)?),
        None => command.stdin(Stdio::null()),
    };
    let output = |path: Option<&Path>| match path {
        Some(path) => File::create(path).map(Stdio::from),
        None => Ok(Stdio::null()),
    };
    command.stdout(output(order.stdout)?).stderr(output(order.stderr)?);
    adopt_orphans();
    let _ticking = Ticking::start()?;
    let start_ns = now_ns();
    let child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    let killed = wait_for_end(pid, order, start_ns, interrupt)?;
    let end_ns = now_ns();
    // The child has ended but is not reaped, so its counts can still be read.
    let storage = storage_of(pid);
    let (status, usage, peak_bytes) = reap_with_usage(pid)?;
    let left = end_the_rest(pid);
    let floor_bytes = own_peak_bytes();
    Ok(CommandEnd {
        status,
        killed,
        start_ns,
        end_ns,
        usage,
        peak_bytes,
        floor_bytes,
        storage,
        uncounted: &[],
        left,
    })
}

/// Waits until the child has ended, without reaping it; kills it when it has to end.
fn wait_for_end(
    pid: libc::pid_t,
    order: &CommandOrder<'_>,
    start_ns: u64,
    interrupt: &impl AsFd,
) -> io::Result<Option<Killed>> {
    let mut killed = None;
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the buffer is a whole siginfo_t and the child is our own.
        let result = unsafe { libc::waitid(libc::P_PID, pid as _, info.as_mut_ptr(), flags) };
        match check(result.into()) {
            Ok(_) => return Ok(killed),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            Err(_) => {}
        }
        let ran_ns = now_ns() - start_ns;
        killed = order.why_to_kill(ran_ns, || can_be_read(interrupt)).or(killed);
        if killed.is_some() {
            // SAFETY: a signal to the group that this command is the leader of.
            unsafe { libc::kill(-pid, libc::SIGKILL) };
        }
    }
}

fn can_be_read(stream: &impl AsFd) -> bool {
    let fd = stream.as_fd().as_raw_fd();
    let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    unsafe { libc::poll(&mut watched, 1, 0) > 0 }
}

fn reap_with_usage(pid: libc::pid_t) -> io::Result<(ExitStatus, Usage, u64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both buffers are whole; all zeroes is a valid rusage.
        let result = unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) };
        match check(result.into()) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // SAFETY: as above.
    let usage = unsafe { usage.assume_init() };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let found = Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        run_queue_wait_ns: None,
    };
    Ok((ExitStatus::from_raw(status), found, (usage.ru_maxrss as u64) << 10))
}

/// Bytes read from and written to storage (proc(5), io).
fn storage_of(pid: libc::pid_t) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().parse::<u64>().ok()
    };
    Some((number("read_bytes")?, number("write_bytes")?))
}

/// Largest resident set that this process ever had (proc(5), status).
fn own_peak_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// Kills the processes that the command left: those in its group, and those that detached
/// themselves and became this process's orphans.
fn end_the_rest(group: libc::pid_t) -> usize {
    // SAFETY: the group was made for the command.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    let mut left = 0;
    // Children of a killed process may come to this one. Asking for children costs one call; the
    // search reads a file for every process of the system, and no run should find those in its
    // caches.
    for _ in 0..100 {
        if !has_children() {
            break;
        }
        let rest = descendants();
        if rest.is_empty() {
            break;
        }
        for pid in rest {
            // SAFETY: descendants of this process, which has no other children at this time.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
            // SAFETY: reaps it where it is our child.
            left += usize::from(unsafe { libc::waitpid(pid as _, null_mut(), 0) } > 0);
        }
    }
    left
}

/// Whether this process has any child, running or to be reaped.
fn has_children() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the buffer is a whole siginfo_t; nothing is waited for and nothing reaped.
    check(unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) }.into()).is_ok()
}

/// The file that the system would execute: a path as it is, or a name on the search path.
pub fn find_program(word: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(PathBuf::from(word));
    }
    let search = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    env::split_paths(&search).map(|folder| folder.join(word)).find(|path| is_executable(path))
}

/// Whether the file can be executed.
fn is_executable(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the name ends with a zero byte.
    path.is_file() && unsafe { libc::access(name.as_ptr(), libc::X_OK) } == 0
}

/// Whether a start failed because the file is not a program of this system.
pub fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOEXEC)
}

/// Waits until everything that was written on this system is durable.
pub fn sync_all() -> io::Result<()> {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::sync() };
    Ok(())
}

/// A timer that interrupts the waiting calls of this thread again and again, by a signal whose
/// handler does nothing.
struct Ticking(libc::timer_t);

extern "C" fn nothing(_signal: libc::c_int) {}

impl Ticking {
    fn start() -> io::Result<Ticking> {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        let mut event = MaybeUninit::<libc::sigevent>::zeroed();
        let mut timer = MaybeUninit::<libc::timer_t>::zeroed();
        let tick = libc::timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL_NS };
        let every = libc::itimerspec { it_interval: tick, it_value: tick };
        // SAFETY: all zeroes is a valid action without flags (calls are not restarted) and a valid
        // event, whose fields are set before the call that reads it.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction = nothing as *const () as usize;
            check(libc::sigaction(libc::SIGALRM, action.as_ptr(), null_mut()).into())?;
            let event = event.as_mut_ptr();
            (*event).sigev_notify = libc::SIGEV_THREAD_ID;
            (*event).sigev_signo = libc::SIGALRM;
            (*event).sigev_notify_thread_id = libc::gettid();
            let clock = libc::CLOCK_MONOTONIC;
            check(libc::timer_create(clock, event, timer.as_mut_ptr()).into())?;
            let ticking = Ticking(timer.assume_init());
            check(libc::timer_settime(ticking.0, 0, &every, null_mut()).into())?;
            Ok(ticking)
        }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        // SAFETY: the timer is this value's own.
        unsafe { libc::timer_delete(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        ["sh", "-c", line].map(str::to_owned).to_vec()
    }

    fn order(words: &[String], limit_ns: u64) -> CommandOrder<'_> {
        let (stdin, stdout, stderr) = (None, None, None);
        CommandOrder { words, stdin, stdout, stderr, limit_ns, output_limit: 1000 }
    }

    fn run(line: &str, limit_ns: u64) -> CommandEnd {
        let words = words(line);
        let order = order(&words, limit_ns);
        // Nothing can be read from this pipe while its other end is open.
        let (reader, _writer) = io::pipe().unwrap();
        run_command(&order, &reader).unwrap()
    }

    /// Runs a test in a process of its own, because orphans are adopted and all children killed.
    fn apart(test: &str) {
        let this = std::env::current_exe().unwrap();
        let name = format!("sys::linux::command::tests::{test}");
        let done = Command::new(this).args(["--exact", &name, "--ignored"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }

    #[test]
    fn commands_run_to_their_end() {
        apart("inner");
    }

    #[test]
    #[ignore = "run by the test above in a process of its own"]
    fn inner() {
        let long = 60_000_000_000;
        let done = run("exit 3", long);
        assert_eq!(done.status.code(), Some(3));
        assert!(done.end_ns > done.start_ns && done.peak_bytes > 0 && done.killed.is_none());
        let done = run("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", long);
        assert!(done.usage.user_ns > 1_000_000, "{done:?}");
        assert_eq!(run("kill -9 $$", long).status.signal(), Some(9));
        assert_eq!(run("sleep 60", 1).killed, Some(Killed::TimedOut));
        let left = run("sleep 60 & setsid sleep 60 & sleep 0.2", long);
        assert!(left.left >= 1 && descendants().is_empty(), "{left:?}");
        let missing = ["/no/such/program".to_owned()];
        let (reader, _writer) = io::pipe().unwrap();
        let error = run_command(&order(&missing, long), &reader).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
