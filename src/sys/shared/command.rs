//! The order for a whole command and the report of its end, on every system.

use std::fs;
use std::path::Path;
use std::process::ExitStatus;

use crate::model::Usage;

/// The order to run a command.
pub struct CommandOrder<'a> {
    pub words: &'a [String],
    /// The file that it reads as its standard input; empty input without one.
    pub stdin: Option<&'a Path>,
    /// The file that its standard output goes to; discarded without one.
    pub stdout: Option<&'a Path>,
    /// The file that its standard error goes to, for a quotation in messages; discarded without
    /// one.
    pub stderr: Option<&'a Path>,
    /// The command is killed after this many ns, and when an output is longer than this many bytes.
    pub limit_ns: u64,
    pub output_limit: u64,
}

impl CommandOrder<'_> {
    /// Why a command that has run for `ran_ns` has to be killed now; none if it may go on.
    pub fn why_to_kill(&self, ran_ns: u64, interrupted: impl FnOnce() -> bool) -> Option<Killed> {
        let flooded = || {
            let mut outputs = self.stdout.into_iter().chain(self.stderr);
            let length = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
            outputs.any(|path| length(path) > self.output_limit)
        };
        if ran_ns >= self.limit_ns {
            Some(Killed::TimedOut)
        } else if interrupted() {
            Some(Killed::Interrupted)
        } else {
            flooded().then_some(Killed::Flooded)
        }
    }
}

/// How a command ended, and what it used.
#[derive(Debug)]
pub struct CommandEnd {
    pub status: ExitStatus,
    /// Why it was killed, if it was.
    pub killed: Option<Killed>,
    /// The clock before it was started and after its end was known, in ns.
    pub start_ns: u64,
    pub end_ns: u64,
    /// On Linux of the command and of the children that it waited for; on Windows of all processes
    /// that it started, also indirectly, up to its end.
    pub usage: Usage,
    /// In bytes: on Linux the largest resident set of any of them; on Windows the largest working
    /// set of the command's own process, 0 where the system does not say.
    pub peak_bytes: u64,
    /// On Linux, the peak of the process that starts the command: the command shares that memory
    /// until it executes its program, and the kernel counts it for the command. A lower peak of the
    /// command itself is therefore unknown. None where the system does not tell, and on Windows,
    /// where a process shares nothing with the one that starts it.
    pub floor_bytes: Option<u64>,
    /// Bytes that it had read and written: from and to storage on Linux, by any system call on
    /// Windows; none where the system does not say.
    pub storage: Option<(u64, u64)>,
    /// Names of the phases that this system does not count; their figures are zero.
    pub uncounted: &'static [&'static str],
    /// Processes that it left behind, which were killed.
    pub left: usize,
}

/// Why a command was killed before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    TimedOut,
    /// The user or the controller wants to stop.
    Interrupted,
    Flooded,
}
