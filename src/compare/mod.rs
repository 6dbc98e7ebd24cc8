//! From run files to rows of cost, tax, interval and verdict; pure.
//!
//! Environments of one file were measured in the same rounds: their ratios are taken round by
//! round. Different files are different sessions, whose own difference nothing inside one of them
//! shows: there the session is the unit, and one a side says nothing about error.

mod flags;
mod remarks;
mod sides;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::model::PlannedCase;
use crate::runfile::{Block, OutcomeState, RunFile};
use crate::stats::{self, Estimate};

pub use flags::Flag;
pub use sides::{Session, Side, pooled, sides};
use verdict::Test;
pub use verdict::Verdict;

/// Sessions a side below which there is no verdict.
const MIN_SESSIONS: usize = 3;

/// Everything a report shows.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Label of the column the others are divided by.
    pub reference: String,
    /// Labels of all columns, the reference first.
    pub columns: Vec<String>,
    /// Half-width of what counts as the same, as a share.
    pub margin: f64,
    pub rows: Vec<Row>,
    pub areas: Vec<Area>,
    /// What a reader must know beside the rows, worst first.
    pub remarks: Vec<String>,
}

/// One figure in every column.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub probe: String,
    pub params: String,
    pub dir: Option<String>,
    pub phase: String,
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

    /// The part of the probe's id before the dot.
    pub fn area(&self) -> &str {
        self.probe.split('.').next().unwrap_or_default()
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    Measured(Measured),
    /// Cannot be measured there.
    Skipped {
        reason: String,
    },
    /// Was tried and went wrong.
    Failed {
        reason: String,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Floor cost of one unit in ns. In the reference: trimmed mean over rounds of the blocks' 25 %
    /// quantiles; elsewhere: the reference's times the tax.
    pub cost_ns: f64,
    /// Mean cost in ns with everything that happened, from block means in the same way.
    pub all_in_ns: f64,
    pub rounds: usize,
    /// None in the reference's own column.
    pub tax: Option<Tax>,
    pub flags: Vec<Flag>,
}

/// An environment's cost as a multiple of the reference's.
#[derive(Clone, Debug, Serialize)]
pub struct Tax {
    pub ratio: f64,
    /// 95 % interval; none where the data cannot tell (one session a side).
    pub interval: Option<(f64, f64)>,
    /// The same from block means.
    pub all_in_ratio: f64,
    /// Cost added or saved, in ns.
    pub difference_ns: f64,
    pub verdict: Verdict,
}

/// Geometric mean of the taxes of one area: a summary of its rows, never a result by itself.
#[derive(Clone, Debug, Serialize)]
pub struct Area {
    pub area: String,
    pub rows: usize,
    /// By column; none in the reference's own and where nothing was measured.
    pub ratios: Vec<Option<f64>>,
}

/// Compares the sides with the first one.
pub fn compare(sides: &[Side<'_>], margin: f64) -> Result<Comparison> {
    let reference = sides.first().context("there is nothing to compare")?;
    for (index, side) in sides.iter().enumerate() {
        let twice = sides[..index].iter().any(|other| other.label == side.label);
        ensure!(!twice, "`{}` is given twice", side.label);
    }
    let mut rows = Vec::new();
    let mut tests = Vec::new();
    for key in row_keys(sides) {
        let base = SideData::collect(reference, &key);
        let mut cells = Vec::new();
        for (column, side) in sides.iter().enumerate() {
            let data = SideData::collect(side, &key);
            let against = (column > 0).then_some(&base);
            let (cell, test) = cell(side, &key, &data, against, margin);
            cells.push(cell);
            tests.extend(test.map(|test| test.at(rows.len(), column)));
        }
        rows.push(key.row(cells));
    }
    verdict::settle(&mut rows, &tests);
    Ok(Comparison {
        reference: reference.label.clone(),
        columns: sides.iter().map(|side| side.label.clone()).collect(),
        margin,
        areas: areas(&rows, sides.len()),
        rows,
        remarks: remarks::remarks(sides),
    })
}

/// What makes two figures the same row, also across files.
#[derive(Clone, Debug, PartialEq)]
struct RowKey {
    planned: PlannedCase,
    phase: usize,
}

impl RowKey {
    fn row(&self, cells: Vec<Cell>) -> Row {
        let case = &self.planned.case;
        Row {
            probe: case.probe.clone(),
            params: case.params.as_str().to_owned(),
            dir: case.dir.clone(),
            phase: self.planned.phases[self.phase].clone(),
            unit: self.planned.unit.clone(),
            cells,
        }
    }
}

fn row_keys(sides: &[Side<'_>]) -> Vec<RowKey> {
    let mut keys: Vec<RowKey> = Vec::new();
    for session in sides.iter().flat_map(|side| &side.sessions) {
        for planned in &session.run.header.plan.cases {
            if keys.iter().any(|key| key.planned.case == planned.case) {
                continue;
            }
            let key = |phase| RowKey { planned: planned.clone(), phase };
            keys.extend((0..planned.phases.len()).map(key));
        }
    }
    keys
}

/// ln floor and ln mean of each round of one session.
type Rounds = BTreeMap<u32, (f64, f64)>;

/// What a side has for a row.
struct SideData<'a> {
    sessions: Vec<Rounds>,
    blocks: Vec<&'a Block>,
    /// Identity of the one file, when it is one: only its rounds can be paired.
    file: Option<*const RunFile>,
}

impl<'a> SideData<'a> {
    fn collect(side: &Side<'a>, key: &RowKey) -> SideData<'a> {
        let mut blocks = Vec::new();
        let mut sessions = Vec::new();
        for session in &side.sessions {
            let own: Vec<&Block> = session.blocks_of(key).collect();
            let rounds = own.iter().filter_map(|block| {
                let samples = block.set.samples.get(key.phase)?;
                let iterations = block.set.iterations;
                let floor = stats::block_floor(samples, iterations).ln();
                Some((block.round, (floor, stats::block_mean(samples, iterations).ln())))
            });
            sessions.push(rounds.collect::<Rounds>());
            blocks.extend(own);
        }
        let file = match side.sessions.as_slice() {
            [one] => Some(std::ptr::from_ref(one.run)),
            _ => None,
        };
        SideData { sessions, blocks, file }
    }

    /// One value a session, in ln ns: the trimmed means of its rounds' floors and means.
    fn session_values(&self) -> (Vec<f64>, Vec<f64>) {
        self.sessions
            .iter()
            .filter_map(|rounds| {
                let (floors, means): (Vec<f64>, Vec<f64>) = rounds.values().copied().unzip();
                Some((centre(&floors)?, centre(&means)?))
            })
            .unzip()
    }

    /// Floor and mean cost in ns over all sessions.
    fn costs_ns(&self) -> Option<(f64, f64)> {
        let (floors, means) = self.session_values();
        Some((centre(&floors)?.exp(), centre(&means)?.exp()))
    }

    fn rounds(&self) -> usize {
        self.sessions.iter().map(BTreeMap::len).sum()
    }
}

impl<'a> Session<'a> {
    fn blocks_of(&self, key: &RowKey) -> impl Iterator<Item = &'a Block> + use<'a> {
        let (run, env) = (self.run, self.env);
        let case = self.case_index(key);
        let counts =
            move |block: &&Block| Some(block.case) == case && block.env == env && block.round > 0;
        run.blocks.iter().filter(counts)
    }

    fn case_index(&self, key: &RowKey) -> Option<usize> {
        let cases = &self.run.header.plan.cases;
        cases.iter().position(|planned| planned.case == key.planned.case)
    }

    /// Why the row is missing in this session, if the file says.
    fn outcome(&self, key: &RowKey) -> Option<(OutcomeState, &'a str)> {
        let case = self.case_index(key)?;
        let mut outcomes = self.run.outcomes.iter();
        let found = outcomes.find(|outcome| outcome.case == case && outcome.env == self.env)?;
        Some((found.state, &found.reason))
    }
}

/// Trimmed mean, or the plain mean of fewer than three values.
fn centre(values: &[f64]) -> Option<f64> {
    match stats::yuen(values) {
        Some(estimate) => Some(estimate.value),
        None if values.is_empty() => None,
        None => Some(values.iter().sum::<f64>() / values.len() as f64),
    }
}

fn cell(
    side: &Side<'_>,
    key: &RowKey,
    data: &SideData<'_>,
    base: Option<&SideData<'_>>,
    margin: f64,
) -> (Cell, Option<Test>) {
    let outcome = side.sessions.iter().find_map(|session| session.outcome(key));
    if let Some((OutcomeState::Failed, reason)) = outcome {
        return (Cell::Failed { reason: reason.to_owned() }, None);
    }
    let Some((own_cost, own_all_in)) = data.costs_ns() else {
        let none = "no round was finished";
        let reason = outcome.map_or(none, |(_, reason)| reason).to_owned();
        return (Cell::Skipped { reason }, None);
    };
    let (tax, test) = base.and_then(|base| tax(data, base, margin)).unzip();
    let base_blocks = base.map(|base| base.blocks.as_slice());
    let mut flags = flags::of_blocks(&key.planned, own_cost, &data.blocks, base_blocks);
    flags.extend(tax.as_ref().and_then(flags::heavy_tail));
    let (cost_ns, all_in_ns) = match (&tax, base.and_then(SideData::costs_ns)) {
        // Round by round is the better estimate, and who divides two costs shall get the tax.
        (Some(tax), Some(base)) => (base.0 * tax.ratio, base.1 * tax.all_in_ratio),
        _ => (own_cost, own_all_in),
    };
    let measured = Measured { cost_ns, all_in_ns, rounds: data.rounds(), tax, flags };
    (Cell::Measured(measured), test.flatten())
}

/// The tax, and the test behind its verdict where the data allow one.
fn tax(data: &SideData<'_>, base: &SideData<'_>, margin: f64) -> Option<(Tax, Option<Test>)> {
    let paired = data.file.is_some() && data.file == base.file;
    let (own, own_means) = data.session_values();
    let (other, other_means) = base.session_values();
    let difference = centre(&own)? - centre(&other)?;
    let (estimate, point, all_in) = if paired {
        let (floors, means) = ratios(&data.sessions[0], &base.sessions[0]);
        (stats::yuen(&floors), centre(&floors)?, centre(&means)?)
    } else {
        let all_in = centre(&own_means)? - centre(&other_means)?;
        let estimate = stats::two_means(&other, &own);
        (estimate, estimate.map_or(difference, |estimate| estimate.value), all_in)
    };
    let bounds = |estimate: Estimate| {
        let width = estimate.half_width(0.95);
        ((point - width).exp(), (point + width).exp())
    };
    let tax = Tax {
        ratio: point.exp(),
        interval: estimate.map(bounds),
        all_in_ratio: all_in.exp(),
        difference_ns: base.costs_ns()?.0 * (point.exp() - 1.0),
        verdict: Verdict::Descriptive,
    };
    let enough = paired || own.len().min(other.len()) >= MIN_SESSIONS;
    Some((tax, estimate.filter(|_| enough).map(|estimate| Test::new(estimate, margin, paired))))
}

/// ln ratios of floors and means over the rounds that both have.
fn ratios(own: &Rounds, base: &Rounds) -> (Vec<f64>, Vec<f64>) {
    own.iter()
        .filter_map(|(round, value)| {
            let base = base.get(round)?;
            Some((value.0 - base.0, value.1 - base.1))
        })
        .unzip()
}

fn areas(rows: &[Row], columns: usize) -> Vec<Area> {
    let mut names: Vec<&str> = rows.iter().map(Row::area).collect();
    names.dedup();
    let summary = |area: &&str| {
        let own: Vec<&Row> = rows.iter().filter(|row| row.area() == *area).collect();
        let ratio = |column: usize| {
            let logs: Vec<f64> =
                own.iter().filter_map(|row| Some(tax_of(&row.cells[column])?.ratio.ln())).collect();
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        let ratios = (0..columns).map(ratio).collect();
        Area { area: (*area).to_owned(), rows: own.len(), ratios }
    };
    names.iter().map(summary).collect()
}

/// The tax in a cell, if it has one.
pub fn tax_of(cell: &Cell) -> Option<&Tax> {
    match cell {
        Cell::Measured(measured) => measured.tax.as_ref(),
        _ => None,
    }
}
