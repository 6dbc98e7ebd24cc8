//! Waits for child processes, with a time limit.

use std::io;
use std::process::{Child, ExitStatus};
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn who_does_not_end_is_killed() {
        let Ok(mut child) = Command::new("sleep").arg("60").spawn() else { return };
        let none = ended_within(&mut child, Duration::from_secs(60), &|| true).unwrap();
        assert!(none.is_none(), "interrupted");
        assert!(ended_or_killed(&mut child, Duration::ZERO).unwrap().is_none());
        assert!(child.try_wait().unwrap().is_some(), "it is gone");
    }
}
