//! Turns run files into rows of cost, tax, interval and verdict, with tables and remarks beside
//! them.
//!
//! Three passes: `evidence.rs` collects what each cell knows; `decide.rs` gives all verdicts, once;
//! each table beside the rows has a file of its own. Environments of one file were measured in the
//! same rounds, so their ratios are taken round by round. Different files are different sessions,
//! and nothing inside a session shows how far it differs from others: there the session is the
//! unit, and one session a side shows no error.
//!
//! May use the run files, the estimators and the nouns. Must not write, print, or start anything;
//! text belongs to `report/`; remarks are messages, which `report/` says in the reader's language.

mod areas;
#[cfg(test)]
mod beside_tests;
mod cell_data;
mod command_doubts;
mod conditions;
mod copies;
mod decide;
mod differences;
mod directories;
mod environment_remarks;
mod evidence;
mod first_runs;
mod flag;
mod flags;
mod gate;
mod ladders;
mod latencies;
mod launch_remarks;
mod load;
mod margins;
mod measuring_conditions;
mod memory_check;
mod next;
mod next_command;
mod over_inputs;
mod reach;
mod remark;
mod row;
#[cfg(test)]
mod run_tests;
mod same_work;
mod session_remarks;
mod sides;
mod start_ups;
#[cfg(test)]
mod tests;
mod time_line;
mod verdict;
mod weights;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::model::Facts;

pub use areas::Area;
use cell_data::RowData;
pub use conditions::Conditions;
pub use copies::Scaling;
pub use differences::{Change, Difference};
pub use directories::{Cheapest, Directories, DirectoryCosts, DirectoryRow, DirectoryTax};
use evidence::RowEvidence;
pub use first_runs::{FirstRun, FirstRuns};
pub use flag::Flag;
pub use gate::{Gate, GateOn, GateRules, Limit, gate};
pub use ladders::{Ladder, Split};
pub use latencies::{LatencyRow, Quantiles};
pub use load::ColumnLoad;
pub use margins::Margins;
pub use next::{LONGEST_S, Next};
pub use over_inputs::{OverInputs, SpeedUp};
pub use reach::{ADVISABLE_SESSIONS, MIN_SESSIONS};
pub use remark::{Remark, RemarkKind};
pub use row::{Cell, Cost, Level, Measured, Row, Tax, tax_of};
pub use sides::{Side, pooled, side_names, sides};
pub use start_ups::StartUp;
pub use time_line::{Point, TimeLine};
pub use verdict::{Open, Verdict};
pub use weights::Weight;

/// Everything a report shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The rounds of each row, in the order of the rows. Run files have them; the JSON does not.
    #[serde(skip)]
    pub time_lines: Vec<TimeLine>,
    pub areas: Vec<Area>,
    /// Cost of a call and of a byte, where block sizes form a ladder.
    pub ladders: Vec<Ladder>,
    /// What target directories cost against the first one, where there are several.
    pub directories: Option<Directories>,
    /// What several copies at a time achieve.
    pub scalings: Vec<Scaling>,
    /// What a library in each process, or another console, adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Weight>,
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
    /// What else the machine did while each column was measured; empty if no file tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<ColumnLoad>,
    /// What commands gained over all of their inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_inputs: Vec<OverInputs>,
    /// What a reader must know beside the rows, worst first.
    pub remarks: Vec<Remark>,
    /// What the user's limits come to, where there are any ([`gate`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The state of the machine meanwhile.
    pub conditions: Conditions,
    /// What to measure next, where more time helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
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

    /// Whether the row's target directory is on another type of filesystem than in the reference.
    pub fn is_other_filesystem(&self, row: &Row, column: usize) -> bool {
        let Some(dir) = &row.dir else { return false };
        let fact = format!("dir {dir}");
        let kind =
            |column: usize| self.specs[column].get(&fact).and_then(|text| text.split(' ').next());
        kind(0).zip(kind(column)).is_some_and(|(base, own)| base != own)
    }
}

