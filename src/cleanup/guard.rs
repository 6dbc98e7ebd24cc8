//! The guard: a process that outlives a killed controller by a moment and ends what it started.
//! Agents end by themselves when their input closes; launchers that hang do not.

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

/// How long after the controller's death agents may take to clean up.
const GRACE: Duration = Duration::from_secs(5);

/// What a run is marked with among the things that are watched.
const RUN: char = '=';

type Line = Arc<Mutex<Wire>>;

/// What is said to the guard, and of what.
struct Wire {
    input: Option<ChildStdin>,
    watched: BTreeSet<String>,
}

/// The controller's end. Dropped after all sessions, it ends the guard, which is then idle.
pub struct Guard {
    child: Child,
    line: Line,
}

/// A process group, a stage or a run that the guard would end; dropped when that is over.
pub struct Watch {
    what: String,
    line: Line,
}

/// What a run launches, by its token. When it is dropped, whatever put itself aside ends, such as
/// the process with which podman keeps a user's namespace.
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

    /// Starts a guard by that command, which reads from its input what to watch.
    pub(super) fn run(mut command: Command) -> Result<Guard> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::new_session(&mut command);
        let mut child = command.spawn().context("starting the guard process")?;
        let wire = Wire { input: child.stdin.take(), watched: BTreeSet::new() };
        let line = Arc::new(Mutex::new(wire));
        Ok(Guard { child, line })
    }

    /// Has the guard end that session if this process dies first.
    pub fn watch(&self, leader: u32) -> Watch {
        self.watch_for(leader.to_string())
    }

    /// Has the guard undo that stage if this process dies first.
    pub fn watch_stage(&self, path: &Path) -> Watch {
        self.watch_for(path.display().to_string())
    }

    /// The processes that are watched, and the guard itself: somebody waits for each of them.
    pub fn children(&self) -> BTreeSet<u32> {
        let wire = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = wire.watched.iter().filter_map(|what| what.parse().ok());
        watched.chain([self.child.id()]).collect()
    }

    /// Ends whatever the run of that token has launched when that is dropped, or by the guard if
    /// this process dies first.
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
        // A guard that somebody killed guards nothing; the run itself does not need it.
        let _ = writeln!(input, "{sign}{what}");
    }
}

/// What the guard does: notes sessions and stages until the controller is gone, gives the processes
/// time to end by themselves, ends the rest, and undoes the stages.
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
    // A stage is an absolute path, a session a number, a run has its sign.
    let sessions: Vec<u32> = watched.iter().filter_map(|what| what.parse().ok()).collect();
    let until = Instant::now() + GRACE;
    while Instant::now() < until && sessions.iter().any(|leader| sys::group_exists(*leader)) {
        thread::sleep(Duration::from_millis(10));
    }
    sessions.into_iter().for_each(sys::end_group);
    watched.iter().map(Path::new).filter(|path| path.is_absolute()).for_each(stage::undo);
    watched.iter().filter_map(|what| what.strip_prefix(RUN)).for_each(end_run);
}
