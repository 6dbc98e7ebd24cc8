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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Directories {
    /// The target directory that the others are divided by: the first one.
    pub reference: String,
    /// The others.
    pub names: Vec<String>,
    pub rows: Vec<DirectoryRow>,
}

/// One row in every column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DirectoryRow {
    /// The row without its directory.
    pub name: String,
    /// In the order of the columns; none where the reference directory was not measured.
    pub columns: Vec<Option<DirectoryCosts>>,
}

/// What it costs in one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DirectoryCosts {
    /// In the reference directory, in the row's quantity.
    pub cost: f64,
    /// How many times as much it is in each of [`Directories::names`], with the 95 % interval.
    pub ratios: Vec<Option<Cost>>,
}

/// Directories of which none is shown to be dearer than another one, in these rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Cheapest<'a> {
    pub dirs: Vec<&'a str>,
    pub rows: Vec<&'a DirectoryRow>,
}

impl Directories {
    /// Which directories cost least in which rows of that column: those whose 95 % intervals
    /// overlap with the interval of the cheapest one. Rows with the same ones stand together.
    pub fn cheapest(&self, column: usize) -> Vec<Cheapest<'_>> {
        let mut found: Vec<Cheapest<'_>> = Vec::new();
        for row in &self.rows {
            let Some(costs) = row.columns.get(column).and_then(Option::as_ref) else { continue };
            let reference = (self.reference.as_str(), (1.0, 1.0, 1.0));
            let others = self.names.iter().zip(&costs.ratios).filter_map(|(name, cost)| {
                let cost = cost.as_ref()?;
                let (low, high) = cost.interval.unwrap_or((0.0, f64::INFINITY));
                Some((name.as_str(), (cost.value, low, high)))
            });
            let all: Vec<_> = std::iter::once(reference).chain(others).collect();
            let least = all.iter().map(|it| it.1).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, _, most)) = least.filter(|_| all.len() > 1) else { continue };
            let dirs = all.iter().filter(|(_, (_, low, _))| *low <= most).map(|it| it.0);
            let dirs: Vec<&str> = dirs.collect();
            match found.iter_mut().find(|it| it.dirs == dirs) {
                Some(it) => it.rows.push(row),
                None => found.push(Cheapest { dirs, rows: vec![row] }),
            }
        }
        found.sort_by_key(|it| it.dirs.len());
        found
    }
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
    use super::super::row::{Cell, Cost};
    use super::super::tests::{compared, jitter, planned, run_of, set_of};
    use super::*;

    #[test]
    fn the_cheapest_directories_are_those_whose_intervals_overlap() {
        let cost = |value, low, high| Some(Cost { value, interval: Some((low, high)) });
        let row = |name: &str, ratios: Vec<Option<Cost>>| DirectoryRow {
            name: name.into(),
            columns: vec![Some(DirectoryCosts { cost: 1.0, ratios })],
        };
        let directories = Directories {
            reference: "disk".into(),
            names: vec!["memory".into(), "ext4".into()],
            rows: vec![
                row("a", vec![cost(0.1, 0.09, 0.2), cost(0.3, 0.25, 0.4)]),
                row("b", vec![cost(0.1, 0.05, 0.3), cost(0.3, 0.25, 0.4)]),
                row("c", vec![cost(1.2, 1.1, 1.3), None]),
                row("d", vec![cost(0.99, 0.9, 1.1), cost(1.0, 0.9, 1.1)]),
                row("e", vec![cost(0.1, 0.09, 0.2), cost(0.3, 0.25, 0.4)]),
                row("f", vec![None, None]),
            ],
        };
        let all = directories.cheapest(0);
        let names = |it: &Cheapest<'_>| {
            let rows: Vec<&str> = it.rows.iter().map(|row| row.name.as_str()).collect();
            (it.dirs.join(" "), rows.join(" "))
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let expected = [
            pair("memory", "a e"),
            pair("disk", "c"),
            pair("memory ext4", "b"),
            pair("disk memory ext4", "d"),
        ];
        assert_eq!(all.iter().map(names).collect::<Vec<_>>(), expected);
        assert!(directories.cheapest(1).is_empty());
    }

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
