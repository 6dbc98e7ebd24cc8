//! Decides when a case is precise enough, by the intervals that the report prints: of the floors
//! ([`Contrast::effect`]) and of the means ([`Contrast::mean_cost`]).

use super::Driver;
use super::cells::{CaseState, Cell};
use crate::model::Stop;
use crate::stats::{Contrast, Effect, Estimate};

/// A tax beyond this factor is obvious, and [`OBVIOUS_PRECISION`] is enough for it.
const OBVIOUS: f64 = 1.5;
const OBVIOUS_PRECISION: f64 = 0.05;
/// Intervals of means may be wider than those of floors by this factor, because means vary three to
/// four times as much. At a precision of 2 %, nine of ten runs show a stall that adds 10 % to the
/// mean.
const MEAN_WIDTH: f64 = 3.0;
/// A case is known after this number of consecutive looks that found its intervals narrow enough:
/// an interval that is narrow by chance once is rarely so twice.
pub(super) const LOOKS: u32 = 2;

impl Driver<'_> {
    /// Looks at the intervals of every case that still runs, and finishes the cases that are known.
    /// It looks at widths only, never at whether a difference was found.
    pub(super) fn look(&mut self) {
        let reference = self.reference();
        let enough_launches = self.launches.enough(self.plan);
        for state in self.cases.iter_mut().filter(|state| state.is_active()) {
            let intervals = intervals(state, reference);
            let widths = intervals.iter().map(|it| (it.floor_width(), it.slot));
            state.width = widths.max_by(|a, b| a.0.total_cmp(&b.0));
            let narrow = intervals.iter().all(|it| it.is_narrow(&self.plan.stop));
            let rounds = state.rounds > self.plan.stop.min_rounds();
            match narrow && rounds && !intervals.is_empty() {
                true => state.narrow_looks += 1,
                false => state.narrow_looks = 0,
            }
            state.finished = state.narrow_looks >= LOOKS && enough_launches;
        }
    }
}

/// The interval of a tax or a cost, of one timed phase in one environment.
pub(super) struct Interval {
    /// The environment.
    slot: usize,
    floor: Effect,
    /// None if a mean is zero, or if there are too few rounds.
    mean: Option<Estimate>,
}

impl Interval {
    pub(super) fn of(slot: usize, contrast: &Contrast) -> Option<Interval> {
        Some(Interval { slot, floor: contrast.effect()?, mean: contrast.mean_cost()?.estimate })
    }

    /// Half-width at 95 %, in logarithms. Infinite if there is no interval.
    fn floor_width(&self) -> f64 {
        self.floor.half_width(0.95).unwrap_or(f64::INFINITY)
    }

    pub(super) fn is_narrow(&self, stop: &Stop) -> bool {
        let Stop::Precise { half_width, .. } = *stop else { return false };
        let width = self.floor_width();
        let obvious = self.floor.value.abs() - width > OBVIOUS.ln();
        let wanted = if obvious { half_width.max(OBVIOUS_PRECISION) } else { half_width };
        let mean = self.mean.is_none_or(|mean| mean.half_width(0.95) <= MEAN_WIDTH * wanted);
        width <= wanted && mean
    }
}

/// The intervals of the case's taxes. If the reference does not measure the case, or nothing else
/// does, the intervals of its costs.
fn intervals(state: &CaseState, reference: Option<usize>) -> Vec<Interval> {
    let reference = reference.filter(|slot| state.cells[*slot].size.is_some());
    let alone = state.measured().count() == 1;
    let compared = |slot: usize| Some(slot) != reference || alone;
    let mut found = Vec::new();
    for (slot, cell) in state.measured().filter(|(slot, _)| compared(*slot)) {
        let base = reference.filter(|base| *base != slot).map(|base| &state.cells[base]);
        found.extend(contrasts(cell, base).iter().filter_map(|it| Interval::of(slot, it)));
    }
    found
}

/// One contrast for each timed phase: of the rounds that both have, or of the costs alone.
fn contrasts(own: &Cell, base: Option<&Cell>) -> Vec<Contrast> {
    let one = std::slice::from_ref;
    let contrast = |(phase, own)| match base {
        Some(base) => Some(Contrast::against(one(own), one(base.series.get(phase)?))),
        None => Some(Contrast::alone(one(own))),
    };
    own.series.iter().enumerate().filter_map(contrast).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::BlockSize;
    use crate::stats::{Round, Series};

    /// A cell of 40 rounds in ten launches. `floor` and `mean` give the values of a round.
    fn cell(floor: impl Fn(u32) -> f64, mean: impl Fn(u32) -> f64) -> Cell {
        let round = |number: u32| {
            let launch = number / 4;
            (number, Round { launch, ln_floor: floor(number).ln(), mean: mean(number) })
        };
        let series: Series = (0..40).map(round).collect();
        let size = BlockSize { iterations: 1, samples: 1, discard: false, limit_ns: 0 };
        Cell { size: Some(size), most: 1, series: vec![series], ..Cell::default() }
    }

    fn narrow(own: Cell, half_width: f64) -> bool {
        let mut state = CaseState::new(0);
        state.cells = vec![cell(|_| 100.0, |_| 100.0), own];
        let stop = Stop::at_precision(half_width, 15, 60.0);
        let found = intervals(&state, Some(0));
        assert_eq!(found.iter().map(|it| it.slot).collect::<Vec<_>>(), [1]);
        found.iter().all(|it| it.is_narrow(&stop))
    }

    /// A value that alternates up and down by that share, the same in every launch.
    fn wave(number: u32, share: f64) -> f64 {
        if number.is_multiple_of(2) { 1.0 + share } else { 1.0 - share }
    }

    #[test]
    fn floor_and_mean_must_both_be_narrow() {
        let steady = || cell(|it| 100.0 * wave(it, 0.01), |it| 110.0 * wave(it, 0.01));
        assert!(narrow(steady(), 0.02));
        assert!(!narrow(steady(), 0.0), "at zero the budget decides");
        let rare = |it: u32| if it % 13 == 5 { 1000.0 } else { 100.0 };
        assert!(!narrow(cell(|it| 100.0 * wave(it, 0.01), rare), 0.02), "the mean is not known");
        let launches = |it: u32| 100.0 * wave(it / 4, 0.1);
        assert!(!narrow(cell(launches, |_| 100.0), 0.02), "launches differ by a fifth");
    }

    #[test]
    fn an_obvious_tax_needs_less() {
        let by_launch = |it: u32| wave(it / 4, 0.02);
        let near = cell(|it| 100.0 * by_launch(it), |it| 100.0 * by_launch(it));
        let far = cell(|it| 900.0 * by_launch(it), |it| 900.0 * by_launch(it));
        assert!(!narrow(near, 0.01) && narrow(far, 0.01));
    }
}
