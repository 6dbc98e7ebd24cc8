//! The costs of one case in several target directories of one environment: a comparison of
//! filesystems.
//!
//! A round of a case in one directory and the same round in another belong to one lap, so their
//! ratios are taken round by round. Directories are the columns of a comparison of their own:
//! estimates, intervals and verdicts are those of all other figures.

use serde::Serialize;

use super::Comparison;
use super::cell_data::{CellData, RowData, RowKey};
use super::decide;
use super::margins::Margins;
use super::row::{Cell, Row, Tax, first_met, tax_of};
use super::sides::Side;
use super::verdict::Verdict;
use crate::model::Quantity;
use crate::stats::{Contrast, Effect, Round, Series};

/// The rows that were measured in more than one target directory.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Directories {
    /// The target directory that the others are divided by: the first one.
    pub reference: String,
    /// The others.
    pub names: Vec<String>,
    pub rows: Vec<DirectoryRow>,
    /// The mean over the rows, by column, then by [`Directories::names`]: of each round the
    /// geometric mean of its cost ratios. It summarises the rows.
    pub means: Vec<Vec<Option<DirectoryTax>>>,
    /// Of each column, its directories as the columns of a comparison.
    #[serde(skip)]
    pub views: Vec<Comparison>,
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
    /// In the reference directory, in ns.
    pub cost: f64,
    /// How many times as much it is in each of [`Directories::names`].
    pub ratios: Vec<Option<DirectoryTax>>,
}

/// The cost in a directory as a multiple of that in the first one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DirectoryTax {
    pub value: f64,
    /// 95 % interval; none where the data cannot tell.
    pub interval: Option<(f64, f64)>,
    pub verdict: Verdict,
}

impl DirectoryTax {
    fn of(tax: &Tax) -> DirectoryTax {
        DirectoryTax { value: tax.ratio, interval: tax.interval, verdict: tax.verdict }
    }
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

/// The directories of the rows as columns, once for each of these sides; none where there is one
/// directory only.
pub(super) fn columns<'a>(sides: &[Side<'a>], rows: &'a [&RowData<'_>]) -> Vec<Vec<Side<'a>>> {
    let dirs = names(rows);
    let sides = sides.iter().filter(|_| dirs.len() > 1);
    sides.map(|side| side.by_directory(&dirs)).collect()
}

