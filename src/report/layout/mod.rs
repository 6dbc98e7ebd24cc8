//! Tables in the layout of the published comparisons of docs/PUBLISHED.md, with intervals where the
//! originals have none. One file a layout, listed once below. It may use a comparison and the
//! sheets of `report/`. It must not compute statistics, nor write to files or streams.

mod appvirt_files;
mod before_after;
mod mounts;
mod process_cost;
mod teardown;
mod unixbench;

use anyhow::{Context, Result, ensure};

use super::sheet::Sheet;
use super::table::{missing, verdict};
use crate::compare::{Cell, Comparison, Measured, Row, Tax, Verdict, tax_of};
use crate::model::suggest;
use crate::units;
use crate::words::{Words, text};

/// Every layout, in the order of `envtax list layouts`.
pub const LAYOUTS: &[Layout] = &[
    before_after::LAYOUT,
    appvirt_files::LAYOUT,
    process_cost::LAYOUT,
    teardown::LAYOUT,
    unixbench::LAYOUT,
    mounts::LAYOUT,
];

/// Earlier names, which stay valid.
pub const ALIASES: &[(&str, Layout)] = &[
    ("r0", before_after::LAYOUT),
    ("r1", appvirt_files::LAYOUT),
    ("r2", process_cost::LAYOUT),
    ("r3", teardown::LAYOUT),
    ("r4", UNIXBENCH_AND_MOUNTS),
];

/// What the layouts `unixbench` and `mounts` were published in.
const WSL_1_AND_2: &str = "Shinji Shioda, \"A look at the performance of WSL 2, which officially \
    arrives with 20H1\" (in Japanese), ASCII.jp, 10 May 2020: UnixBench and dd under WSL 1 and \
    WSL 2";

/// Both tables of the comparison of WSL 1 and WSL 2: what `r4` printed.
const UNIXBENCH_AND_MOUNTS: Layout = Layout {
    name: "r4",
    summary: "unixbench and mounts",
    source: WSL_1_AND_2,
    measure: "envtax run --suite unixbench` or `--suite mounts",
    bars: |comparison, words| {
        [unixbench::bars(comparison, words), mounts::bars(comparison, words)].concat()
    },
    tables: |comparison, words| {
        let mut both = unixbench::tables(comparison, words);
        both.sheets.extend(mounts::tables(comparison, words).sheets);
        both
    },
};

/// The tables of one published comparison.
pub struct Layout {
    pub name: &'static str,
    pub summary: &'static str,
    /// The published comparison: author, title, where and when, and what it measured.
    pub source: &'static str,
    /// The command that measures what it shows.
    pub measure: &'static str,
    /// Its charts; none where the original has none, or the rows are missing.
    pub bars: fn(&Comparison, &Words) -> Vec<Bars>,
    /// Its tables, and the notes below them. No table when the rows are missing.
    pub tables: fn(&Comparison, &Words) -> Tables,
}

/// A chart of bars: groups of one bar for each column.
#[derive(Clone)]
pub struct Bars {
    pub title: String,
    pub unit: String,
    pub lower_is_better: bool,
    pub groups: Vec<(String, Vec<Option<Height>>)>,
}

/// The height of a bar, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Height {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

impl Height {
    /// A figure computed from the cost of a cell. The interval may turn round, as rates do.
    fn of(cell: &Cell, of_cost: impl Fn(f64) -> f64) -> Option<Height> {
        let measured = measured(cell)?;
        let ends = measured.cost_interval.map(|(low, high)| (of_cost(low), of_cost(high)));
        let interval = ends.map(|(a, b)| (a.min(b), a.max(b)));
        Some(Height { value: of_cost(measured.cost), interval })
    }
}

/// What layouts have whose originals had no chart.
fn no_bars(_: &Comparison, _: &Words) -> Vec<Bars> {
    Vec::new()
}

/// What a layout makes of a comparison.
pub struct Tables {
    pub sheets: Vec<Sheet>,
    pub notes: Vec<String>,
}

/// The layout of that name or alias.
pub fn find(name: &str) -> Result<&'static Layout> {
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, layout)| layout);
    let found = LAYOUTS.iter().find(|layout| layout.name == name).or_else(alias);
    found.with_context(|| {
        let known: Vec<_> = LAYOUTS.iter().map(|layout| (layout.name, layout.summary)).collect();
        suggest::unknown("layout", name, &known)
    })
}

