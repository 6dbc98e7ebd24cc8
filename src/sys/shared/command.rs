//! What a whole command is given and what is known of it afterwards, on every system.

use std::fs;
use std::path::Path;
use std::process::ExitStatus;

use crate::model::Usage;

/// What a command is given.
pub struct CommandOrder<'a> {
    pub words: &'a [String],
    /// Read as its standard input; nothing otherwise.
    pub stdin: Option<&'a Path>,
    /// Where its standard output goes; nowhere otherwise.
    pub stdout: Option<&'a Path>,
    /// Where its standard error goes, of which a quotation may be wanted; nowhere otherwise.
    pub stderr: Option<&'a Path>,
    /// It is killed after so many ns, and when an output is longer than so many bytes.
    pub limit_ns: u64,
    pub output_limit: u64,
}

impl CommandOrder<'_> {
    /// Why a command that has run for so many ns is to be killed now, if it is.
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

/// How a command ended, and what it took.
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
    /// On Linux, `peak_bytes` of the process that starts the command, whose memory the command
    /// shares until it executes its program, and which is counted for it: its own peak is not known
    /// when it is lower. None where the system does not say, and on Windows, where a process begins
    /// with nothing of the one that starts it.
    pub floor_bytes: Option<u64>,
    /// Bytes that it had read and written: from and to storage on Linux, by any system call on
    /// Windows; none where the system does not say.
    pub storage: Option<(u64, u64)>,
    /// Figures that this system does not count, by the names of their phases, where zeroes in what
    /// it does count do not tell.
    pub uncounted: &'static [&'static str],
    /// Processes that it left behind, which were killed.
    pub left: usize,
}

/// Why a command was killed before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    TimedOut,
    /// Somebody wants to stop.
    Interrupted,
    Flooded,
}
