//! The first run of a whole command after its environment started, beside the later runs; and
//! whether the later runs settled.

use serde::Serialize;

use super::cell_data::{CellData, RowData, RowKey};
use super::remark::{Remark, RemarkKind, named, of_file};
use super::row::Cost;
use super::sides::{Session, Side};
use crate::stats::{self, Slope};
use crate::units;
use crate::words::Message;

/// Change from one run to the next from which a session has not come to rest.
const DRIFT: f64 = 0.005;

/// The first runs of one case.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstRuns {
    /// The row's name, without that of the figure.
    pub name: String,
    /// In the order of the columns; none where there is no first run or no later one.
    pub columns: Vec<Option<FirstRun>>,
}

/// A column's wall times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstRun {
    /// Of the first run of each launch, in ns: the median, and the shortest and longest.
    pub first: Cost,
    pub launches: usize,
    /// Of the runs after it: the row's own cost.
    pub later_ns: f64,
}

/// The first runs of every whole command.
pub(super) fn first_runs(sides: &[Side<'_>], rows: &[&RowData<'_>]) -> Vec<FirstRuns> {
    let of_row = |row: &RowData<'_>| {
        let cells = sides.iter().zip(&row.cells);
        let columns = cells.map(|(side, data)| first_run(side, &row.key, data));
        FirstRuns { name: row.key.planned.case.to_string(), columns: columns.collect() }
    };
    let found = walls(rows).map(of_row);
    found.filter(|row| row.columns.iter().any(Option::is_some)).collect()
}

/// The wall times of whole commands.
fn walls<'a, 'b>(rows: &[&'b RowData<'a>]) -> impl Iterator<Item = &'b RowData<'a>> {
    let is_wall = |row: &&RowData<'_>| row.key.planned.is_command() && row.key.phase == 0;
    rows.iter().copied().filter(is_wall)
}

fn first_run(side: &Side<'_>, key: &RowKey, data: &CellData<'_>) -> Option<FirstRun> {
    if side.failure(key).is_some() {
        return None;
    }
    let times: Vec<f64> =
        side.sessions.iter().flat_map(|session| first_times(session, key)).collect();
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|q| stats::quantile(&times, q));
    Some(FirstRun {
        first: Cost { value: middle?, interval: low.zip(high) },
        launches: times.len(),
        later_ns: data.costs()?.0,
    })
}

fn first_times(session: &Session<'_>, key: &RowKey) -> Vec<f64> {
    let case = session.case_index(key);
    let blocks = session.run.blocks.iter();
    let first = blocks.filter(|it| Some(it.case) == case && it.env == session.env && it.round == 0);
    first.filter_map(|block| Some(*block.set.samples.first()?.first()? as f64)).collect()
}

/// Which commands became steadily faster or slower while they were measured.
pub(super) fn drifts(sides: &[Side<'_>], rows: &[&RowData<'_>]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for row in walls(rows) {
        for (side, data) in sides.iter().zip(&row.cells) {
            for (rounds, session) in data.sessions.iter().zip(&side.sessions) {
                let points = rounds.iter().map(|(round, it)| (f64::from(round), it.ln_floor));
                let Some(slope) = stats::median_slope(&points.collect::<Vec<_>>()) else {
                    continue;
                };
                if slope.low <= DRIFT && slope.high >= -DRIFT {
                    continue;
                }
                let text = drift(&row.key.planned.case.to_string(), &slope, session);
                let text = named(&side.label, text);
                remarks.push(Remark::on_column(RemarkKind::Drift, &side.label, text));
            }
        }
    }
    remarks
}

fn drift(case: &str, slope: &Slope, session: &Session<'_>) -> Message {
    let percent = |slope: f64| units::percent(slope.exp_m1().abs());
    let (id, near, far) = match slope.value < 0.0 {
        true => ("drift-down", percent(slope.high), percent(slope.low)),
        false => ("drift-up", percent(slope.low), percent(slope.high)),
    };
    Message::new(id)
        .with("case", case)
        .with("of_file", of_file(session))
        .with("change", percent(slope.value))
        .with("near", near)
        .with("far", far)
}
