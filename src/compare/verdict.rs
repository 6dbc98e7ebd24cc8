//! From an estimate and a margin to a word.

use serde::Serialize;

use super::{Cell, Measured, Row};
use crate::stats::{self, Estimate};

/// Error of the words: of slower and faster family-wise over one comparison, of same each.
const LEVEL: f64 = 0.05;

/// What a tax comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Slower,
    Faster,
    /// Within the margin, by two one-sided tests.
    Same,
    /// Neither a difference nor its absence is shown; about so many more rounds may show one.
    Inconclusive {
        more_rounds: Option<u64>,
    },
    /// Too few sessions, or rounds, for any verdict.
    Descriptive,
}

/// A tax whose verdict waits until all p-values are known.
pub(super) struct Test {
    row: usize,
    column: usize,
    estimate: Estimate,
    /// The words slower and faster are allowed by the point estimate and the margin.
    beyond_margin: bool,
    /// Two one-sided tests at 5 % place it within the margin.
    within_margin: bool,
    /// None where no reasonable number would tell.
    more_rounds: Option<u64>,
}

impl Test {
    /// The test as that of one cell.
    pub fn at(self, row: usize, column: usize) -> Test {
        Test { row, column, ..self }
    }

    /// Holds the estimate of a log-ratio against the margin, a share.
    pub fn new(estimate: Estimate, margin: f64, paired: bool) -> Test {
        let bound = (1.0 + margin).ln();
        let size = estimate.value.abs();
        // Rounds until the interval would leave either the margin's bound or zero outside, if the
        // estimate stays where it is: widths shrink with the square root of the number of rounds.
        let (width, room) = match size < bound {
            true => (estimate.half_width(0.90), bound - size),
            false => (estimate.half_width(0.95), size),
        };
        let rounds = estimate.count as f64;
        let more = (rounds * (width / room).powi(2) - rounds).ceil().max(1.0);
        Test {
            row: 0,
            column: 0,
            beyond_margin: estimate.value.abs() > bound,
            within_margin: estimate.p_beyond(bound) <= LEVEL,
            more_rounds: (paired && more < 1e4).then_some(more as u64),
            estimate,
        }
    }
}

/// Gives every tested tax its word: Holm's correction decides over all of them together.
pub(super) fn settle(rows: &mut [Row], tests: &[Test]) {
    let p_values: Vec<f64> = tests.iter().map(|test| test.estimate.p_value()).collect();
    for (test, different) in tests.iter().zip(stats::holm(&p_values, LEVEL)) {
        let verdict = match (different && test.beyond_margin, test.estimate.value > 0.0) {
            (true, true) => Verdict::Slower,
            (true, false) => Verdict::Faster,
            _ if test.within_margin => Verdict::Same,
            _ => Verdict::Inconclusive { more_rounds: test.more_rounds },
        };
        if let Cell::Measured(Measured { tax: Some(tax), .. }) =
            &mut rows[test.row].cells[test.column]
        {
            tax.verdict = verdict;
        }
    }
}