/// Compares the sides with the first one.
pub fn compare(sides: &[Side<'_>], margins: &Margins) -> Result<Comparison> {
    let reference = sides.first().context("there is nothing to compare")?;
    for (index, side) in sides.iter().enumerate() {
        let twice = sides[..index].iter().any(|other| other.label == side.label);
        ensure!(!twice, "`{}` is given twice", side.label);
    }
    let quanta = command_doubts::quanta(sides);
    let evidence = evidence::gather(sides, &quanta);
    let rows = decide::decide(&evidence, margins);
    let all: Vec<&RowData<'_>> = evidence.iter().map(|row| &row.data).collect();
    let whole = whole(sides, &evidence);
    let differences = differences::differences(sides);
    let by_directory = directories::columns(sides, &all);
    let views = by_directory.iter().map(|columns| compare(columns, margins));
    let views = views.collect::<Result<Vec<Comparison>>>()?;
    Ok(Comparison {
        reference: reference.label.clone(),
        columns: sides.iter().map(|side| side.label.clone()).collect(),
        specs: sides.iter().map(same_work::facts).collect(),
        margin: margins.general,
        areas: areas::areas(&rows, sides.len()),
        time_lines: all.iter().map(|row| time_line::time_line(row)).collect(),
        ladders: ladders::ladders(&whole),
        directories: directories::directories(views, &all, sides, margins),
        scalings: copies::scalings(&whole),
        weights: weights::weights(&whole),
        first_runs: first_runs::first_runs(sides, &all),
        start_ups: start_ups::start_ups(sides),
        latencies: latencies::of_rows(&whole),
        over_inputs: over_inputs::over_inputs(&rows, sides.len()),
        loads: loads(sides),
        remarks: remarks(sides, &whole, &rows, (&quanta, &differences, margins)),
        conditions: conditions::of(sides, &rows),
        next: next::next(sides, &evidence, &rows),
        quanta,
        differences,
        rows,
        gate: None,
    })
}

/// What else the machine did, by column, if any file tells.
fn loads(sides: &[Side<'_>]) -> Vec<ColumnLoad> {
    let all: Vec<ColumnLoad> = sides.iter().map(ColumnLoad::of).collect();
    if all.iter().any(ColumnLoad::is_told) { all } else { Vec::new() }
}

/// The rows for the tables beside them. What went wrong in some environment is in its row only; one
/// that never started takes nothing from the others.
fn whole<'a, 'b>(sides: &[Side<'a>], evidence: &'b [RowEvidence<'a>]) -> Vec<&'b RowData<'a>> {
    let is_whole = |row: &&RowData<'_>| {
        sides.iter().all(|side| side.failure(&row.key).is_none() || side.never_started())
    };
    evidence.iter().map(|row| &row.data).filter(is_whole).collect()
}

/// Every remark, in the order in which they are read.
fn remarks(
    sides: &[Side<'_>],
    whole: &[&RowData<'_>],
    rows: &[Row],
    (quanta, differences, margins): (&[Option<f64>], &[Difference], &Margins),
) -> Vec<Remark> {
    let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    let mut remarks = measuring_conditions::remarks(sides, whole, rows);
    remarks.extend(same_work::remarks(sides, whole));
    remarks.extend(first_runs::drifts(sides, whole));
    remarks.extend(command_doubts::remarks(&labels, rows, quanta));
    remarks.extend(environment_remarks::of_environments(sides));
    remarks.extend(differences::remarks(sides, differences));
    remarks.extend(environment_remarks::of_files(sides));
    remarks.extend(session_remarks::remarks(&labels, rows, margins));
    remarks.extend(memory_check::remarks(&labels, rows));
    remarks.extend(launch_remarks::one_launch(whole, rows));
    remarks.extend(launch_remarks::means_are_paid(sides));
    remarks
}

fn is_continuous(quanta: &[Option<f64>]) -> bool {
    quanta.iter().all(Option::is_none)
}
