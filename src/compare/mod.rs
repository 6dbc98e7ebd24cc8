//! From run files to rows of cost, tax, interval and verdict; pure.
//!
//! Environments of one file were measured in the same rounds: their ratios are taken round by
//! round. Different files are different sessions, whose own difference nothing inside one of them
//! shows: there the session is the unit, and one a side says nothing about error.

mod commands;
mod conditions;
mod data;
mod differences;
mod directories;
mod first_runs;
mod flags;
mod inputs;
mod ladder;
mod latencies;
mod launches;
mod remarks;
mod sameness;
mod scaling;
#[cfg(test)]
mod section_tests;
mod sessions;
mod sides;
#[cfg(test)]
mod tests;
mod verdict;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::model::{COMMAND, CommandPhase, EMPTY_SHELL, Facts, Failure, Quantity};
pub use crate::stats::Between;
use crate::stats::{Contrast, Effect, centre};

use data::{Counted, RowKey, SideData, row_keys};
pub use differences::{Change, Difference};
pub use directories::{Directories, DirectoryCosts};
pub use first_runs::{FirstRun, FirstRuns};
pub use flags::Flag;
pub use inputs::{OverInputs, SpeedUp};
pub use ladder::{Cost, Ladder, Split};
pub use latencies::{LatencyRow, Quantiles};
pub use launches::StartUp;
pub use remarks::{Remark, RemarkKind};
pub use scaling::Scaling;
pub use sessions::Reach;
pub use sides::{Session, Side, pooled, side_names, sides};
use verdict::Test;
pub use verdict::Verdict;

/// Sessions a side below which there is no verdict.
const MIN_SESSIONS: usize = 3;
/// Rounds of a session below which there is no verdict: the error of so few is mostly chance.
const MIN_ROUNDS: usize = 5;

/// Everything a report shows.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Label of the column the others are divided by.
    pub reference: String,
    /// Labels of all columns, the reference first.
    pub columns: Vec<String>,
    /// What each column's environment says of itself, and of its target directories as `dir NAME`.
    pub specs: Vec<Facts>,
    /// Half-width of what counts as the same, as a share.
    pub margin: f64,
    pub rows: Vec<Row>,
    pub areas: Vec<Area>,
    /// Cost of a call and of a byte, where block sizes form a ladder.
    pub ladders: Vec<Ladder>,
    /// What target directories cost against the first one, where there are several.
    pub directories: Option<Directories>,
    /// What several copies at a time achieve.
    pub scalings: Vec<Scaling>,
    /// The first runs of whole commands beside the later ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_runs: Vec<FirstRuns>,
    /// How each column's environment started.
    pub start_ups: Vec<StartUp>,
    /// Distributions of single operations.
    pub latencies: Vec<LatencyRow>,
    /// Facts that are not the same in all columns, what bears on most costs first.
    pub differences: Vec<Difference>,
    /// The tick, in ns, in which each column's commands have their CPU times counted, if they have.
    #[serde(skip_serializing_if = "is_continuous")]
    pub quanta: Vec<Option<f64>>,
    /// What commands gained over all of their inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_inputs: Vec<OverInputs>,
    /// What a reader must know beside the rows, worst first.
    pub remarks: Vec<Remark>,
}

/// One figure in every column.
#[derive(Clone, Debug, Serialize)]
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

