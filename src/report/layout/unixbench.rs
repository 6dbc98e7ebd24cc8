//! `unixbench`: the scores of UnixBench's tests with their index. After the comparison of WSL 1 and
//! WSL 2 in docs/PUBLISHED.md; that article's text has lost its tables.

use super::{Bars, Height, Layout, Tables, all_rows, measured, param, ratios};
use crate::compare::{Comparison, Row};
use crate::report::sheet::Sheet;
use crate::units;
use crate::words::Words;

pub const LAYOUT: Layout = Layout {
    name: "unixbench",
    summary: "the scores of UnixBench's tests, and its index",
    source: super::WSL_1_AND_2,
    measure: "envtax run --suite unixbench",
    bars,
    tables,
};

/// One of UnixBench's index tests: its name, the probe, the phases that make it up, the parameters,
/// the score of a cost in ns, and the score of the machine that the index calls 10 (UnixBench 6,
/// pgms/index.base: a SPARCstation 20-61).
struct Test {
    name: &'static str,
    unit: &'static str,
    probe: &'static str,
    phases: &'static [&'static str],
    params: &'static [(&'static str, &'static str)],
    score: fn(f64) -> f64,
    base: f64,
}

fn a_second(ns: f64) -> f64 {
    1e9 / ns
}

fn a_minute(ns: f64) -> f64 {
    60e9 / ns
}

const fn test(
    name: &'static str,
    unit: &'static str,
    probe: &'static str,
    params: &'static [(&'static str, &'static str)],
    score: fn(f64) -> f64,
    base: f64,
) -> Test {
    Test { name, unit, probe, phases: &[""], params, score, base }
}

const TESTS: [Test; 12] = [
    test("Dhrystone 2", "lps", "cpu.integer", &[], a_second, 116_700.0),
    test("Whetstone", "MWIPS", "cpu.float", &[], mwips, 55.0),
    test("Execl throughput", "lps", "process.replace", DYNAMIC, a_second, 43.0),
    test("File copy 1024", "KBps", "file.copy", &[("buffer", "1KiB")], kbps::<1024>, 3960.0),
    test("File copy 256", "KBps", "file.copy", &[("buffer", "256B")], kbps::<256>, 1655.0),
    test("File copy 4096", "KBps", "file.copy", &[("buffer", "4KiB")], kbps::<4096>, 5800.0),
    test("Pipe throughput", "lps", "pipe.throughput", PIPE, a_second, 12_440.0),
    test("Context switching", "lps", "pipe.roundtrip", &[("cpu", "same")], a_second, 4000.0),
    Test {
        name: "Process creation",
        unit: "lps",
        probe: "process.fork",
        phases: &["create", "reap"],
        params: &[],
        score: a_second,
        base: 126.0,
    },
    test("Shell scripts (1)", "lpm", "script.shell", &[("jobs", "1")], a_minute, 42.4),
    test("Shell scripts (8)", "lpm", "script.shell", &[("jobs", "8")], a_minute, 6.0),
    test("System call overhead", "lps", "syscall.mix", &[], a_second, 15_000.0),
];

/// UnixBench's program is linked dynamically.
const DYNAMIC: &[(&str, &str)] = &[("program", "dynamic")];
const PIPE: &[(&str, &str)] = &[("size", "512B"), ("reader", "self")];

/// KiB copied a second, in buffers of `BYTES` bytes.
fn kbps<const BYTES: usize>(ns: f64) -> f64 {
    BYTES as f64 / 1024.0 * 1e9 / ns
}

/// Millions of Whetstone instructions a second: one pass is a million of them.
fn mwips(ns: f64) -> f64 {
    1e9 / ns
}

pub(super) fn tables(comparison: &Comparison, words: &Words) -> Tables {
    let mut numbers: Vec<u64> = comparison.rows.iter().map(copies_of).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut notes = Vec::new();
    let of = |copies: u64| index(comparison, words, copies, &mut notes);
    let sheets: Vec<Sheet> = numbers.into_iter().map(of).collect();
    if sheets.iter().any(|sheet| !sheet.rows.is_empty()) {
        notes.extend(["unixbench-note-scores", "unixbench-note-others"].map(|id| words.say(id)));
    }
    notes.dedup();
    Tables { sheets, notes }
}

/// How many processes did the row's operation at the same time.
fn copies_of(row: &Row) -> u64 {
    param(row, "copies").and_then(|copies| copies.parse().ok()).unwrap_or(1)
}

