//! Tables laid out as the published comparisons printed them, with intervals where those had none.
//! One file a comparison, listed once below.

mod appvirt_files;
mod before_after;
mod process_cost;
mod teardown;
mod unixbench;

use anyhow::{Context, Result, ensure};

use super::sheet::Sheet;
use crate::compare::{Cell, Comparison, Measured, Row, Tax, tax_of};
use crate::units;

/// Every layout.
pub const LAYOUTS: &[Layout] =
    &[before_after::R0, appvirt_files::R1, process_cost::R2, teardown::R3, unixbench::R4];

/// One published comparison's way to print its tables.
pub struct Layout {
    pub name: &'static str,
    pub summary: &'static str,
    /// The command that measures what it shows.
    pub measure: &'static str,
    /// Its tables, and what must be said beside them. No table when the rows are missing.
    pub tables: fn(&Comparison) -> Tables,
}

/// What a layout makes of a comparison.
pub struct Tables {
    pub sheets: Vec<Sheet>,
    pub notes: Vec<String>,
}

/// The layout of that name.
pub fn find(name: &str) -> Result<&'static Layout> {
    let found = LAYOUTS.iter().find(|layout| layout.name == name);
    found.with_context(|| {
        let names: Vec<&str> = LAYOUTS.iter().map(|layout| layout.name).collect();
        format!("there is no layout `{name}`; there are {}", names.join(", "))
    })
}

impl Layout {
    /// The tables; an error where the comparison has none of their rows.
    pub fn of(&self, comparison: &Comparison) -> Result<Tables> {
        let mut tables = (self.tables)(comparison);
        tables.sheets.retain(|sheet| !sheet.rows.is_empty());
        ensure!(
            !tables.sheets.is_empty(),
            "the layout `{}` finds none of its rows; measure them with `{}`",
            self.name,
            self.measure
        );
        Ok(tables)
    }
}

/// Rows of that probe and phase whose parameters have all of these values, of one copy: what one of
/// several costs is no figure of these tables.
fn rows<'a>(
    comparison: &'a Comparison,
    probe: &'a str,
    phase: &'a str,
    params: &'a [(&'a str, &'a str)],
) -> impl Iterator<Item = &'a Row> {
    comparison.rows.iter().filter(move |row| {
        let has = |(name, value): &(&str, &str)| param(row, name) == Some(value);
        let single = param(row, "copies").is_none();
        row.probe == probe && row.phase == phase && single && params.iter().all(has)
    })
}

/// The value of a parameter in the row's case.
fn param<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    let mut pairs = row.params.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
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

/// What stands for a figure that is not there.
fn missing(cell: &Cell) -> String {
    let word = match cell {
        Cell::Measured(_) => "",
        Cell::Skipped { .. } => "skipped",
        Cell::Failed { .. } => "failed",
        Cell::NotReached { .. } => "not reached",
    };
    word.to_owned()
}

/// A figure made of the cost, as `value ±width`, with the letters of its doubts.
fn figure(cell: &Cell, of_cost: impl Fn(f64) -> f64) -> String {
    let Some(measured) = measured(cell) else { return missing(cell) };
    let value = of_cost(measured.cost);
    let width = measured.cost_interval.map(|(low, high)| {
        let width = (of_cost(high) - of_cost(low)).abs() / 2.0 / value;
        // A few rounds that disagree have an interval that says nothing but that.
        if width < 1.0 { format!(" ±{}", units::percent(width)) } else { " ±?".into() }
    });
    let letters: String = measured.flags.iter().map(|flag| flag.letter()).collect();
    let letters = if letters.is_empty() { letters } else { format!(" ({letters})") };
    format!("{}{}{letters}", units::number(value), width.unwrap_or_default())
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

/// The ratio of a cell, if it has one.
fn cell_ratio(cell: &Cell, inverse: bool) -> String {
    tax_of(cell).map(|tax| ratio(tax, inverse)).unwrap_or_default()
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
        let error = find("r9").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`r9`") && error.contains("r4"), "{error}");
    }
}