fn names<'a>(rows: &'a [&RowData<'_>]) -> Vec<&'a str> {
    first_met(rows.iter().filter_map(|row| dir_of(&row.key)))
}

/// The comparison of directories, from its `views`: what [`columns`] gave, compared.
pub(super) fn directories(
    mut views: Vec<Comparison>,
    rows: &[&RowData<'_>],
    sides: &[Side<'_>],
    margins: &Margins,
) -> Option<Directories> {
    let dirs = names(rows);
    let (reference, others) = dirs.split_first()?;
    for view in &mut views {
        // Starting is the environment's, whatever its directories are.
        view.start_ups.clear();
        // Rows are left out below.
        view.time_lines.clear();
    }
    let first = views.first()?;
    let is_time = |at: &usize| first.rows[*at].quantity == Quantity::Time;
    let found = (0..first.rows.len()).filter(is_time).map(|at| DirectoryRow {
        name: first.rows[at].name(),
        columns: views.iter().map(|view| costs(&view.rows[at].cells)).collect(),
    });
    let found: Vec<DirectoryRow> =
        found.filter(|row| row.columns.iter().any(is_compared)).collect();
    let means = |(column, side)| means(rows, (column, side), (reference, others), margins);
    // Cases for which no time was left are told of elsewhere.
    let is_reached = |row: &Row| row.cells.iter().any(|it| !matches!(it, Cell::NotReached { .. }));
    views.iter_mut().for_each(|view| view.rows.retain(is_reached));
    (!found.is_empty()).then(|| Directories {
        reference: (*reference).to_owned(),
        names: others.iter().map(|name| (*name).to_owned()).collect(),
        rows: found,
        means: sides.iter().enumerate().map(means).collect(),
        views,
    })
}

/// What the cells of a row say, one for each directory.
fn costs(cells: &[Cell]) -> Option<DirectoryCosts> {
    let Some((Cell::Measured(base), others)) = cells.split_first() else { return None };
    let ratios = others.iter().map(|cell| tax_of(cell).map(DirectoryTax::of)).collect();
    Some(DirectoryCosts { cost: base.cost, ratios })
}

fn is_compared(costs: &Option<DirectoryCosts>) -> bool {
    costs.as_ref().is_some_and(|costs| costs.ratios.iter().any(Option::is_some))
}

/// The mean ratio of each other directory in one column, with verdicts.
fn means(
    rows: &[&RowData<'_>],
    (column, side): (usize, &Side<'_>),
    (reference, others): (&str, &[&str]),
    margins: &Margins,
) -> Vec<Option<DirectoryTax>> {
    let usable = |row: &&RowData<'_>| {
        row.key.phase().timed && side.failure(&row.key).is_none() && row.cells[column].rounds() > 0
    };
    let of_dir = |dir: &&str| {
        let base = rows.iter().copied().filter(|row| dir_of(&row.key) == Some(reference));
        let pairs = base.filter(usable).filter_map(|base| {
            let own = twin(rows, base, dir).filter(usable)?;
            Some((&own.cells[column], &base.cells[column]))
        });
        let (own, base): (Vec<_>, Vec<_>) = pairs.unzip();
        Contrast::against(&together(&own), &together(&base)).effect()
    };
    let effects: Vec<Option<Effect>> = others.iter().map(of_dir).collect();
    let verdicts = decide::words(&effects, margins.general);
    let tax = |(effect, verdict): (&Option<Effect>, Verdict)| {
        let effect = effect.as_ref()?;
        let interval = effect.bounds(0.95).map(|(low, high)| (low.exp(), high.exp()));
        Some(DirectoryTax { value: effect.value.exp(), interval, verdict })
    };
    effects.iter().zip(verdicts).map(tax).collect()
}

/// The rounds that all of these cells have, each with the geometric mean of their costs.
fn together(cells: &[&CellData<'_>]) -> Vec<Series> {
    let Some(first) = cells.first() else { return Vec::new() };
    let of_session = |at: usize| {
        let round = |(number, round): (u32, &Round)| {
            let rounds = cells.iter().map(|cell| cell.sessions[at].get(number));
            let logs: Option<Vec<f64>> = rounds.map(|it| it.map(|it| it.ln_floor)).collect();
            let logs = logs?;
            let ln_floor = logs.iter().sum::<f64>() / logs.len() as f64;
            Some((number, Round { launch: round.launch, ln_floor, mean: ln_floor.exp() }))
        };
        first.sessions[at].iter().filter_map(round).collect()
    };
    (0..first.sessions.len()).map(of_session).collect()
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

#[cfg(test)]
mod tests {
    use super::super::Flag;
    use super::super::tests::{compared, jitter, planned, run_of, set_of};
    use super::*;
    use crate::model::Params;
    use crate::runfile::{Outcome, OutcomeState};

    #[test]
    fn the_cheapest_directories_are_those_whose_intervals_overlap() {
        let cost = |value, low, high| {
            let verdict = Verdict::Descriptive;
            Some(DirectoryTax { value, interval: Some((low, high)), verdict })
        };
        let row = |name: &str, ratios: Vec<Option<DirectoryTax>>| DirectoryRow {
            name: name.into(),
            columns: vec![Some(DirectoryCosts { cost: 1.0, ratios })],
        };
        let directories = Directories {
            reference: "disk".into(),
            names: vec!["memory".into(), "ext4".into()],
            means: Vec::new(),
            views: Vec::new(),
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
    fn directories_are_set_against_the_first_one() {
        let in_dir = |params: &str, dir: &str| {
            let mut planned = planned("file.one");
            planned.case.params = Params::new(params);
            planned.case.dir = Some(dir.into());
            planned
        };
        let cases =
            vec![in_dir("", "disk"), in_dir("", "mem"), in_dir("", "net"), in_dir("x=1", "disk")];
        // `mem` costs half in both environments; `net` fails in `b`, which costs twice as much.
        let mut run = run_of(cases, 20, |case, column, round| {
            let ns = [100_000, 50_000, 300_000, 1000][case] << column;
            ((case, column) != (2, 1)).then(|| set_of(vec![jitter(ns, round); 20]))
        });
        run.outcomes.push(Outcome {
            env: "b".into(),
            case: 2,
            state: OutcomeState::Failed,
            why: "gone".into(),
        });
        let found = compared(run).directories.unwrap();
        assert_eq!(
            (found.reference.as_str(), &found.names[..]),
            ("disk", &["mem", "net"].map(str::to_owned)[..])
        );
        let [row] = found.rows.as_slice() else { panic!("{found:?}") };
        assert_eq!(row.name, "file.one");
        let [Some(a), Some(b)] = row.columns.as_slice() else { panic!("{row:?}") };
        assert!((b.cost / a.cost - 2.0).abs() < 0.01, "{row:?}");
        for costs in [a, b] {
            let mem = costs.ratios[0].unwrap();
            let (low, high) = mem.interval.unwrap();
            assert!(low < 0.501 && 0.499 < high && high < low * 1.05, "{costs:?}");
        }
        assert!((a.ratios[1].unwrap().value - 3.0).abs() < 0.05, "{a:?}");
        assert!(b.ratios[1].is_none(), "{b:?}");
    }

    /// Two rows: one costs a tenth in the second directory, the other ten times as much.
    #[test]
    fn directories_are_the_columns_of_a_comparison() {
        let case = |probe: &str, dir: &str| {
            let mut case = planned(probe);
            case.case.dir = Some(dir.into());
            case
        };
        let cases = ["a", "b"].map(|dir| [case("file.open", dir), case("file.stat", dir)]);
        let times = |index: usize, _, round| {
            let cost = [100_000, 100_000, 10_000, 1_000_000][index];
            Some(set_of(vec![jitter(cost, round); 20]))
        };
        let comparison = compared(run_of(cases.concat(), 20, times));
        let directories = comparison.directories.unwrap();
        assert_eq!(
            (directories.reference.as_str(), &directories.names[..]),
            ("a", &["b".into()][..])
        );
        for (column, view) in directories.views.iter().enumerate() {
            assert_eq!(view.columns, ["a", "b"]);
            assert!(view.rows.iter().all(|row| row.dir.is_none()) && view.start_ups.is_empty());
            let verdicts = view.rows.iter().map(|row| tax_of(&row.cells[1]).unwrap().verdict);
            assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Faster, Verdict::Slower]);
            let of_row =
                |row: &DirectoryRow| row.columns[column].as_ref().unwrap().ratios[0].unwrap();
            let ratios: Vec<DirectoryTax> = directories.rows.iter().map(of_row).collect();
            assert!((ratios[0].value - 0.1).abs() < 0.01, "{ratios:?}");
            assert!((ratios[1].value - 10.0).abs() < 1.0, "{ratios:?}");
            let mean = directories.means[column][0].as_ref().unwrap();
            assert!((mean.value - 1.0).abs() < 0.05, "{mean:?}");
            let (low, high) = mean.interval.unwrap();
            assert!(low <= mean.value && mean.value <= high, "{mean:?}");
        }
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
