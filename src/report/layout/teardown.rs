//! `teardown`: creation and destruction of many processes, and what a bystander feels meanwhile.
//! After the measurements of process destruction on Windows in docs/PUBLISHED.md.

use super::{Layout, Tables, figure, param, rows};
use crate::compare::{Cell, Comparison, Row};
use crate::report::sheet::Sheet;
use crate::units;

pub const LAYOUT: Layout = Layout {
    name: "teardown",
    summary: "seconds to create and destroy many processes, and how long bystanders are blocked",
    source: "Bruce Dawson, \"A Not-Called Function Can Cause a 5X Slowdown\", \
             randomascii.wordpress.com, 3 December 2018: 1000 processes made and destroyed on \
             Windows, and what a bystander felt",
    measure: "envtax run --suite teardown",
    bars: super::no_bars,
    tables,
};

fn tables(comparison: &Comparison) -> Tables {
    let mut phases = super::sheet("Seconds in all, and ms per process", comparison);
    for (title, phase) in [("creation", "create"), ("destruction", "exit")] {
        for row in rows(comparison, "process.teardown", phase, &[]) {
            let count: f64 = param(row, "n").and_then(|n| n.parse().ok()).unwrap_or(f64::NAN);
            let shape = param(row, "shape").unwrap_or_default();
            add(&mut phases, format!("{title} of {count} ({shape}), s"), row, |ns| {
                ns * count / 1e9
            });
            add(&mut phases, "  ms per process".into(), row, |ns| ns / 1e6);
        }
    }
    let mut bystander = super::sheet("What a bystander feels", comparison);
    for probe in ["bystander.latency", "bystander.writeback"] {
        for row in rows(comparison, probe, "blocked", &[]) {
            bystander.rows.push(vec![situation(row)]);
            add(&mut bystander, "  share of time blocked, %".into(), row, |ppm| ppm / 1e4);
            for (title, phase) in [("calm", "calm"), ("during it", "busy"), ("worst", "worst")] {
                let same = |other: &&Row| other.params == row.params && other.dir == row.dir;
                let found = rows(comparison, probe, phase, &[]).find(same);
                let Some(other) = found else { continue };
                let times = other.cells.iter().map(time);
                let name = format!("  {title}");
                bystander.rows.push(std::iter::once(name).chain(times).collect());
            }
        }
    }
    let notes = vec![
        "blocked: the share of the time of creation or destruction in which an operation of a \
         bystander, a process at normal priority, took longer than in calm; the full report has \
         the distributions"
            .into(),
    ];
    Tables { sheets: vec![phases, bystander], notes }
}

/// `fork, while 1000 processes end`, and where files are written.
fn situation(row: &Row) -> String {
    let of = |name: &str| param(row, name).unwrap_or_default();
    let (op, n) = (of("op"), of("n"));
    match (of("during"), &row.dir) {
        ("create", _) => format!("{op}, while {n} processes start"),
        ("teardown", _) => format!("{op}, while {n} processes end"),
        (_, dir) => {
            format!("{op}, while {n} MiB are written to {}", dir.as_deref().unwrap_or_default())
        }
    }
}

fn time(cell: &Cell) -> String {
    match super::measured(cell) {
        Some(measured) => units::time(measured.cost),
        None => super::missing(cell),
    }
}

fn add(sheet: &mut Sheet, name: String, row: &Row, of: impl Fn(f64) -> f64) {
    let figures = row.cells.iter().map(|cell| figure(cell, &of));
    sheet.rows.push(std::iter::once(name).chain(figures).collect());
}