impl Layout {
    /// The tables; an error where the comparison has none of their rows.
    pub fn of(&self, comparison: &Comparison, words: &Words) -> Result<Tables> {
        let mut tables = (self.tables)(comparison, words);
        tables.sheets.retain(|sheet| !sheet.rows.is_empty());
        let unreached = comparison.rows.iter().filter(|row| !is_reached(row)).count();
        let unreached =
            (unreached > 0).then(|| words.with("layout-unreached", &[("count", unreached.into())]));
        let cells = comparison.rows.iter().flat_map(|row| &row.cells);
        let mut doubts = cells.filter_map(measured).map(letters).filter(|it| !it.is_empty());
        let shown = tables.sheets.iter().flat_map(|sheet| sheet.rows.iter().flatten());
        if doubts.any(|doubt| shown.clone().any(|cell| cell.ends_with(&doubt))) {
            tables.notes.push(words.say("layout-letters"));
        }
        ensure!(
            !tables.sheets.is_empty(),
            "{}",
            words.with(
                "layout-empty",
                &[("name", text(self.name)), ("command", text(self.measure))]
            ) + &unreached.as_ref().map(|why| format!(" ({why})")).unwrap_or_default()
        );
        tables.notes.extend(counts(comparison, words));
        tables.notes.extend(unreached);
        Ok(tables)
    }
}

/// Whether the run came to the row in any column.
fn is_reached(row: &Row) -> bool {
    row.cells.iter().any(|cell| !matches!(cell, Cell::NotReached { .. }))
}

/// How many cells differ from the reference, in words; nothing without verdicts. The tables of
/// whole commands have words of their own.
fn counts(comparison: &Comparison, words: &Words) -> Option<String> {
    let own = comparison.rows.iter().filter(|row| !row.is_of_command());
    let taxes = own.flat_map(|row| &row.cells).filter_map(tax_of);
    let verdicts: Vec<Verdict> = taxes.map(|tax| tax.verdict).collect();
    let count = |wanted: Verdict| verdicts.iter().filter(|it| **it == wanted).count();
    let [slower, faster, same] = [Verdict::Slower, Verdict::Faster, Verdict::Same].map(count);
    let (all, differ) = (verdicts.len(), slower + faster);
    let margin = units::percent(comparison.margin);
    let values = [
        ("differ", differ.into()),
        ("all", all.into()),
        ("reference", text(&comparison.reference)),
        ("slower", slower.into()),
        ("faster", faster.into()),
        ("same", same.into()),
        ("margin", text(&margin)),
        ("open", (all - differ - same).into()),
    ];
    (all > 0).then(|| words.with("layout-counts", &values))
}

/// Rows of that probe and phase whose parameters have all of these values. Rows of several copies
/// are left out: these tables show the cost of one. So are those that the run never came to.
fn rows<'a>(
    comparison: &'a Comparison,
    probe: &'a str,
    phase: &'a str,
    params: &'a [(&'a str, &'a str)],
) -> impl Iterator<Item = &'a Row> {
    let found = all_rows(comparison, probe, phase, params);
    found.filter(|row| param(row, "copies").is_none())
}

/// As [`rows`], with those of several copies.
fn all_rows<'a>(
    comparison: &'a Comparison,
    probe: &'a str,
    phase: &'a str,
    params: &'a [(&'a str, &'a str)],
) -> impl Iterator<Item = &'a Row> {
    comparison.rows.iter().filter(move |row| {
        let has = |(name, value): &(&str, &str)| param(row, name) == Some(value);
        row.probe == probe && row.phase == phase && params.iter().all(has) && is_reached(row)
    })
}

/// The value of a parameter in the row's case.
fn param<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    let mut pairs = row.params.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The rows by directory, and by block size in each.
fn by_size(mut rows: Vec<&Row>) -> Vec<&Row> {
    rows.sort_by_key(|row| (row.dir.clone(), param_bytes(row, "size")));
    rows
}

fn param_bytes(row: &Row, name: &str) -> Option<u64> {
    units::parse_bytes(param(row, name)?)
}

