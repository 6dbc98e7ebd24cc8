//! The state of every case: its rounds, and its block size and series in each environment.

use crate::model::SampleSet;
use crate::protocol::BlockSize;
use crate::stats::{Round, Series};

/// One case in one environment.
#[derive(Clone, Default)]
pub(super) struct Cell {
    /// None where the case is not measured, or not any more.
    pub(super) size: Option<BlockSize>,
    /// The most iterations that a sample can have there.
    pub(super) most: u64,
    /// The rounds of each timed phase.
    pub(super) series: Vec<Series>,
}

impl Cell {
    /// Adds a round: one value for each timed phase. A case is judged precise by these. Its other
    /// figures come along and are as good as they are.
    pub(super) fn add(&mut self, number: u32, set: &SampleSet, timed: usize, launch: u32) {
        let phases = set.samples.iter().take(timed);
        self.series.resize(phases.len(), Series::default());
        for (series, samples) in self.series.iter_mut().zip(phases) {
            series.insert(number, Round::of_block(samples, set.iterations, launch));
        }
    }

    /// Rounds that count.
    pub(super) fn rounds(&self) -> usize {
        self.series.first().map_or(0, Series::len)
    }
}

/// One case in all environments.
pub(super) struct CaseState {
    /// In the order of the plan's environments.
    pub(super) cells: Vec<Cell>,
    /// Rounds done, the very first warm-up included.
    pub(super) rounds: u32,
    pub(super) finished: bool,
    /// The launch in which it had its last warm-up, and how many it had there.
    pub(super) warm: Option<(u32, u32)>,
    /// Half-width of the widest interval, and the environment it is of.
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
            warm: None,
            width: None,
            narrow_looks: 0,
        }
    }

    /// The environments that measure the case, with its cells there.
    pub(super) fn measured(&self) -> impl Iterator<Item = (usize, &Cell)> {
        self.cells.iter().enumerate().filter(|(_, cell)| cell.size.is_some())
    }

    /// Whether it needs more rounds.
    pub(super) fn is_active(&self) -> bool {
        !self.finished && self.measured().next().is_some()
    }
}
