//! Figures of the rounds of one case in one environment, and differences between two of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::CommandPhase;
use crate::runfile::{Block, RunFile};
use crate::stats::Contrast;

const CONFIDENCE: f64 = 0.95;

/// A value with its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// The counted rounds of a case in an environment.
pub struct Rounds<'a> {
    pub blocks: BTreeMap<u32, &'a Block>,
}

impl<'a> Rounds<'a> {
    pub fn of(run: &'a RunFile, case: usize, env: &str) -> Rounds<'a> {
        let counts = |it: &&Block| it.case == case && it.round > 0 && it.env == env;
        let blocks = run.blocks.iter().filter(counts).map(|block| (block.round, block));
        Rounds { blocks: blocks.collect() }
    }

    pub fn figure(&self, phase: CommandPhase) -> Option<Figure> {
        let values = self.blocks.values().filter_map(|block| value(block, phase)).collect();
        located(values, self.blocks.values().map(|block| block.launch).collect())
    }

    /// The differences of the rounds that both have.
    pub fn beyond(&self, base: &Rounds<'_>, of: &dyn Fn(&Block) -> Option<f64>) -> Option<Figure> {
        let pairs = self.blocks.iter().filter_map(|(round, own)| {
            let base = base.blocks.get(round)?;
            Some((of(own)? - of(base)?, own.launch))
        });
        let (values, launches) = pairs.unzip();
        located(values, launches)
    }
}

/// A figure of one run.
pub fn value(block: &Block, phase: CommandPhase) -> Option<f64> {
    let at = CommandPhase::ALL.iter().position(|it| *it == phase)?;
    Some(*block.set.samples.get(at)?.first()? as f64)
}

fn located(values: Vec<f64>, launches: Vec<u32>) -> Option<Figure> {
    let effect = Contrast::of_values(&values, &launches, 1).effect()?;
    Some(Figure { value: effect.value, interval: effect.bounds(CONFIDENCE) })
}

/// Where these values lie.
pub fn of(values: &[u64]) -> Option<Figure> {
    located(values.iter().map(|value| *value as f64).collect(), vec![0; values.len()])
}

/// The ratio of the wall times of the rounds that both have.
pub fn ratio(own: &Rounds<'_>, base: &Rounds<'_>) -> Option<Figure> {
    let found = own.beyond(base, &|block| Some(value(block, CommandPhase::Wall)?.ln()))?;
    let interval = found.interval.map(|(low, high)| (low.exp(), high.exp()));
    Some(Figure { value: found.value.exp(), interval })
}

impl Figure {
    fn half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0)
    }
}

/// `1 + extra / base`, with the errors of both (propagation of independent errors).
pub fn slowdown(extra: Figure, base: Figure) -> Figure {
    let share = extra.value / base.value;
    let widths = extra.half_width().zip(base.half_width());
    let interval = widths.map(|(of_extra, of_base)| {
        let width = (of_extra / base.value).hypot(share * of_base / base.value);
        (1.0 + share - width, 1.0 + share + width)
    });
    Figure { value: 1.0 + share, interval }
}

/// `first · second / third`, with the errors of all (propagation of independent errors).
pub fn scaled(first: Figure, second: Figure, third: Figure) -> Figure {
    let value = first.value * second.value / third.value;
    let relative = |it: Figure| it.half_width().map(|width| width / it.value);
    let widths = relative(first).zip(relative(second)).zip(relative(third));
    let interval = widths.map(|((first, second), third)| {
        let width = value * first.hypot(second).hypot(third);
        (value - width, value + width)
    });
    Figure { value, interval }
}
