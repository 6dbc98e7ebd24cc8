//! The cost of a call and the cost of a byte, from a ladder of block sizes.
//!
//! `t = call + byte * size` is fitted in every round (docs/METHODOLOGY.md, "Ladder"). Estimate and
//! interval over the rounds are those of all other figures.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cell_data::{RowData, RowKey};
use super::row::Cost;
use crate::stats::{self, Contrast, Line, Round};
use crate::units;

/// Steps that a ladder needs: with two, any line fits.
const STEPS: usize = 3;
/// Residual from which the line is no description.
const RESIDUAL: f64 = 0.15;
/// Parameters that give the bytes of one call.
const SIZES: [&str; 2] = ["size", "buffer"];

/// One ladder in every column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ladder {
    /// The case without the size, and its phase.
    pub name: String,
    /// Bytes of a call, ascending.
    pub sizes: Vec<u64>,
    /// In the order of the columns; none where steps are missing.
    pub columns: Vec<Option<Split>>,
}

/// The two costs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Split {
    /// Ns of a call whatever its size, with its 95 % interval.
    pub call: Cost,
    /// Ns of a KiB more, with its 95 % interval.
    pub kib: Cost,
    /// Share of the smallest step's time that is the call.
    pub call_share: f64,
    /// What a call of each size costs, in ns, in the order of the sizes.
    #[serde(skip)]
    pub costs: Vec<f64>,
    /// Largest relative distance of a step from the line.
    pub residual: f64,
    /// The line describes the steps: no residual above 15 %, no cost below zero.
    pub fits: bool,
    /// Both costs divided by the reference's.
    pub call_tax: Option<Cost>,
    pub kib_tax: Option<Cost>,
}

/// One block size of a ladder.
#[derive(Clone, Copy)]
struct Step<'a, 'b> {
    bytes: u64,
    row: &'b RowData<'a>,
}

impl Step<'_, '_> {
    fn round(&self, column: usize, at: RoundOf) -> Option<&Round> {
        self.row.cells[column].sessions.get(at.session)?.get(at.number)
    }
}

/// A round of a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RoundOf {
    session: usize,
    number: u32,
}

/// Every ladder of at least three steps among the rows.
pub(super) fn ladders(rows: &[&RowData<'_>]) -> Vec<Ladder> {
    let mut found: Vec<(String, Vec<Step<'_, '_>>)> = Vec::new();
    for row in rows {
        let Some((name, bytes)) = step_of(&row.key) else { continue };
        let step = Step { bytes, row };
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, steps)) => steps.push(step),
            None => found.push((name, vec![step])),
        }
    }
    let sizes = |steps: &[Step<'_, '_>]| {
        let mut sizes: Vec<u64> = steps.iter().map(|step| step.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.len()
    };
    let whole = found.into_iter().filter(|(_, steps)| sizes(steps) >= STEPS);
    whole.map(|(name, steps)| ladder(name, steps)).collect()
}

/// The ladder that a row is a step of, and its size.
fn step_of(key: &RowKey) -> Option<(String, u64)> {
    let case = &key.planned.case;
    let name = SIZES.into_iter().find(|name| case.params.get(name).is_some())?;
    if !key.phase().timed || !case.probe.starts_with("file.") && !case.probe.starts_with("pipe.") {
        return None;
    }
    let size = units::parse_bytes(case.params.get(name)?)?;
    // What follows from the size, as the blocks of a copy do, is no other ladder.
    let other = |word: &&str| !word.starts_with(name) && !word.starts_with("blocks=");
    let rest: Vec<&str> = case.params.as_str().split(' ').filter(other).collect();
    let dir = case.dir.as_ref().map(|dir| format!("dir={dir}")).unwrap_or_default();
    let words = [case.probe.as_str(), &key.phase().name, &rest.join(" "), &dir];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some((words.join(" "), size))
}