fn measured(cell: &Cell) -> Option<&Measured> {
    match cell {
        Cell::Measured(measured) => Some(measured),
        _ => None,
    }
}

/// A figure computed from the cost, as `value ±width`, with the letters of its flags.
fn figure(words: &Words, cell: &Cell, of_cost: impl Fn(f64) -> f64) -> String {
    let Some(measured) = measured(cell) else { return missing(words, cell) };
    let value = of_cost(measured.cost);
    let width = measured.cost_interval.map(|(low, high)| {
        let width = (of_cost(high) - of_cost(low)).abs() / 2.0 / value;
        // If a few rounds disagree that much, the interval tells nothing else.
        if width < 1.0 { format!(" ±{}", units::percent(width)) } else { " ±?".into() }
    });
    let width = words.written(&width.unwrap_or_default());
    format!("{}{width}{}", units::number(value), letters(measured))
}

/// The letters of the flags, in brackets behind a space; nothing without a flag.
fn letters(measured: &Measured) -> String {
    let letters: String = measured.flags.iter().map(|flag| flag.letter()).collect();
    if letters.is_empty() { letters } else { format!(" ({letters})") }
}

/// A tax with its interval, as ratio of rates when `inverse`.
fn ratio(tax: &Tax, inverse: bool) -> String {
    let of = |ratio: f64| if inverse { 1.0 / ratio } else { ratio };
    let interval = tax.interval.map(|(low, high)| {
        let ends = if inverse { (of(high), of(low)) } else { (low, high) };
        format!(" [{}–{}]", units::factor(ends.0), units::factor(ends.1))
    });
    format!("{}×{}", units::factor(of(tax.ratio)), interval.unwrap_or_default())
}

/// The ratio of a cell with the word of its verdict, if it has one.
fn cell_ratio(words: &Words, cell: &Cell, inverse: bool) -> String {
    let of = |tax: &Tax| format!("{} {}", ratio(tax, inverse), verdict(words, tax));
    tax_of(cell).map(of).unwrap_or_default()
}

/// A line with the ratios of rates, which names the phase where a test has several. A sum of phases
/// has no interval: each has its own.
fn ratios(words: &Words, row: &Row) -> Vec<String> {
    let of = |cell: &Cell| cell_ratio(words, cell, true);
    let phase = if row.probe.starts_with("process.") { row.phase.as_str() } else { "" };
    let name = format!("  {} {phase}", words.say("layout-ratio"));
    std::iter::once(name.trim_end().to_owned()).chain(row.cells.iter().map(of)).collect()
}

/// An empty table with a column for each environment.
fn sheet(title: &str, comparison: &Comparison) -> Sheet {
    Sheet { header: header("", comparison), ..Sheet::new(title, &[]) }
}

/// A header: an empty corner, then a column for each environment.
fn header(corner: &str, comparison: &Comparison) -> Vec<String> {
    std::iter::once(corner.to_owned()).chain(comparison.columns.iter().cloned()).collect()
}

/// Seconds of a whole file from ns of one call: its calls are `total / size`.
fn whole_file_s(row: &Row) -> Option<impl Fn(f64) -> f64 + use<>> {
    let calls = param_bytes(row, "total")? / param_bytes(row, "size")?.max(1);
    Some(move |ns: f64| ns * calls as f64 / 1e9)
}

/// MB (of 1000000 bytes, as dd prints) a second from ns of one call.
fn megabytes_a_second(row: &Row) -> Option<impl Fn(f64) -> f64 + use<>> {
    let size = param_bytes(row, "size")? as f64;
    Some(move |ns: f64| size / ns * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_unique_and_name_their_command() {
        let mut names = std::collections::HashSet::new();
        for layout in LAYOUTS {
            assert!(names.insert(layout.name) && layout.measure.starts_with("envtax "));
        }
        for (alias, _) in ALIASES {
            assert!(names.insert(alias));
        }
        let error = find("r9").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`r9`") && error.contains("before-after"), "{error}");
    }

    #[test]
    fn earlier_names_are_aliases() {
        let name = |alias| find(alias).unwrap().name;
        assert_eq!(name("r0"), "before-after");
        assert_eq!(name("r1"), "appvirt-files");
        assert_eq!(name("r2"), "process-cost");
        assert_eq!(name("r3"), "teardown");
    }
}
