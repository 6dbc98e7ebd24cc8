//! Decides when a case is precise enough, by the interval that the report prints:
//! [`Contrast::effect`].

use super::Driver;
use super::cells::{CaseState, Cell};
use crate::model::Stop;
use crate::stats::{Contrast, Effect};

/// Beyond this factor a tax is obvious, and [`OBVIOUS_PRECISION`] is enough.
const OBVIOUS: f64 = 1.5;
const OBVIOUS_PRECISION: f64 = 0.05;
/// A case is known when so many looks in a row found its intervals narrow enough: an interval that
/// is narrow by chance once is rarely so twice.
const LOOKS: u32 = 2;

impl Driver<'_> {
    /// Looks at the intervals of every case that still runs, and finishes those that are known.
    /// Looks at widths only, never at whether a difference was found.
    pub(super) fn look(&mut self) {
        let reference = self.reference();
        let enough_launches = self.launches.enough(self.plan);
        for state in self.cases.iter_mut().filter(|state| state.is_active()) {
            let intervals = intervals(state, reference);
            let widths = intervals.iter().map(|(slot, effect)| (width(effect), *slot));
            state.width = widths.max_by(|a, b| a.0.total_cmp(&b.0));
            let narrow = intervals.iter().all(|(_, effect)| is_narrow(effect, &self.plan.stop));
            let rounds = state.rounds > self.plan.stop.min_rounds();
            match narrow && rounds && !intervals.is_empty() {
                true => state.narrow_looks += 1,
                false => state.narrow_looks = 0,
            }
            state.finished = state.narrow_looks >= LOOKS && enough_launches;
        }
    }
}

/// The taxes of the case by timed phase, with the environments that they are of. Its costs, where
/// the reference does not measure it, or nothing else does.
fn intervals(state: &CaseState, reference: Option<usize>) -> Vec<(usize, Effect)> {
    let reference = reference.filter(|slot| state.cells[*slot].size.is_some());
    let alone = state.measured().count() == 1;
    let compared = |slot: usize| Some(slot) != reference || alone;
    let mut found = Vec::new();
    for (slot, cell) in state.measured().filter(|(slot, _)| compared(*slot)) {
        let base = reference.filter(|base| *base != slot).map(|base| &state.cells[base]);
        found.extend(effects(cell, base).into_iter().map(|effect| (slot, effect)));
    }
    found
}

/// By timed phase: the log-ratio to `base` over the rounds that both have, or the log-cost.
fn effects(own: &Cell, base: Option<&Cell>) -> Vec<Effect> {
    let one = std::slice::from_ref;
    let effect = |(phase, own)| match base {
        Some(base) => Contrast::against(one(own), one(base.series.get(phase)?)).effect(),
        None => Contrast::alone(one(own)).effect(),
    };
    own.series.iter().enumerate().filter_map(effect).collect()
}

/// Half-width of the interval at 95 %, in logarithms. Without an interval nothing is known.
fn width(effect: &Effect) -> f64 {
    effect.half_width(0.95).unwrap_or(f64::INFINITY)
}

fn is_narrow(effect: &Effect, stop: &Stop) -> bool {
    let Stop::Precise { half_width, .. } = *stop else { return false };
    let width = width(effect);
    let obvious = effect.value.abs() - width > OBVIOUS.ln();
    width <= if obvious { half_width.max(OBVIOUS_PRECISION) } else { half_width }
}
