//! The guard: a process that outlives a killed controller for a moment and ends what that had
//! started. Agents end by themselves when their input closes; launchers that hang do not.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cleanup::stage;
use crate::sys;

/// How long agents may take to clean up after the controller died.
const GRACE: Duration = Duration::from_secs(5);

/// The mark before a run's token, among the names of what is watched.
const RUN: char = '=';

type Line = Arc<Mutex<Wire>>;

/// The pipe to the guard, and the names of what the guard watches.
struct Wire {
    input: Option<ChildStdin>,
    watched: BTreeSet<String>,
}

/// The controller's handle of the guard. Drop it after all sessions: then nothing is watched any
/// more, and the guard ends.
pub struct Guard {
    child: Child,
    line: Line,
}

/// A process group, a stage or a run that the guard would end. Dropping it tells the guard to
/// forget it.
pub struct Watch {
    what: String,
    line: Line,
}

/// All processes that a run of this token launched. Dropping it ends those that left their launch's
/// session, such as the process with which podman keeps a user namespace.
pub struct Launched {
    token: String,
    _watch: Watch,
}

impl Drop for Launched {
    fn drop(&mut self) {
        end_run(&self.token);
    }
}

fn end_run(token: &str) {
    sys::end_launched(|launch| launch.split('-').next() == Some(token));
}

impl Guard {
    /// Starts the guard from envtax's own binary.
    pub fn start(envtax: &Path) -> Result<Guard> {
        let mut command = Command::new(envtax);
        command.arg("guard");
        Guard::run(command)
    }

    /// Starts a guard by that command, which reads from its input what it has to watch.
    pub(super) fn run(mut command: Command) -> Result<Guard> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::new_session(&mut command);
        let mut child = command.spawn().context("starting the guard process")?;
        let wire = Wire { input: child.stdin.take(), watched: BTreeSet::new() };
        let line = Arc::new(Mutex::new(wire));
        Ok(Guard { child, line })
    }

    /// The guard ends this session if this process dies first.
    pub fn watch(&self, leader: u32) -> Watch {
        self.watch_for(leader.to_string())
    }

    /// The guard undoes this stage if this process dies first.
    pub fn watch_stage(&self, path: &Path) -> Watch {
        self.watch_for(path.display().to_string())
    }

    /// The processes that are watched, and the guard itself. Other code waits for each of them, so
    /// nobody else may reap them.
    pub fn children(&self) -> BTreeSet<u32> {
        let wire = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = wire.watched.iter().filter_map(|what| what.parse().ok());
        watched.chain([self.child.id()]).collect()
    }

    /// Ends all processes that the run of that token launched, when the returned value is dropped.
    /// The guard does it if this process dies first.
    pub fn watch_run(&self, token: &str) -> Launched {
        Launched { token: token.to_owned(), _watch: self.watch_for(format!("{RUN}{token}")) }
    }

    fn watch_for(&self, what: String) -> Watch {
        tell(&self.line, '+', &what);
        Watch { what, line: self.line.clone() }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).input = None;
        let _ = self.child.wait();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        tell(&self.line, '-', &self.what);
    }
}

fn tell(line: &Line, sign: char, what: &str) {
    let mut wire = line.lock().unwrap_or_else(PoisonError::into_inner);
    match sign {
        '+' => wire.watched.insert(what.to_owned()),
        _ => wire.watched.remove(what),
    };
    if let Some(input) = &mut wire.input {
        // If somebody killed the guard, this fails. The run itself does not need the guard.
        let _ = writeln!(input, "{sign}{what}");
    }
}

/// The work of the guard: it notes sessions and stages until the controller is gone, gives the
/// processes time to end by themselves, ends the rest, and undoes the stages.
pub fn keep_guard() {
    let mut watched = BTreeSet::new();
    for line in BufReader::new(io::stdin()).lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", what)) => {
                watched.insert(what.to_owned());
            }
            Some(("-", what)) => {
                watched.remove(what);
            }
            _ => {}
        }
    }
    // A stage is an absolute path, a session is a number, and a run starts with its mark.
    let sessions: Vec<u32> = watched.iter().filter_map(|what| what.parse().ok()).collect();
    let until = Instant::now() + GRACE;
    while Instant::now() < until && sessions.iter().any(|leader| sys::group_exists(*leader)) {
        thread::sleep(Duration::from_millis(10));
    }
    sessions.into_iter().for_each(sys::end_group);
    watched.iter().map(Path::new).filter(|path| path.is_absolute()).for_each(stage::undo);
    watched.iter().filter_map(|what| what.strip_prefix(RUN)).for_each(end_run);
}
