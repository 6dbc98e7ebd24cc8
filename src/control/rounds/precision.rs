//! When a case is known well enough.

use super::{CaseState, Driver};
use crate::model::{SampleSet, Stop};
use crate::stats::{Contrast, Effect, Round, Series};

/// Beyond this factor a tax is obvious, and [`OBVIOUS_PRECISION`] is enough.
const OBVIOUS: f64 = 1.5;
const OBVIOUS_PRECISION: f64 = 0.05;

impl CaseState {
    /// Adds a round: one value for each timed phase.
    pub(super) fn add(&mut self, slot: usize, number: u32, phases: &[Round]) {
        let series = &mut self.series[slot];
        series.resize(phases.len(), Series::default());
        series.iter_mut().zip(phases).for_each(|(own, round)| own.insert(number, *round));
    }
}

impl Driver<'_> {
    /// Finishes the case if it has rounds enough and every interval is narrow enough. Looks at
    /// widths only, never at whether a difference was found.
    pub(super) fn look(&mut self, case: usize) {
        let reference = self.reference();
        let state = &mut self.cases[case];
        let reference = reference.filter(|slot| state.sizes[*slot].is_some());
        let wanted = match self.plan.stop {
            Stop::Precise { half_width, .. } => Some(half_width),
            Stop::Budget { .. } | Stop::Rounds { .. } => None,
        };
        let mut precise = wanted.is_some();
        state.width = None;
        for slot in (0..state.sizes.len()).filter(|slot| state.sizes[*slot].is_some()) {
            let alone = state.sizes.iter().flatten().count() == 1;
            if Some(slot) == reference && !alone {
                continue;
            }
            let base = reference.filter(|base| *base != slot).map(|base| &state.series[base][..]);
            for effect in effects(&state.series[slot], base) {
                let Some(width) = effect.half_width(0.95) else { continue };
                let obvious = effect.value.abs() - width > OBVIOUS.ln();
                let enough = |wanted: f64| match obvious {
                    true => width <= wanted.max(OBVIOUS_PRECISION),
                    false => width <= wanted,
                };
                precise &= wanted.is_some_and(enough);
                if state.width.is_none_or(|(widest, _)| width > widest) {
                    state.width = Some((width, slot));
                }
            }
        }
        let counted = self.plan.stop.rounds().is_some();
        state.finished = counted || precise && self.launches.done(self.plan);
        state.finished &= state.rounds > self.plan.stop.min_rounds();
    }
}

/// The round of each timed phase: by these a case is judged precise. Other figures come along with
/// them and are as good as they are.
pub(super) fn timed_rounds(set: &SampleSet, timed: usize, launch: u32) -> Vec<Round> {
    let round = |samples: &Vec<u64>| Round::of_block(samples, set.iterations, launch);
    set.samples.iter().take(timed).map(round).collect()
}

/// By phase: the log-ratio to `base` over the rounds both have, or the log-cost without a base.
fn effects(own: &[Series], base: Option<&[Series]>) -> Vec<Effect> {
    let one = std::slice::from_ref;
    let effect = |(phase, own)| {
        let contrast = match base {
            Some(base) => Contrast::against(one(own), one(base.get(phase)?)),
            None => Contrast::alone(one(own)),
        };
        contrast.of_one_launch().effect()
    };
    own.iter().enumerate().filter_map(effect).collect()
}
