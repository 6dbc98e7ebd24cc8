//! What several sessions a side can show: how far sessions differ by themselves, which difference
//! they can find, and how many sessions would find one as large as the margin.

use serde::Serialize;

use crate::stats;

/// Sessions a side below which there is no verdict.
pub const MIN_SESSIONS: usize = 3;
/// Sessions a side that are advisable.
pub const ADVISABLE_SESSIONS: usize = 5;

/// What can be seen with the sessions that are there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reach {
    /// Sessions of the reference, and of this side.
    pub sessions: (usize, usize),
    /// Standard deviation between sessions of a side, as a share.
    pub deviation: f64,
    /// Smallest difference, as a share, that these find in four of five cases.
    pub detectable: f64,
    /// Sessions a side with which one as large as the margin is; none beyond a thousand.
    pub needed: Option<usize>,
}

/// From the sessions' values as logarithms. None where no side has two sessions: then nothing is
/// known of their spread.
pub(super) fn reach(base: &[f64], own: &[f64], margin: f64) -> Option<Reach> {
    let spread = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let freedom = (base.len() + own.len()).checked_sub(2).filter(|freedom| *freedom > 0)?;
    let deviation = ((spread(base) + spread(own)) / freedom as f64).sqrt();
    Some(Reach {
        sessions: (base.len(), own.len()),
        deviation: deviation.exp_m1(),
        detectable: stats::detectable(deviation, base.len(), own.len())?.exp_m1(),
        needed: stats::needed(deviation, margin.ln_1p(), MIN_SESSIONS),
    })
}
