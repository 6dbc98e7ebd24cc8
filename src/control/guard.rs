//! A process that outlives a killed controller by a moment: an agent ends by itself when its input
//! closes, but a launcher that hangs before it starts one does not.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::sys;

/// How long after the controller's death agents may take to clean up.
const GRACE: Duration = Duration::from_secs(5);

type Line = Arc<Mutex<Option<ChildStdin>>>;

/// The controller's end. Dropped after all sessions, it ends the guard, which is then idle.
pub struct Guard {
    child: Child,
    line: Line,
}

/// A session that the guard would end; dropped when the session is over.
pub struct Watch {
    leader: u32,
    line: Line,
}

impl Guard {
    /// Starts the guard from envtax's own binary.
    pub fn start(envtax: &Path) -> Result<Guard> {
        let mut command = Command::new(envtax);
        command.arg("guard").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::new_session(&mut command);
        let mut child = command.spawn().context("starting the guard process")?;
        let line = Arc::new(Mutex::new(child.stdin.take()));
        Ok(Guard { child, line })
    }

    /// Has the guard end that session if this process dies first.
    pub fn watch(&self, leader: u32) -> Watch {
        tell(&self.line, '+', leader);
        Watch { leader, line: self.line.clone() }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = self.child.wait();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        tell(&self.line, '-', self.leader);
    }
}

fn tell(line: &Line, sign: char, leader: u32) {
    if let Some(input) = line.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        // A guard that somebody killed guards nothing; the run itself does not need it.
        let _ = writeln!(input, "{sign}{leader}");
    }
}

/// What the guard does: notes sessions until the controller is gone, gives their processes time to
/// end by themselves, and ends the rest.
pub fn keep_guard() {
    let mut sessions = BTreeSet::new();
    for line in BufReader::new(io::stdin()).lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", leader)) => sessions.extend(leader.parse::<u32>()),
            Some(("-", leader)) => {
                leader.parse::<u32>().map(|leader| sessions.remove(&leader)).ok();
            }
            _ => {}
        }
    }
    let until = Instant::now() + GRACE;
    while Instant::now() < until && sessions.iter().any(|leader| sys::group_exists(*leader)) {
        thread::sleep(Duration::from_millis(10));
    }
    sessions.into_iter().for_each(sys::end_group);
}
