//! The results of a comparison for one figure: its row, the cell of each column, the tax in a cell.
//!
//! `evidence.rs` finds these results, and `decide.rs` adds the verdicts.

use serde::Serialize;

use super::flag::Flag;
use super::reach::Reach;
use super::verdict::Verdict;
use crate::model::{COMMAND, EMPTY_SHELL, Failure, Quantity};
use crate::stats::{self, Between, Contrast, Effect};

/// One figure in every column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    pub probe: String,
    pub params: String,
    pub dir: Option<String>,
    pub phase: String,
    /// What the cost is: ns, bytes, or millionths.
    pub quantity: Quantity,
    /// What the cost is of.
    pub unit: String,
    /// In the order of [`Comparison::columns`].
    pub cells: Vec<Cell>,
}

impl Row {
    /// `process.fork create`, `file.read size=4KiB dir=tmp`.
    pub fn name(&self) -> String {
        let dir = self.dir.as_ref().map(|dir| format!("dir={dir}")).unwrap_or_default();
        let words = [&self.probe, &self.phase, &self.params, &dir];
        words.into_iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    }

    /// Whether it is of a whole command, be it a shell with nothing to do.
    pub fn is_of_command(&self) -> bool {
        [COMMAND, EMPTY_SHELL].contains(&self.probe.as_str())
    }

    /// The part of the probe's id before the dot.
    pub fn area(&self) -> &str {
        area_of(&self.probe)
    }
}

pub(super) fn area_of(probe: &str) -> &str {
    probe.split('.').next().unwrap_or_default()
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
// Nearly all cells are measured, and there are few.
#[allow(clippy::large_enum_variant)]
pub enum Cell {
    Measured(Measured),
    /// Cannot be measured there.
    Skipped(Failure),
    /// Was tried and went wrong.
    Failed(Failure),
    /// Could have been measured there, but the run ended before.
    NotReached {
        reason: String,
    },
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measured {
    /// Floor cost of one unit, in the row's quantity. In the reference: trimmed mean over rounds of
    /// the blocks' 25 % quantiles; elsewhere: the reference's times the tax.
    pub cost: f64,
    /// 95 % interval of `cost` itself, from its own rounds; none of fewer than three.
    pub cost_interval: Option<(f64, f64)>,
    /// The least and the greatest cost of a round.
    pub range: Option<(f64, f64)>,
    /// What the first three rounds measured, for tables that print single runs.
    pub first_rounds: Vec<f64>,
    /// Mean cost with everything that happened: the arithmetic mean over all rounds.
    pub all_in: f64,
    /// 95 % interval of `all_in` itself, from its own rounds.
    pub all_in_interval: Option<(f64, f64)>,
    /// The levels between which the rounds' costs jump, ascending; empty where they do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Exceeded by one run of a whole command in ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    /// CPU time of the environment's processes on the controller's side for one unit, in ns: over
    /// whole blocks, with the start and end of their workers. None where they are not seen.
    pub outside_cpu_ns: Option<f64>,
    pub rounds: usize,
    /// None in the reference's own column.
    pub tax: Option<Tax>,
    pub flags: Vec<Flag>,
}

/// An environment's cost as a multiple of the reference's.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tax {
    pub ratio: f64,
    /// 95 % interval; none where the data cannot tell (one session a side).
    pub interval: Option<(f64, f64)>,
    /// The wider interval that the correction for all rows asks for, where it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_interval: Option<(f64, f64)>,
    /// The ratio of the mean costs, with its 95 % interval.
    pub all_in_ratio: f64,
    pub all_in_interval: Option<(f64, f64)>,
    /// Cost added or saved, in the row's quantity.
    pub difference: f64,
    /// How far the rounds disagree: the 90 % quantile of their ratios divided by the 10 % quantile.
    /// None where rounds cannot be paired.
    pub spread: Option<f64>,
    /// The 10 % and the 90 % quantile of the rounds' ratios.
    pub range: Option<(f64, f64)>,
    /// The levels between which the rounds' ratios jump, ascending; empty where they do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// How far each round's ratio resembles that of the one before it, from -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autocorrelation: Option<f64>,
    /// How far launches disagree; none where there were too few to tell.
    pub launches: Option<Between>,
    /// What sessions can show; none of rounds that were measured side by side, and where there is
    /// but one session a side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Box<Reach>>,
    /// What several runs say of the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Box<Runs>>,
    pub verdict: Verdict,
}

/// Several runs of the same environments, pooled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Runs {
    /// The tax in each of them.
    pub ratios: Vec<f64>,
    /// Where the tax of the next run falls, with 95 %; none of fewer than three.
    pub prediction: Option<(f64, f64)>,
    /// Some runs' own intervals exclude each other: no single run tells what another one shows.
    pub apart: bool,
}

impl Runs {
    /// From the effect of each run, in logarithms.
    pub(super) fn of(effects: &[Effect]) -> Runs {
        let logs: Vec<f64> = effects.iter().map(|effect| effect.value).collect();
        let next = stats::prediction(&logs, 0.95);
        let bounds = effects.iter().filter_map(|effect| effect.bounds(0.95));
        let (lows, highs): (Vec<f64>, Vec<f64>) = bounds.unzip();
        let ends = lows.into_iter().reduce(f64::max).zip(highs.into_iter().reduce(f64::min));
        Runs {
            ratios: logs.iter().map(|log| log.exp()).collect(),
            prediction: next.map(|next| (next.low.exp(), next.high.exp())),
            apart: ends.is_some_and(|(greatest_low, least_high)| greatest_low > least_high),
        }
    }
}

/// Each name once, in the order of first appearance.
pub(super) fn first_met<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The tax in a cell, if it has one.
pub fn tax_of(cell: &Cell) -> Option<&Tax> {
    match cell {
        Cell::Measured(measured) => measured.tax.as_ref(),
        _ => None,
    }
}

/// Rounds that lie together, where rounds lie at several levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Level {
    /// Their median: a cost, or a ratio.
    pub value: f64,
    /// Their part of all rounds.
    pub share: f64,
}

impl Level {
    /// The levels of a contrast; none where its rounds lie together.
    pub(super) fn of(contrast: &Contrast) -> Vec<Level> {
        let found = contrast.levels();
        let level = |it: &stats::Level| Level { value: it.value.exp(), share: it.share };
        if found.len() > 1 { found.iter().map(level).collect() } else { Vec::new() }
    }
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cost {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

impl Cost {
    /// An effect in the unit that `from` gives: `f64::exp` for logarithms.
    pub(super) fn of(effect: &Effect, from: impl Fn(f64) -> f64) -> Cost {
        let interval = effect.bounds(0.95).map(|(low, high)| (from(low), from(high)));
        Cost { value: from(effect.value), interval }
    }
}