impl Comparison {
    /// Whether the environment of that column never started: a remark says why, and none of its
    /// cells anything else. The reference has its line in every row all the same.
    pub fn is_absent(&self, column: usize) -> bool {
        let label = Some(&self.columns[column]);
        let says = |remark: &Remark| {
            remark.kind == RemarkKind::NotStarted && remark.column.as_ref() == label
        };
        let failed = |row: &Row| matches!(row.cells[column], Cell::Failed { .. });
        column > 0 && self.remarks.iter().any(says) && self.rows.iter().all(failed)
    }
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

fn area_of(probe: &str) -> &str {
    probe.split('.').next().unwrap_or_default()
}

#[derive(Clone, Debug, Serialize)]
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
    /// Mean cost with everything that happened, from block means in the same way.
    pub all_in: f64,
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
pub struct Tax {
    pub ratio: f64,
    /// 95 % interval; none where the data cannot tell (one session a side).
    pub interval: Option<(f64, f64)>,
    /// The same from block means.
    pub all_in_ratio: f64,
    /// Cost added or saved, in the row's quantity.
    pub difference: f64,
    /// How far the rounds disagree: the 90 % quantile of their ratios divided by the 10 % quantile.
    /// None where rounds cannot be paired.
    pub spread: Option<f64>,
    /// How far launches disagree; none where there were too few to tell.
    pub launches: Option<Between>,
    /// What sessions can show; none of rounds that were measured side by side, and where there is
    /// but one session a side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Box<Reach>>,
    pub verdict: Verdict,
}

/// Geometric mean of the taxes of one area's times: a summary of its rows, never a result itself.
#[derive(Clone, Debug, Serialize)]
pub struct Area {
    pub area: String,
    /// Rows of the area, whether measured or not.
    pub rows: usize,
    /// By column; none in the reference's own and where nothing was measured.
    pub ratios: Vec<Option<f64>>,
    /// Rows that the mean is of, by column: means of different rows are no comparison.
    pub counts: Vec<usize>,
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
    let mut keyed = Vec::new();
    let counted: Vec<Counted> = sides.iter().map(Side::counted).collect();
    for key in row_keys(sides) {
        let data: Vec<SideData> = sides.iter().map(|side| SideData::collect(side, &key)).collect();
        let refused = sameness::refusals(sides, &key);
        // What went wrong on the way is no measure for others, even where it left some rounds.
        let usable = reference.failure(&key).is_none() && refused[0].is_none();
        let mut cells = Vec::new();
        for (column, side) in sides.iter().enumerate() {
            let own = (&data[column], counted[column]);
            let against = (column > 0 && usable).then_some((&data[0], counted[0]));
            let cell = cell(side, &key, own, against, margin);
            let (cell, test) = doubted(cell, &refused[column], (side, reference), &key);
            cells.push(cell);
            tests.extend(test.map(|test| test.at(rows.len(), column)));
        }
        rows.push(key.row(cells));
        keyed.push((key, data));
    }
    let directories = directories::of_rows(&keyed, sides);
    let first_runs = first_runs::first_runs(sides, &keyed);
    // What went wrong in some environment is in its row only; one that never started takes nothing
    // from the others.
    keyed.retain(|(key, _)| {
        sides.iter().all(|side| side.failure(key).is_none() || side.never_started())
    });
    verdict::settle(&mut rows, &tests);
    let quanta = commands::quanta(sides);
    commands::doubt_ticks(&mut rows, &quanta, margin);
    let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    let mut remarks = conditions::remarks(&labels, &keyed, &rows);
    remarks.extend(sameness::remarks(sides, &keyed));
    remarks.extend(first_runs::drifts(sides, &keyed));
    remarks.extend(commands::remarks(&labels, &rows, &quanta));
    let differences = differences::differences(sides);
    remarks.extend(remarks::remarks(sides, &differences));
    remarks.extend(sessions::remarks(&labels, &rows, margin));
    Ok(Comparison {
        reference: reference.label.clone(),
        columns: sides.iter().map(|side| side.label.clone()).collect(),
        specs: sides.iter().map(Side::facts).collect(),
        margin,
        areas: areas(&rows, sides.len()),
        ladders: ladder::ladders(&keyed),
        directories,
        scalings: scaling::scalings(&keyed),
        first_runs,
        start_ups: launches::start_ups(sides),
        latencies: keyed.iter().flat_map(|(key, data)| latencies::of_case(key, data)).collect(),
        over_inputs: inputs::over_inputs(&rows, sides.len()),
        quanta,
        rows,
        differences,
        remarks,
    })
}

/// The cell, refused where it is of other work than the reference's, and flagged where its program
/// is another.
fn doubted(
    (mut cell, test): (Cell, Option<Test>),
    refused: &Option<String>,
    (side, reference): (&Side<'_>, &Side<'_>),
    key: &RowKey,
) -> (Cell, Option<Test>) {
    if let Cell::Measured(measured) = &mut cell {
        if let Some(reason) = refused {
            return (Cell::Failed(Failure::new(reason)), None);
        }
        if sameness::other_program(side, reference, key) {
            measured.flags.push(Flag::OtherProgram);
        }
    }
    (cell, test)
}

fn is_continuous(quanta: &[Option<f64>]) -> bool {
    quanta.iter().all(Option::is_none)
}

/// What a side has for a row, and what its environment counts.
type Own<'a> = (&'a SideData<'a>, Counted);

fn cell(
    side: &Side<'_>,
    key: &RowKey,
    (data, counted): Own<'_>,
    base: Option<Own<'_>>,
    margin: f64,
) -> (Cell, Option<Test>) {
    if let Some(failure) = side.failure(key) {
        return (Cell::Failed(failure.clone()), None);
    }
    if let Some(cell) = cell_with_zeroes(data, base.map(|(base, _)| base)) {
        return (cell, None);
    }
    let Some((own_cost, own_all_in)) = data.costs() else {
        return (empty_cell(side, key, data), None);
    };
    let (mut tax, mut test) = base.and_then(|(base, _)| tax(data, base, margin)).unzip();
    let at_floor = flags::at_floor(key, &data.blocks);
    // Of two unknown amounts below the same bound, neither is the larger one.
    if at_floor && base.is_some_and(|(base, _)| flags::at_floor(key, &base.blocks)) {
        test = None;
        tax.iter_mut().for_each(|tax| tax.interval = None);
    }
    let mut flags = flags::of_blocks(key, own_cost, &data.blocks);
    // What commands use is shown, and may be the very difference that is looked for.
    let probe = !key.planned.is_command();
    if probe && base.is_some_and(|base| flags::different_work((data, counted), base)) {
        flags.push(Flag::DifferentWork);
    }
    flags.extend(conditions::flags(data));
    flags.extend(commands::partly_zero(side, key, data));
    if key.phase().timed && data.clock_share > flags::CLOCK_SHARE {
        flags.push(Flag::ClockShare);
    }
    if at_floor {
        flags.push(Flag::Floor);
    }
    if data.few_rounds {
        flags.push(Flag::FewRounds);
    }
    flags.extend(tax.as_ref().and_then(flags::heavy_tail));
    flags.extend(tax.as_ref().and_then(flags::modes));
    flags.extend(tax.as_ref().and_then(flags::launches));
    let (cost, all_in) = match (&tax, base.and_then(|(base, _)| base.costs())) {
        // Round by round is the better estimate, and who divides two costs shall get the tax.
        (Some(tax), Some(base)) => (base.0 * tax.ratio, base.1 * tax.all_in_ratio),
        _ => (own_cost, own_all_in),
    };
    let measured = Measured {
        cost,
        cost_interval: data.half_width().map(|width| (cost / width.exp(), cost * width.exp())),
        range: data.range(),
        first_rounds: data.first_rounds(),
        all_in,
        outside_cpu_ns: launches::outside_cpu_ns(&data.blocks).filter(|_| key.phase == 0),
        rounds: data.rounds(),
        tax,
        flags,
    };
    (Cell::Measured(measured), test.flatten())
}

/// The cell of a figure that was zero in some runs, there or in the reference: zero has no
/// logarithm, so that means are compared as they are, without an interval.
fn cell_with_zeroes(data: &SideData<'_>, base: Option<&SideData<'_>>) -> Option<Cell> {
    if data.with_zeroes.is_none() && base.is_none_or(|base| base.with_zeroes.is_none()) {
        return None;
    }
    let mean = |data: &SideData<'_>| match &data.with_zeroes {
        Some(figures) => Some(figures.iter().sum::<f64>() / figures.len() as f64),
        None => Some(data.costs()?.1),
    };
    let cost = mean(data)?;
    let base = base.and_then(mean).filter(|base| cost > 0.0 && *base > 0.0);
    let tax = base.map(|base| Tax {
        ratio: cost / base,
        interval: None,
        all_in_ratio: cost / base,
        difference: cost - base,
        spread: None,
        launches: None,
        sessions: None,
        verdict: Verdict::Descriptive,
    });
    let figures = data.with_zeroes.as_deref().unwrap_or_default();
    let greatest = figures.iter().copied().reduce(f64::max);
    Some(Cell::Measured(Measured {
        cost,
        cost_interval: None,
        range: greatest.map(|greatest| (0.0, greatest)).or_else(|| data.range()),
        first_rounds: Vec::new(),
        all_in: cost,
        outside_cpu_ns: None,
        rounds: data.rounds().max(figures.len()),
        tax,
        flags: Vec::new(),
    }))
}

