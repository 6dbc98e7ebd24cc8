//! The trait of those who receive the events of a run.

use std::time::Duration;

use anyhow::Result;

use crate::model::Failure;
use crate::runfile::Record;

/// Receives the events of a run.
pub trait Watcher {
    /// Takes a record for the run file. An error ends the run.
    fn record(&mut self, record: Record) -> Result<()>;
    fn progress(&mut self, progress: &Progress);
    /// `done` of `cases` have their sample sizes. The budget has not begun yet.
    fn preparing(&mut self, done: usize, cases: usize);
    /// What the rounds that are about to begin will take.
    fn forecast(&mut self, forecast: &Forecast);
    /// A warning that the user should see at once, such as an environment that does not start.
    fn warn(&mut self, warning: &Failure);
}

/// What measuring will take, as far as it is known before the first round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Cases and environments that can be measured.
    pub cases: usize,
    pub environments: usize,
    /// Rounds of each case that the plan asks for at least.
    pub rounds: u32,
    /// Time for these rounds.
    pub needed: Duration,
    /// None where only the number of rounds ends the run.
    pub budget: Option<Duration>,
    /// Cases that are not measured, because no row would have a figure otherwise.
    pub left_out: Vec<String>,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    /// None if only the number of rounds ends the run.
    pub budget: Option<Duration>,
    /// Number of cases that are precise enough.
    pub finished: usize,
    pub cases: usize,
    /// Rounds done and to do, if their number is fixed.
    pub rounds: Option<(u32, u32)>,
    /// The half-width of the widest interval so far, as a share, and its row.
    pub widest: Option<(f64, String)>,
}
