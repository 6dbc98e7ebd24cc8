//! Waits for child processes, with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::sys;

/// How often a wait looks at the child.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How the child ended. None when it still runs after that time, or when `stop` says so.
pub fn ended_within(
    child: &mut Child,
    time: Duration,
    interrupted: &dyn Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + time;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= until || interrupted() {
            return Ok(status);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Whether the child ends within that time. It is not reaped.
pub fn ends_within(child: &Child, time: Duration) -> bool {
    let until = Instant::now() + time;
    while !sys::has_ended(child) {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// How the child ended. None when it still ran after that time and was killed.
pub fn ended_or_killed(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let status = ended_within(child, time, &|| false)?;
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(status)
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs the command to its end and reads what it prints, up to `most` bytes of each stream. An
/// error of the kind `TimedOut` when it ran longer than that time and was killed.
pub fn output_within(mut command: Command, time: Duration, most: u64) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    fn read(stream: Option<impl Read + Send + 'static>, most: u64) -> mpsc::Receiver<Vec<u8>> {
        let (to, from) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.map(|stream| stream.take(most).read_to_end(&mut bytes));
            let _ = to.send(bytes);
        });
        from
    }
    let (stdout, stderr) = (read(child.stdout.take(), most), read(child.stderr.take(), most));
    let status = ended_or_killed(&mut child, time)?.ok_or(io::ErrorKind::TimedOut)?;
    // Another process may keep the streams open.
    let text = |from: mpsc::Receiver<Vec<u8>>| from.recv_timeout(time).unwrap_or_default();
    Ok(Output { status, stdout: text(stdout), stderr: text(stderr) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_up_to_its_limits() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes | head -c 200000; echo odd >&2; exit 3"]);
        let output = output_within(command, Duration::from_secs(60), 1000).unwrap();
        assert_eq!((output.stdout.len(), &output.stderr[..]), (1000, &b"odd\n"[..]));
        assert!(!output.status.success());
        let mut command = Command::new("sleep");
        command.arg("60");
        let late = output_within(command, Duration::from_millis(50), 1000).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn who_does_not_end_is_killed() {
        let Ok(mut child) = Command::new("sleep").arg("60").spawn() else { return };
        let none = ended_within(&mut child, Duration::from_secs(60), &|| true).unwrap();
        assert!(none.is_none(), "interrupted");
        assert!(ended_or_killed(&mut child, Duration::ZERO).unwrap().is_none());
        assert!(child.try_wait().unwrap().is_some(), "it is gone");
    }
}