fn ladder(name: String, mut steps: Vec<Step<'_, '_>>) -> Ladder {
    steps.sort_by_key(|step| step.bytes);
    let columns = steps[0].row.cells.len();
    let lines: Vec<Lines> = (0..columns).map(|column| lines(&steps, column)).collect();
    let split = |column: usize| split(&steps, column, &lines[column], &lines[0]);
    let columns = (0..columns).map(split).collect();
    Ladder { name, sizes: steps.iter().map(|step| step.bytes).collect(), columns }
}

/// The lines of a column.
type Lines = BTreeMap<RoundOf, Fitted>;

/// The line of a round.
struct Fitted {
    launch: u32,
    line: Line,
}

/// One line for each round in which every step was measured.
fn lines(steps: &[Step<'_, '_>], column: usize) -> Lines {
    let sessions = steps[0].row.cells[column].sessions.iter().enumerate();
    let rounds = sessions.flat_map(|(session, rounds)| {
        rounds.iter().map(move |(number, _)| RoundOf { session, number })
    });
    let line = |at: RoundOf| {
        let point =
            |step: &Step<'_, '_>| Some((step.bytes as f64, step.round(column, at)?.ln_floor.exp()));
        let points: Option<Vec<_>> = steps.iter().map(point).collect();
        let launch = steps[0].round(column, at)?.launch;
        Some((at, Fitted { launch, line: stats::fit_line(&points?)? }))
    };
    rounds.filter_map(line).collect()
}

fn split(steps: &[Step<'_, '_>], column: usize, lines: &Lines, base: &Lines) -> Option<Split> {
    let first = &steps[0].row.cells;
    let sessions = first[column].sessions.len();
    let launches: Vec<u32> = lines.values().map(|fitted| fitted.launch).collect();
    let cost = |of: fn(&Line) -> f64| {
        let values: Vec<f64> = lines.values().map(|fitted| of(&fitted.line)).collect();
        let effect = Contrast::of_values(&values, &launches, sessions).effect()?;
        Some(Cost::of(&effect, |value| value))
    };
    let call = cost(|line| line.start)?;
    let kib = cost(|line| line.slope * 1024.0)?;
    let line = Line { start: call.value, slope: kib.value / 1024.0 };
    let cost_of = |step: &Step<'_, '_>| Some(step.row.cells[column].costs()?.0);
    let costs: Vec<f64> = steps.iter().map(cost_of).collect::<Option<_>>()?;
    let measured = steps.iter().zip(&costs);
    let distances = measured.map(|(step, cost)| (line.at(step.bytes as f64) / cost - 1.0).abs());
    let residual = distances.fold(0.0, f64::max);
    // Only rounds of one run are pairs.
    let paired = column > 0 && first[column].is_paired_with(&first[0]);
    let tax = |of: fn(&Line) -> f64| if paired { ratio(lines, base, of) } else { None };
    Some(Split {
        call_share: call.value / line.at(steps[0].bytes as f64),
        residual,
        costs,
        fits: residual <= RESIDUAL && call.value > 0.0 && kib.value > 0.0,
        call_tax: tax(|line| line.start),
        kib_tax: tax(|line| line.slope),
        call,
        kib,
    })
}

/// How many times more one of the two costs is than the reference's, over the rounds that both
/// have. None where either is not above zero: a ratio would say nothing.
fn ratio(own: &Lines, base: &Lines, of: fn(&Line) -> f64) -> Option<Cost> {
    let pairs = own.iter().filter_map(|(at, own)| Some((own, base.get(at)?)));
    let (mut owns, mut bases, mut launches) = (Vec::new(), Vec::new(), Vec::new());
    for (own, base) in pairs {
        owns.push(of(&own.line));
        bases.push(of(&base.line));
        launches.push(own.launch);
    }
    let ratio = stats::ratio_of_locations(&owns, &bases, &launches, 0.95)?;
    Some(Cost { value: ratio.value, interval: ratio.bounds })
}
