//! The scaling of several copies: what they achieve of the work that they could do.

use serde::Serialize;

use super::cell_data::{CellData, RowData, RowKey};
use super::row::Cost;
use crate::stats::Contrast;

/// One row that was measured in several copies, in every column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scaling {
    /// The row without the copies.
    pub name: String,
    pub copies: u64,
    /// How many times as much is done as by one copy, with its 95 % interval, in the order of the
    /// columns; none where either was not measured.
    pub columns: Vec<Option<Cost>>,
}

/// Every row of several copies whose single copy was measured as well.
pub(super) fn scalings(rows: &[&RowData<'_>]) -> Vec<Scaling> {
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| row.key.phase().timed) {
        let Some((single, copies)) = single_of(&row.key) else { continue };
        let Some(alone) = rows.iter().find(|other| other.key == single) else { continue };
        let speedup = |(own, alone): (&CellData<'_>, &CellData<'_>)| speedup(own, alone, copies);
        let columns = row.cells.iter().zip(&alone.cells).map(speedup).collect();
        found.push(Scaling { name: single.row(Vec::new()).name(), copies, columns });
    }
    found
}

/// The same row with one copy, and how many this one has.
fn single_of(key: &RowKey) -> Option<(RowKey, u64)> {
    let copies = key.planned.case.params.get("copies")?.parse().ok()?;
    let mut single = key.clone();
    let words = key.planned.case.params.as_str().split(' ');
    let rest: Vec<&str> = words.filter(|word| !word.starts_with("copies=")).collect();
    single.planned.case.params = crate::model::Params::new(&rest.join(" "));
    Some((single, copies))
}

/// `copies * cost of one alone / cost of one among several`, over the rounds that both have.
fn speedup(own: &CellData<'_>, alone: &CellData<'_>, copies: u64) -> Option<Cost> {
    let ratio = Contrast::against(&alone.sessions, &own.sessions).effect()?;
    Some(Cost::of(&ratio, |log| copies as f64 * log.exp()))
}
