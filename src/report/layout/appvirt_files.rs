//! `appvirt-files`: sequential writing and reading of a file in several block sizes. After the
//! comparison of ThinApp and App-V in docs/PUBLISHED.md.

use super::{Bars, Height, Layout, Tables, by_size, cell_ratio, figure, measured, param, rows};
use crate::compare::{Comparison, Row};
use crate::report::sheet::Sheet;
use crate::units;
use crate::words::{Words, text};

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

fn tables(comparison: &Comparison, words: &Words) -> Tables {
    let mut sheets = Vec::new();
    let sections = sections(comparison, words);
    for (title, rows) in &sections {
        sheets.push(overview(comparison, words, title, rows));
    }
    for (column, label) in comparison.columns.iter().enumerate() {
        for (title, rows) in &sections {
            sheets.push(single_runs(words, &format!("{label}: {title}"), column, rows));
        }
    }
    let notes = vec![words.say("appvirt-note-runs"), words.say("appvirt-note-settle")];
    Tables { sheets, notes }
}

/// Seconds for the whole file, by block size.
fn bars(comparison: &Comparison, words: &Words) -> Vec<Bars> {
    let of_section = |(title, rows): Section<'_>| {
        let group = |row: &&Row| {
            let seconds = super::whole_file_s(row)?;
            Some((name(row), row.cells.iter().map(|cell| Height::of(cell, &seconds)).collect()))
        };
        let groups = rows.iter().filter_map(group).collect();
        Bars { title, unit: "s".into(), lower_is_better: true, groups }
    };
    sections(comparison, words).into_iter().map(of_section).collect()
}

fn sections<'a>(comparison: &'a Comparison, words: &Words) -> Vec<Section<'a>> {
    let of = |title: &str, probe: &'static str, phase: &'static str| {
        let found = rows(comparison, probe, phase, &[]);
        let found = by_size(found.filter(|row| param(row, "total").is_some()).collect());
        let total = found.first().and_then(|row| param(row, "total")).unwrap_or_default();
        (words.with(title, &[("total", text(total))]), found)
    };
    let all = [
        of("appvirt-write", "file.write", "write"),
        of("appvirt-settle", "file.write", "settle"),
        of("appvirt-read", "file.scan", ""),
    ];
    all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Block size, with the other parameters in which the rows of a section differ.
fn name(row: &Row) -> String {
    let other = ["mode", "cache"].into_iter().find_map(|name| param(row, name));
    let dir = row.dir.as_ref().map(|dir| format!(" {dir}")).unwrap_or_default();
    let size = param(row, "size").unwrap_or_default();
    let by = param(row, "by").map(|by| format!(" {by}")).unwrap_or_default();
    format!("{size} {}{by}{dir}", other.unwrap_or_default())
}

fn overview(comparison: &Comparison, words: &Words, title: &str, rows: &[&Row]) -> Sheet {
    let mut sheet = super::sheet(title, comparison);
    for row in rows {
        let Some(seconds) = super::whole_file_s(row) else { continue };
        let mut cells = vec![name(row)];
        cells.extend(row.cells.iter().map(|cell| figure(words, cell, &seconds)));
        sheet.rows.push(cells);
        let taxes: Vec<String> =
            row.cells.iter().skip(1).map(|cell| cell_ratio(words, cell, false)).collect();
        if taxes.iter().any(|tax| !tax.is_empty()) {
            let line =
                [format!("  {}", words.say("ladder-tax")), String::new()].into_iter().chain(taxes);
            sheet.rows.push(line.collect());
        }
    }
    sheet
}

fn single_runs(words: &Words, title: &str, column: usize, rows: &[&Row]) -> Sheet {
    let ids = ["first", "second", "third", "mean", "centre"];
    let header = ids.map(|id| words.say(&format!("appvirt-{id}"))).into_iter();
    let header = std::iter::once(String::new()).chain(header).collect();
    let mut sheet = Sheet { header, ..Sheet::new(title, &[]) };
    for row in rows {
        let Some(seconds) = super::whole_file_s(row) else { continue };
        let cell = &row.cells[column];
        let mut cells = vec![name(row)];
        let first = measured(cell).map(|it| it.first_rounds.as_slice()).unwrap_or_default();
        let run = |at: usize| first.get(at).map(|ns| units::number(seconds(*ns)));
        cells.extend((0..3).map(|at| run(at).unwrap_or_default()));
        let mean = (first.len() >= 3).then(|| first[..3].iter().sum::<f64>() / 3.0);
        cells.push(mean.map(|ns| units::number(seconds(ns))).unwrap_or_default());
        cells.push(figure(words, cell, &seconds));
        sheet.rows.push(cells);
    }
    sheet
}
