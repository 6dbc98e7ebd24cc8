//! The events of a run while it lasts, and the trait of those who receive them.

use std::time::Duration;

use anyhow::Result;

use crate::model::Failure;
use crate::runfile::Record;

/// Receives the events of a run.
pub trait Watcher {
    /// Takes a record for the run file. An error ends the run.
    fn record(&mut self, record: Record) -> Result<()>;
    fn progress(&mut self, progress: &Progress);
    /// The number of cases that have their sample sizes, of all; the budget does not run yet.
    fn preparing(&mut self, done: usize, cases: usize);
    /// A warning that the user should see at once, such as an environment that does not start.
    fn warn(&mut self, warning: &Failure);
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    /// None where only the number of rounds ends the run.
    pub budget: Option<Duration>,
    /// Cases that are precise enough, and all cases.
    pub finished: usize,
    pub cases: usize,
    /// Rounds done and to do, where their number is fixed.
    pub rounds: Option<(u32, u32)>,
    /// The widest interval so far: its half-width as a share, and its row.
    pub widest: Option<(f64, String)>,
}
