//! Exit codes of every verb, in one place.

use std::process::ExitCode;

/// How envtax ends. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done. A reader that closed the pipe early is also this.
    Done = 0,
    /// Done, and the gate that the user asked for (`--fail-above`) tripped. It comes before
    /// [`Exit::Partial`].
    Gate = 1,
    /// Usage or set-up error: nothing was measured, or the gate judged nothing and let it pass.
    Usage = 2,
    /// A run file was written, but something failed or was not reached, every row was skipped, or
    /// the run was interrupted.
    Partial = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
