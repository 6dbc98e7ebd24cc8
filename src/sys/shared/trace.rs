//! What a tracer tells of a program.

use std::path::Path;
use std::time::Duration;

/// A command to trace. Its input and output are empty.
pub struct TraceOrder<'a> {
    pub words: &'a [String],
    /// File for its standard error.
    pub stderr: &'a Path,
    /// After this time, everything is killed.
    pub limit: Duration,
}

/// How a traced program ended.
#[derive(Debug, Default)]
pub struct TraceEnd {
    /// As wait(2) gives it; none if it was never seen.
    pub status: Option<i32>,
    /// It was killed at its time limit, or something that it left behind was.
    pub late: bool,
    /// Signals that were delivered.
    pub signals: u64,
    /// A thread that is not the first one executed a program.
    pub exec_by_thread: bool,
    /// Calls of programs for another architecture, of which nothing is told.
    pub foreign_calls: u64,
}

/// How a process or thread came into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Born {
    Fork,
    /// Its parent waits until it executes another program or ends.
    Vfork,
    Thread,
}

/// Is told what traced processes do, in its order. Times are in ns.
pub trait Listener {
    /// A call begins, after a gap since the end of the one before. Returns whether its result
    /// matters.
    fn enters(&mut self, pid: u32, name: &'static str, arguments: &[u64; 6], gap: u64) -> bool;
    /// The call ends. Errors are negative.
    fn leaves(&mut self, pid: u32, result: i64, took: u64);
    fn born(&mut self, parent: u32, child: u32, how: Born);
    /// The process became another program; its call has not ended yet.
    fn executed(&mut self, pid: u32);
    /// The process is about to end, and still shows what it is.
    fn ending(&mut self, pid: u32, status: i32, now: u64);
}

/// What a process has touched of its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Page faults since it began, without those that read a device.
    pub faults: u64,
    /// Pages that are its own, and stretches of mapped files with a page in memory.
    pub present: u64,
    pub file_stretches: u64,
}
