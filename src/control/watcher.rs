//! The events of a run while it lasts, and the trait of those who receive them.

use std::time::Duration;

use anyhow::Result;

use crate::model::Failure;
use crate::runfile::Record;

/// Who is told of what happens during a run.
pub trait Watcher {
    /// Takes a record for the run file. An error ends the run.
    fn record(&mut self, record: Record) -> Result<()>;
    fn progress(&mut self, progress: &Progress);
    /// So many cases of all have their sample sizes; the budget does not run yet.
    fn preparing(&mut self, done: usize, cases: usize);
    /// Something that a person should see at once, such as an environment that does not start.
    fn warn(&mut self, warning: &Failure);
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    /// None where the number of rounds decides alone.
    pub budget: Option<Duration>,
    /// Cases that are as precise as asked for, of how many.
    pub finished: usize,
    pub cases: usize,
    /// Rounds done, of how many, where their number is given.
    pub rounds: Option<(u32, u32)>,
    /// The widest interval so far: half-width as a share, and whose it is.
    pub widest: Option<(f64, String)>,
}