/// The index of each test; one of several phases has no interval.
pub(super) fn bars(comparison: &Comparison, words: &Words) -> Vec<Bars> {
    let of_test = |test: &Test| {
        let parts = parts(comparison, test, 1)?;
        let index = |ns: f64| (test.score)(ns) / test.base * 10.0;
        let height = |column: usize| match parts[..] {
            [row] => Height::of(&row.cells[column], index),
            _ => {
                let costs = parts.iter().map(|row| Some(measured(&row.cells[column])?.cost));
                let value = index(costs.sum::<Option<f64>>()?);
                Some(Height { value, interval: None })
            }
        };
        Some((test.name.to_owned(), (0..comparison.columns.len()).map(height).collect()))
    };
    let (title, unit) = (words.say("unixbench-bars"), words.say("unixbench-index"));
    let groups = TESTS.iter().filter_map(of_test).collect();
    vec![Bars { title, unit, lower_is_better: false, groups }]
}

/// Each test's score with its index in each column, and the index of all, for so many copies at a
/// time: their scores are added, as UnixBench does.
fn index(comparison: &Comparison, words: &Words, copies: u64, notes: &mut Vec<String>) -> Sheet {
    let title = match copies {
        1 => words.say("unixbench-title"),
        _ => words.with("unixbench-copies", &[("copies", (copies as usize).into())]),
    };
    let mut sheet = super::sheet(&title, comparison);
    let mut indices: Vec<Vec<f64>> = vec![Vec::new(); comparison.columns.len()];
    let mut found = 0;
    for test in &TESTS {
        let Some(parts) = parts(comparison, test, copies) else { continue };
        found += 1;
        let mut scores = vec![format!("{} [{}]", test.name, test.unit)];
        for (column, own) in indices.iter_mut().enumerate() {
            let Some(score) = score(test, &parts, column, copies) else {
                scores.push(super::missing(words, &parts[0].cells[column]));
                continue;
            };
            let index = score / test.base * 10.0;
            own.push(index);
            scores.push(format!("{} ({})", units::number(score), units::number(index)));
        }
        sheet.rows.push(scores);
        if comparison.columns.len() > 1 {
            sheet.rows.extend(parts.iter().map(|row| ratios(words, row)));
        }
    }
    sheet.rows.extend(tiny_execl(comparison, words, copies));
    if found == TESTS.len() && indices.iter().all(|own| own.len() == found) {
        let mean = |own: &Vec<f64>| {
            let logs: f64 = own.iter().map(|index| index.ln()).sum();
            units::number((logs / own.len() as f64).exp())
        };
        let means = indices.iter().map(mean);
        sheet.rows.push(std::iter::once(words.say("unixbench-score")).chain(means).collect());
    } else if found > 0 {
        let whole = indices.iter().map(Vec::len).min().unwrap_or(0);
        let values = [("found", whole.into()), ("all", TESTS.len().into())];
        notes.push(words.with("unixbench-note-some", &values));
    }
    sheet
}

/// The score of all copies together in a column.
fn score(test: &Test, parts: &[&Row], column: usize, copies: u64) -> Option<f64> {
    let costs = parts.iter().map(|row| Some(measured(&row.cells[column])?.cost));
    Some((test.score)(costs.sum::<Option<f64>>()?) * copies as f64)
}

/// The line of the program that is no part of the index.
fn tiny_execl(comparison: &Comparison, words: &Words, copies: u64) -> Option<Vec<String>> {
    let test = test("Execl, tiny and static", "lps", "process.replace", &[], a_second, 43.0);
    let row = all_rows(comparison, test.probe, "", &[])
        .find(|row| copies_of(row) == copies && param(row, "program").is_none())?;
    let of = |column: usize| match score(&test, &[row], column, copies) {
        Some(score) => units::number(score),
        None => super::missing(words, &row.cells[column]),
    };
    let scores = (0..comparison.columns.len()).map(of);
    Some(std::iter::once(format!("{} [{}]", test.name, test.unit)).chain(scores).collect())
}

/// The rows of all phases of a test.
fn parts<'a>(comparison: &'a Comparison, test: &'a Test, copies: u64) -> Option<Vec<&'a Row>> {
    test.phases.iter().map(|phase| part(comparison, test, phase, copies)).collect()
}

fn part<'a>(
    comparison: &'a Comparison,
    test: &'a Test,
    phase: &'a str,
    copies: u64,
) -> Option<&'a Row> {
    let mut found = all_rows(comparison, test.probe, phase, test.params);
    found.find(|row| copies_of(row) == copies)
}
