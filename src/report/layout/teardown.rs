//! `teardown`: creation and destruction of many processes, and what a bystander feels meanwhile.
//! After the measurements of process destruction on Windows in docs/PUBLISHED.md.

use super::{Layout, Tables, figure, param, rows};
use crate::compare::{Cell, Comparison, Row};
use crate::report::sheet::Sheet;
use crate::units;
use crate::words::{Words, text};

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

fn tables(comparison: &Comparison, words: &Words) -> Tables {
    let mut phases = super::sheet(&words.say("teardown-title"), comparison);
    for (title, phase) in [("teardown-creation", "create"), ("teardown-destruction", "exit")] {
        for row in rows(comparison, "process.teardown", phase, &[]) {
            let count: f64 = param(row, "n").and_then(|n| n.parse().ok()).unwrap_or(f64::NAN);
            let shape = param(row, "shape").unwrap_or_default();
            let told = count.to_string();
            let what = weight_of(row).map_or(shape.into(), |weight| format!("{shape}, {weight}"));
            let values = [("count", text(&told)), ("shape", text(&what))];
            add(words, &mut phases, words.with(title, &values), row, |ns| ns * count / 1e9);
            let name = format!("  {}", words.say("teardown-each"));
            add(words, &mut phases, name, row, |ns| ns / 1e6);
            phases.rows.extend(ratios(comparison, words, row));
        }
    }
    let mut bystander = super::sheet(&words.say("teardown-bystander"), comparison);
    for probe in ["bystander.latency", "bystander.writeback"] {
        for row in rows(comparison, probe, "blocked", &[]) {
            bystander.rows.push(vec![situation(words, row)]);
            let name = format!("  {}", words.say("teardown-blocked"));
            add(words, &mut bystander, name, row, |ppm| ppm / 1e4);
            bystander.rows.extend(blocked_total(comparison, words, row));
            for (title, phase) in PARTS {
                let same = |other: &&Row| other.params == row.params && other.dir == row.dir;
                let found = rows(comparison, probe, phase, &[]).find(same);
                let Some(other) = found else { continue };
                let times = other.cells.iter().map(|cell| time(words, cell));
                let name = format!("  {}", words.say(title));
                bystander.rows.push(std::iter::once(name).chain(times).collect());
            }
        }
    }
    let notes = vec![words.say("teardown-note")];
    Tables { sheets: vec![phases, bystander], notes }
}

/// `user32, hidden`: what the row's processes have beside their sleep.
fn weight_of(row: &Row) -> Option<String> {
    let found: Vec<&str> =
        ["dll", "console"].into_iter().filter_map(|name| param(row, name)).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// Lines with the ratios to the reference, and of heavier processes to plain ones.
fn ratios(comparison: &Comparison, words: &Words, row: &Row) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    if row.cells.len() > 1 {
        let of = row.cells.iter().map(|cell| super::cell_ratio(words, cell, false));
        lines.push(std::iter::once(format!("  {}", words.say("layout-ratio"))).chain(of).collect());
    }
    let weight = comparison.weights.iter().find(|weight| weight.name == row.name());
    lines.extend(weight.map(|weight| {
        let of = weight.columns.iter().map(|cost| {
            cost.as_ref().map_or(String::new(), |cost| {
                let ends = cost.interval.map(|(low, high)| {
                    format!(" [{}–{}]", units::factor(low), units::factor(high))
                });
                format!("{}×{}", units::factor(cost.value), ends.unwrap_or_default())
            })
        });
        let name = format!("  {}", words.say("teardown-against-plain"));
        std::iter::once(name).chain(of).collect()
    }));
    lines
}

/// `blocked total s / max s`: the seconds that the bystander was blocked for in all, from the share
/// and the length of the storm, and the longest response.
fn blocked_total(comparison: &Comparison, words: &Words, row: &Row) -> Option<Vec<String>> {
    let count: f64 = param(row, "n")?.parse().ok()?;
    let same = |other: &&Row| other.params == row.params && other.dir == row.dir;
    let of_phase = |phase: &str| {
        let all = comparison.rows.iter().filter(|other| other.probe == row.probe);
        all.filter(|other| other.phase == phase).find(same)
    };
    let (storm, worst) = (of_phase("storm")?, of_phase("worst")?);
    let cost = |row: &Row, column: usize| Some(super::measured(&row.cells[column])?.cost);
    let of = |column: usize| {
        let (share, storm) = (cost(row, column)?, cost(storm, column)?);
        let total = share / 1e6 * storm * count / 1e9;
        Some(format!("{} / {}", seconds(total), seconds(cost(worst, column)? / 1e9)))
    };
    let cells = (0..row.cells.len()).map(|column| of(column).unwrap_or_default());
    Some(std::iter::once(format!("  {}", words.say("teardown-total"))).chain(cells).collect())
}

/// Three decimals, as the original prints them.
fn seconds(value: f64) -> String {
    format!("{value:.3}")
}

/// The messages of a bystander's figures, with their phases.
const PARTS: [(&str, &str); 3] =
    [("teardown-calm", "calm"), ("teardown-during", "busy"), ("teardown-worst", "worst")];

/// `fork, while 1000 processes end`, and where files are written.
fn situation(words: &Words, row: &Row) -> String {
    let of = |name: &str| param(row, name).unwrap_or_default();
    let weight = weight_of(row).map(|weight| format!(" ({weight})"));
    let op = format!("{}{}", of("op"), weight.unwrap_or_default());
    let values = [("op", text(&op)), ("n", text(of("n")))];
    match (of("during"), &row.dir) {
        ("create", _) => words.with("teardown-while-create", &values),
        ("teardown", _) => words.with("teardown-while-exit", &values),
        (_, dir) => {
            let dir = ("dir", text(dir.as_deref().unwrap_or_default()));
            words.with("teardown-while-writing", &[&values[..], &[dir]].concat())
        }
    }
}

fn time(words: &Words, cell: &Cell) -> String {
    match super::measured(cell) {
        Some(measured) => units::time(measured.cost),
        None => super::missing(words, cell),
    }
}

fn add(words: &Words, sheet: &mut Sheet, name: String, row: &Row, of: impl Fn(f64) -> f64) {
    let figures = row.cells.iter().map(|cell| figure(words, cell, &of));
    sheet.rows.push(std::iter::once(name).chain(figures).collect());
}
