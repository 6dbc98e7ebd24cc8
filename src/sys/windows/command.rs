//! Whole commands: not timed on Windows yet.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use super::not_here;
use crate::model::Usage;

// Read once commands are timed here.
#[allow(dead_code)]
pub struct CommandOrder<'a> {
    pub words: &'a [String],
    pub stdin: Option<&'a Path>,
    pub stdout: Option<&'a Path>,
    pub stderr: Option<&'a Path>,
    pub limit_ns: u64,
    pub output_limit: u64,
}

pub struct CommandEnd {
    pub status: ExitStatus,
    pub killed: Option<Killed>,
    pub start_ns: u64,
    pub end_ns: u64,
    pub usage: Usage,
    pub peak_bytes: u64,
    pub floor_bytes: Option<u64>,
    pub storage: Option<(u64, u64)>,
    pub left: usize,
}

// Constructed once commands are timed.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    TimedOut,
    Interrupted,
    Flooded,
}

pub fn run_command<I>(_order: &CommandOrder<'_>, _interrupt: &I) -> io::Result<CommandEnd> {
    not_here("whole commands are not timed on Windows yet")
}

pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub fn is_no_program(_error: &io::Error) -> bool {
    false
}

pub fn sync_all() {}
