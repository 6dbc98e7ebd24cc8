//! The costs of one case in several target directories of one environment: a comparison of
//! filesystems.
//!
//! A round of a case in one directory and the same round in another belong to one lap, so their
//! ratios are taken round by round. Estimate and interval are those of all other figures.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cell_data::{CellData, RowData, RowKey};
use super::row::{Cost, first_met};
use super::sides::Side;
use crate::stats::Contrast;

/// The rows that were measured in more than one target directory.
#[derive(Clone, Debug, Serialize)]
pub struct Directories {
    /// The target directory that the others are divided by: the first one.
    pub reference: String,
    /// The others.
    pub names: Vec<String>,
    pub rows: Vec<DirectoryRow>,
}

/// One row in every column.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryRow {
    /// The row without its directory.
    pub name: String,
    /// In the order of the columns; none where the reference directory was not measured.
    pub columns: Vec<Option<DirectoryCosts>>,
}

/// What it costs in one environment.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryCosts {
    /// In the reference directory, in the row's quantity.
    pub cost: f64,
    /// How many times as much it is in each of [`Directories::names`], with the 95 % interval.
    pub ratios: Vec<Option<Cost>>,
}

/// The comparison of directories; none where there is one only. All rows are given, also those
/// that went wrong somewhere: they count where they did not.
pub(super) fn of_rows(rows: &[&RowData<'_>], sides: &[Side<'_>]) -> Option<Directories> {
    let dirs = first_met(rows.iter().filter_map(|row| dir_of(&row.key)));
    let (reference, others) = dirs.split_first()?;
    let of_reference = rows.iter().filter(|row| dir_of(&row.key) == Some(reference));
    let of_reference = of_reference.filter(|row| row.key.phase().timed);
    let found = of_reference.filter_map(|base| {
        let others: Vec<Option<&RowData<'_>>> =
            others.iter().map(|dir| twin(rows, base, dir)).collect();
        others.iter().any(Option::is_some).then(|| row(base, &others, sides))
    });
    let found: Vec<DirectoryRow> = found.collect();
    let names = others.iter().map(|name| (*name).to_owned()).collect();
    (!found.is_empty()).then(|| Directories {
        reference: (*reference).to_owned(),
        names,
        rows: found,
    })
}

/// Whether the row's target directory lies on another kind of filesystem than the reference's, as
/// far as both say.
pub(super) fn other_filesystem(side: &Side<'_>, reference: &Side<'_>, key: &RowKey) -> bool {
    let Some(dir) = dir_of(key) else { return false };
    let kinds = |side: &Side<'_>| -> BTreeSet<String> {
        let sessions = side.sessions.iter();
        sessions.filter_map(|it| it.dir_fact(dir, "filesystem")).map(str::to_owned).collect()
    };
    let (own, base) = (kinds(side), kinds(reference));
    !own.is_empty() && !base.is_empty() && own != base
}

fn dir_of(key: &RowKey) -> Option<&str> {
    key.planned.case.dir.as_deref()
}

/// The same row in another directory.
fn twin<'a, 'b>(rows: &[&'b RowData<'a>], row: &RowData<'a>, dir: &str) -> Option<&'b RowData<'a>> {
    let mut wanted = row.key.clone();
    wanted.planned.case.dir = Some(dir.to_owned());
    rows.iter().copied().find(|row| row.key == wanted)
}

fn row(base: &RowData<'_>, others: &[Option<&RowData<'_>>], sides: &[Side<'_>]) -> DirectoryRow {
    let costs = |(column, side): (usize, &Side<'_>)| {
        let usable = |row: &RowData<'_>| side.failure(&row.key).is_none();
        let (cost, _) = base.cells[column].costs().filter(|_| usable(base))?;
        let ratio = |other: &Option<&RowData<'_>>| {
            let other = other.filter(|other| usable(other))?;
            ratio(&other.cells[column], &base.cells[column])
        };
        Some(DirectoryCosts { cost, ratios: others.iter().map(ratio).collect() })
    };
    let mut key = base.key.clone();
    key.planned.case.dir = None;
    DirectoryRow {
        name: key.row(Vec::new()).name(),
        columns: sides.iter().enumerate().map(costs).collect(),
    }
}

/// The cost as a multiple of the other's, over the rounds that both have.
fn ratio(own: &CellData<'_>, base: &CellData<'_>) -> Option<Cost> {
    let ratio = Contrast::against(&own.sessions, &base.sessions).effect()?;
    Some(Cost::of(&ratio, f64::exp))
}

#[cfg(test)]
mod tests {
    use super::super::Flag;
    use super::super::row::Cell;
    use super::super::tests::{compared, jitter, planned, run_of, set_of};

    #[test]
    fn a_cell_on_another_filesystem_is_flagged() {
        let flagged = |kinds: [Option<&str>; 2]| {
            let mut case = planned("file.open");
            case.case.dir = Some("tmp".into());
            let times = |_, _, round| Some(set_of(vec![jitter(100_000, round); 20]));
            let mut run = run_of(vec![case], 20, times);
            for (environment, kind) in run.environments.iter_mut().zip(kinds) {
                let facts = kind.map(|kind| ("filesystem".to_owned(), kind.to_owned()));
                environment.dirs.insert("tmp".into(), facts.into_iter().collect());
            }
            let flags = |cell: &Cell| match cell {
                Cell::Measured(measured) => measured.flags.contains(&Flag::OtherFilesystem),
                _ => panic!("{cell:?}"),
            };
            compared(run).rows[0].cells.iter().map(flags).collect::<Vec<_>>()
        };
        assert_eq!(flagged([Some("ext4"), Some("tmpfs")]), [false, true]);
        assert_eq!(flagged([Some("ext4"), Some("ext4")]), [false, false]);
        assert_eq!(flagged([Some("ext4"), None]), [false, false], "it does not say");
    }
}
