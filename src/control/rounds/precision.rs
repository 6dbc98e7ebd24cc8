//! When a case is known well enough.

use std::collections::BTreeMap;

use super::Driver;
use crate::model::SampleSet;
use crate::stats;

/// Beyond this factor a tax is obvious, and [`OBVIOUS_PRECISION`] is enough.
const OBVIOUS: f64 = 1.5;
const OBVIOUS_PRECISION: f64 = 0.05;

impl Driver<'_> {
    /// Finishes the case if it has rounds enough and every interval is narrow enough. Looks at
    /// widths only, never at whether a difference was found.
    pub(super) fn look(&mut self, case: usize) {
        let reference = self.reference();
        let state = &mut self.cases[case];
        let reference = reference.filter(|slot| state.sizes[*slot].is_some());
        // At nought nothing is narrow enough: a cost that is the same to the clock's tick in every
        // round has an interval without width.
        let mut precise = self.plan.precision > 0.0;
        state.width = None;
        for slot in (0..state.sizes.len()).filter(|slot| state.sizes[*slot].is_some()) {
            let alone = state.sizes.iter().flatten().count() == 1;
            if Some(slot) == reference && !alone {
                continue;
            }
            let base = reference.filter(|base| *base != slot).map(|base| &state.values[base]);
            for estimate in estimates(&state.values[slot], base) {
                let width = estimate.half_width(0.95);
                let obvious = estimate.value.abs() - width > OBVIOUS.ln();
                let wanted = match obvious {
                    true => OBVIOUS_PRECISION.max(self.plan.precision),
                    false => self.plan.precision,
                };
                precise &= width <= wanted;
                if state.width.is_none_or(|(widest, _)| width > widest) {
                    state.width = Some((width, slot));
                }
            }
        }
        let launched = self.launches.done(self.plan);
        let counted = self.plan.commands.as_ref().is_some_and(|rules| rules.runs.is_some());
        state.finished = counted || precise && launched;
        state.finished &= state.rounds > self.plan.min_rounds;
    }
}

/// ln of the block's value in ns an iteration, by timed phase: by these a case is judged precise.
/// Other figures come along with them and are as good as they are.
pub(super) fn ln_values(set: &SampleSet, timed: usize) -> Vec<f64> {
    let value = |samples: &Vec<u64>| stats::block_floor(samples, set.iterations).ln();
    set.samples.iter().take(timed).map(value).collect()
}

/// By phase: the log-ratio to `base` over the rounds both have, or the log-cost without a base.
fn estimates(
    values: &BTreeMap<u32, Vec<f64>>,
    base: Option<&BTreeMap<u32, Vec<f64>>>,
) -> Vec<stats::Estimate> {
    let phases = values.values().next().map_or(0, Vec::len);
    (0..phases)
        .filter_map(|phase| {
            let of_round = |(round, value): (&u32, &Vec<f64>)| match base {
                Some(base) => base.get(round).map(|base| value[phase] - base[phase]),
                None => Some(value[phase]),
            };
            stats::yuen(&values.iter().filter_map(of_round).collect::<Vec<_>>())
        })
        .collect()
}
