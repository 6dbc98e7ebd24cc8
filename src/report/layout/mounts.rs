//! `mounts`: dd's MB/s in each target directory. After the comparison of WSL 1 and WSL 2 in
//! docs/PUBLISHED.md.

use super::{Layout, Tables, by_size, figure, param, ratios, rows};
use crate::compare::Comparison;
use crate::report::sheet::Sheet;

pub const LAYOUT: Layout = Layout {
    name: "mounts",
    summary: "dd's MB/s in each target directory, written and read",
    source: super::WSL_1_AND_2,
    measure: "envtax run --suite mounts",
    tables,
};

pub(super) fn tables(comparison: &Comparison) -> Tables {
    Tables { sheets: vec![speeds(comparison)], notes: Vec::new() }
}

/// MB/s of dd's two commands, in each target directory.
fn speeds(comparison: &Comparison) -> Sheet {
    let mut sheet = super::sheet("dd: MB/s, and ratio of rates with its 95 % interval", comparison);
    for (title, probe, phase) in [("write", "file.write", "write"), ("read", "file.scan", "")] {
        for row in by_size(rows(comparison, probe, phase, &[]).collect()) {
            let Some(speed) = super::megabytes_a_second(row) else { continue };
            let how = ["mode", "cache"].into_iter().find_map(|name| param(row, name));
            let size = param(row, "size").unwrap_or_default();
            let dir = row.dir.as_deref().unwrap_or_default();
            let name = format!("{title} {dir} bs={size} {}", how.unwrap_or_default());
            let figures = row.cells.iter().map(|cell| figure(cell, &speed));
            sheet.rows.push(std::iter::once(name).chain(figures).collect());
            if row.cells.len() > 1 {
                sheet.rows.push(ratios(row));
            }
        }
    }
    sheet
}
