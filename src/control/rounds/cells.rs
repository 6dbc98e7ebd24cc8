//! The state of every case: its rounds, and its block size and series in each environment.

use std::time::Duration;

use crate::model::SampleSet;
use crate::protocol::BlockSize;
use crate::stats::{Round, Series};

/// One case in one environment.
#[derive(Clone, Default)]
pub(super) struct Cell {
    /// None if the case is not, or no longer, measured here.
    pub(super) size: Option<BlockSize>,
    /// The largest number of iterations that a sample can have here.
    pub(super) most: u64,
    /// What a block will take, as far as tuning tells.
    pub(super) block: Duration,
    /// The rounds of each timed phase.
    pub(super) series: Vec<Series>,
}

impl Cell {
    /// Adds a round: one value for each timed phase, on which the stopping rule looks. The other
    /// figures of the case have no influence on the end.
    pub(super) fn add(&mut self, number: u32, set: &SampleSet, timed: usize, launch: u32) {
        let phases = set.samples.iter().take(timed);
        self.series.resize(phases.len(), Series::default());
        for (series, samples) in self.series.iter_mut().zip(phases) {
            series.insert(number, Round::of_block(samples, set.iterations, launch));
        }
    }

    /// Number of rounds that count.
    pub(super) fn rounds(&self) -> usize {
        self.series.first().map_or(0, Series::len)
    }
}

/// One case in all environments.
pub(super) struct CaseState {
    /// In the order of the plan's environments.
    pub(super) cells: Vec<Cell>,
    /// Number of rounds done, including the very first warm-up.
    pub(super) rounds: u32,
    pub(super) finished: bool,
    /// It is not measured, because the budget is not enough for all cases.
    pub(super) left_out: bool,
    /// The last launch in which the case had a warm-up, and how many warm-ups it had there.
    pub(super) warm: Option<(u32, u32)>,
    /// Half-width of the widest interval, and its environment.
    pub(super) width: Option<(f64, usize)>,
    /// How many looks in a row found all intervals narrow enough.
    pub(super) narrow_looks: u32,
}

impl CaseState {
    pub(super) fn new(environments: usize) -> CaseState {
        CaseState {
            cells: vec![Cell::default(); environments],
            rounds: 0,
            finished: false,
            left_out: false,
            warm: None,
            width: None,
            narrow_looks: 0,
        }
    }

    /// The environments that measure the case, with the case's cells.
    pub(super) fn measured(&self) -> impl Iterator<Item = (usize, &Cell)> {
        self.cells.iter().enumerate().filter(|(_, cell)| cell.size.is_some())
    }

    /// Whether it needs more rounds.
    pub(super) fn is_active(&self) -> bool {
        !self.finished && !self.left_out && self.measured().next().is_some()
    }
}