/// The cell of a row without figures. Blocks without this one are those of an environment that does
/// not show it, for which the probe gave its reason.
fn empty_cell(side: &Side<'_>, key: &RowKey, data: &SideData<'_>) -> Cell {
    let Some(block) = data.blocks.first() else { return side.empty_cell(key) };
    if block.set.samples.len() <= key.phase {
        let reason = "that run has no such figure".to_owned();
        return Cell::NotReached { reason };
    }
    let notes = block.set.extras.notes.join("; ");
    let unknown = "the environment does not show it, or it was not above zero".to_owned();
    Cell::Skipped(Failure::new(if notes.is_empty() { unknown } else { notes }))
}

/// The tax, and the test behind its verdict where the data allow one.
fn tax(data: &SideData<'_>, base: &SideData<'_>, margin: f64) -> Option<(Tax, Option<Test>)> {
    let paired = data.is_paired_with(base);
    let (own, own_means) = data.session_values();
    let (other, other_means) = base.session_values();
    let mut spread = None;
    let (effect, all_in) = if paired {
        let ratios = Contrast::against(&data.sessions, &base.sessions);
        let ends = ratios.quantile(0.9).zip(ratios.quantile(0.1));
        spread = ends.map(|(high, low)| (high - low).exp());
        (ratios.effect()?, ratios.centre_of_means()?)
    } else {
        let all_in = centre(&own_means)? - centre(&other_means)?;
        (Effect::of_sessions(&own, &other)?, all_in)
    };
    let mut tax = Tax {
        ratio: effect.value.exp(),
        interval: effect.bounds(0.95).map(|(low, high)| (low.exp(), high.exp())),
        all_in_ratio: all_in.exp(),
        difference: base.costs()?.0 * (effect.value.exp() - 1.0),
        spread,
        launches: effect.between,
        sessions: if paired { None } else { sessions::reach(&other, &own, margin).map(Box::new) },
        verdict: Verdict::Descriptive,
    };
    let enough = match paired {
        true => data.rounds().min(base.rounds()) >= MIN_ROUNDS && effect.estimate.is_some(),
        false => {
            own.len().min(other.len()) >= MIN_SESSIONS
                && data.fewest_rounds().min(base.fewest_rounds()) >= MIN_ROUNDS
        }
    };
    let estimate = effect.estimate.filter(|_| enough);
    let mut test = estimate.map(|estimate| Test::new(estimate, margin, paired));
    if test.is_some() && flags::modes(&tax).is_some() {
        tax.verdict = Verdict::Inconclusive { more_rounds: None };
        test = None;
    }
    Some((tax, test))
}

fn areas(rows: &[Row], columns: usize) -> Vec<Area> {
    let summary = |area: &str| {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.area() == area && row.quantity == Quantity::Time)
            // What a command uses is part of what it takes: only its wall times have a mean.
            .filter(|row| !row.is_of_command() || row.phase == CommandPhase::Wall.name())
            .collect();
        let logs = |column: usize| -> Vec<f64> {
            own.iter().filter_map(|row| Some(tax_of(&row.cells[column])?.ratio.ln())).collect()
        };
        let logs: Vec<Vec<f64>> = (0..columns).map(logs).collect();
        let mean = |logs: &Vec<f64>| {
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        Area {
            area: area.to_owned(),
            rows: own.len(),
            ratios: logs.iter().map(mean).collect(),
            counts: logs.iter().map(Vec::len).collect(),
        }
    };
    first_met(rows.iter().map(Row::area)).into_iter().map(summary).collect()
}

/// Each name once, in the order of first appearance.
fn first_met<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
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
