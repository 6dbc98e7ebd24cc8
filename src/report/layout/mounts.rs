//! `mounts`: dd's MB/s in each target directory. After the comparison of WSL 1 and WSL 2 in
//! docs/PUBLISHED.md.

use super::{Bars, Height, Layout, Tables, by_size, figure, param, ratios, rows};
use crate::compare::Comparison;
use crate::report::sheet::Sheet;
use crate::words::{Words, text};

pub const LAYOUT: Layout = Layout {
    name: "mounts",
    summary: "dd's MB/s in each target directory, written and read",
    source: super::WSL_1_AND_2,
    measure: "envtax run --suite mounts",
    bars,
    tables,
};

pub(super) fn tables(comparison: &Comparison, words: &Words) -> Tables {
    Tables { sheets: vec![speeds(comparison, words)], notes: Vec::new() }
}

/// MB/s of writing and of reading, in each target directory.
pub(super) fn bars(comparison: &Comparison, words: &Words) -> Vec<Bars> {
    let of = |title: &str, probe, phase| {
        let group = |row: &crate::compare::Row| {
            let speed = super::megabytes_a_second(row)?;
            let how = ["mode", "cache"].into_iter().find_map(|name| param(row, name));
            let size = param(row, "size").unwrap_or_default();
            let dir = row.dir.as_deref().unwrap_or_default();
            let name = format!("{dir} bs={size} {}", how.unwrap_or_default());
            Some((name, row.cells.iter().map(|cell| Height::of(cell, &speed)).collect()))
        };
        let rows = by_size(rows(comparison, probe, phase, &[]).collect());
        let groups = rows.into_iter().filter_map(group).collect();
        let title = words.with("mounts-title", &[("what", text(&words.say(title)))]);
        Bars { title, unit: "MB/s".into(), lower_is_better: false, groups }
    };
    vec![of("mounts-write", "file.write", "write"), of("mounts-read", "file.scan", "")]
}

/// MB/s of dd's two commands, in each target directory.
fn speeds(comparison: &Comparison, words: &Words) -> Sheet {
    let mut sheet = super::sheet(&words.say("mounts-speeds"), comparison);
    for (title, probe, phase) in
        [("mounts-write", "file.write", "write"), ("mounts-read", "file.scan", "")]
    {
        for row in by_size(rows(comparison, probe, phase, &[]).collect()) {
            let Some(speed) = super::megabytes_a_second(row) else { continue };
            let how = ["mode", "cache"].into_iter().find_map(|name| param(row, name));
            let size = param(row, "size").unwrap_or_default();
            let dir = row.dir.as_deref().unwrap_or_default();
            let title = words.say(title);
            let name = format!("{title} {dir} bs={size} {}", how.unwrap_or_default());
            let figures = row.cells.iter().map(|cell| figure(words, cell, &speed));
            sheet.rows.push(std::iter::once(name).chain(figures).collect());
            if row.cells.len() > 1 {
                sheet.rows.push(ratios(words, row));
            }
        }
    }
    sheet
}
