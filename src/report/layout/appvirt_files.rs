//! `appvirt-files`: sequential writing and reading of a file in several block sizes. After the
//! comparison of ThinApp and App-V in docs/PUBLISHED.md.

use super::{Bars, Height, Layout, Tables, by_size, cell_ratio, figure, measured, param, rows};
use crate::compare::{Comparison, Row};
use crate::report::sheet::Sheet;
use crate::units;

pub const LAYOUT: Layout = Layout {
    name: "appvirt-files",
    summary: "seconds to write and to read a whole file, by block size, with single runs",
    source: "\"On the performance of virtualised applications, writing and reading files\" (in \
             Japanese), a blog article of 23 February 2012: 250 MiB on Windows 7, under ThinApp \
             and under App-V",
    measure: "envtax run --suite appvirt-files",
    bars,
    tables,
};

/// Title of a section and the rows that it shows.
type Section<'a> = (String, Vec<&'a Row>);

fn tables(comparison: &Comparison) -> Tables {
    let mut sheets = Vec::new();
    let sections = sections(comparison);
    for (title, rows) in &sections {
        sheets.push(overview(comparison, title, rows));
    }
    for (column, label) in comparison.columns.iter().enumerate() {
        for (title, rows) in &sections {
            sheets.push(single_runs(&format!("{label}: {title}"), column, rows));
        }
    }
    let notes = vec![
        "shorter is faster; the first rounds are single runs in random order, the last column is \
         the centre of all rounds with its 95 % interval"
            .into(),
        "settle: the time until the data is durable, after the program has closed the file; the \
         time of the write does not contain it"
            .into(),
    ];
    Tables { sheets, notes }
}

/// Seconds for the whole file, by block size.
fn bars(comparison: &Comparison) -> Vec<Bars> {
    let of_section = |(title, rows): Section<'_>| {
        let group = |row: &&Row| {
            let seconds = super::whole_file_s(row)?;
            Some((name(row), row.cells.iter().map(|cell| Height::of(cell, &seconds)).collect()))
        };
        let groups = rows.iter().filter_map(group).collect();
        Bars { title, unit: "s".into(), lower_is_better: true, groups }
    };
    sections(comparison).into_iter().map(of_section).collect()
}

fn sections(comparison: &Comparison) -> Vec<Section<'_>> {
    let of = |title: &str, probe: &'static str, phase: &'static str| {
        let found = rows(comparison, probe, phase, &[]);
        let found = by_size(found.filter(|row| param(row, "total").is_some()).collect());
        let total = found.first().and_then(|row| param(row, "total")).unwrap_or_default();
        (format!("{title} ({total}), seconds"), found)
    };
    let all = [
        of("Write", "file.write", "write"),
        of("Settle", "file.write", "settle"),
        of("Read", "file.scan", ""),
    ];
    all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Block size, with the other parameters in which the rows of a section differ.
fn name(row: &Row) -> String {
    let other = ["mode", "cache"].into_iter().find_map(|name| param(row, name));
    let dir = row.dir.as_ref().map(|dir| format!(" {dir}")).unwrap_or_default();
    let size = param(row, "size").unwrap_or_default();
    format!("{size} {}{dir}", other.unwrap_or_default())
}

fn overview(comparison: &Comparison, title: &str, rows: &[&Row]) -> Sheet {
    let mut sheet = super::sheet(title, comparison);
    for row in rows {
        let Some(seconds) = super::whole_file_s(row) else { continue };
        let mut cells = vec![name(row)];
        cells.extend(row.cells.iter().map(|cell| figure(cell, &seconds)));
        sheet.rows.push(cells);
        let taxes: Vec<String> =
            row.cells.iter().skip(1).map(|cell| cell_ratio(cell, false)).collect();
        if taxes.iter().any(|tax| !tax.is_empty()) {
            let line = ["  tax".to_owned(), String::new()].into_iter().chain(taxes);
            sheet.rows.push(line.collect());
        }
    }
    sheet
}

fn single_runs(title: &str, column: usize, rows: &[&Row]) -> Sheet {
    let mut sheet = Sheet::new(title, &["", "1st", "2nd", "3rd", "centre"]);
    for row in rows {
        let Some(seconds) = super::whole_file_s(row) else { continue };
        let cell = &row.cells[column];
        let mut cells = vec![name(row)];
        let first = measured(cell).map(|it| it.first_rounds.as_slice()).unwrap_or_default();
        let run = |at: usize| first.get(at).map(|ns| units::number(seconds(*ns)));
        cells.extend((0..3).map(|at| run(at).unwrap_or_default()));
        cells.push(figure(cell, &seconds));
        sheet.rows.push(cells);
    }
    sheet
}
