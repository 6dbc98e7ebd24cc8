//! `process-cost`: what processes and threads cost in time and memory, and dd's MB/s. After the
//! comparison of WSL, a VirtualBox guest and a native machine in docs/PUBLISHED.md.

use super::{Layout, Tables, cell_ratio, figure, rows};
use crate::compare::{Comparison, Row};
use crate::model::Facts;
use crate::report::sheet::Sheet;
use crate::units;
use crate::words::Words;

pub const LAYOUT: Layout = Layout {
    name: "process-cost",
    summary: "facts of the environments; time and memory of processes and threads; dd's MB/s",
    source: "\"A rough comparison of the performance of WSL and guest and native Ubuntu\" (in \
             Japanese), a blog article of 2017: processes, threads and dd under WSL 1, in \
             VirtualBox and natively",
    measure: "envtax run --suite process-cost",
    bars: super::no_bars,
    tables,
};

/// Facts of the spec table, with the messages of their headings.
const SPECS: [(&str, &str); 6] = [
    ("distribution", "cost-distribution"),
    ("kernel", "cost-kernel"),
    ("cpu", "cost-cpu"),
    ("cpus", "cost-cpus"),
    ("memory", "cost-memory"),
    ("hypervisor", "cost-machine"),
];

/// A metric: the message of its name with unit, probe, phase, parameters, and the figure of a cost.
type Metric = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    fn(f64) -> f64,
);

fn milliseconds(ns: f64) -> f64 {
    ns / 1e6
}

fn megabytes(bytes: f64) -> f64 {
    bytes / 1e6
}

/// Parameters of held processes that give their parent more memory.
const EXTRA: [&str; 2] = ["mapped", "written"];

const METRICS: [Metric; 4] = [
    ("cost-process", "process.hold", "create", &[], milliseconds),
    ("cost-process-memory", "process.hold", "memory", &[], megabytes),
    ("cost-thread", "thread.hold", "create", &[], milliseconds),
    ("cost-thread-memory", "thread.hold", "memory", &[], megabytes),
];

/// As [`Metric`], for files: the block size turns a cost into MB/s.
type Speed = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const SPEEDS: [Speed; 5] = [
    ("cost-read-warm", "file.scan", "", &[("cache", "warm")]),
    ("cost-read-cold", "file.scan", "", &[("cache", "cold")]),
    ("cost-write-buffered", "file.write", "write", &[("mode", "buffered")]),
    ("cost-write-direct", "file.write", "write", &[("mode", "direct")]),
    ("cost-write-fdatasync", "file.write", "write", &[("mode", "fdatasync")]),
];

fn tables(comparison: &Comparison, words: &Words) -> Tables {
    let mut main = super::sheet(&words.say("cost-title"), comparison);
    for (name, probe, phase, params, figure) in METRICS {
        let plain = |row: &&Row| EXTRA.iter().all(|name| super::param(row, name).is_none());
        for row in rows(comparison, probe, phase, params).filter(plain) {
            add(words, &mut main, &named(&words.say(name), row, "n"), row, figure, false);
        }
    }
    for (name, probe, phase, params) in SPEEDS {
        for row in rows(comparison, probe, phase, params) {
            if let Some(speed) = super::megabytes_a_second(row) {
                add(words, &mut main, &named(&words.say(name), row, "size"), row, speed, true);
            }
        }
    }
    let notes = vec![words.say("cost-note-creation"), words.say("cost-note-rates")];
    let figures = [main, held_ballast(comparison, words), ballast(comparison, words)];
    let some = figures.iter().any(|sheet| !sheet.rows.is_empty());
    let sheets = some.then(|| specs(comparison, words)).into_iter().chain(figures).collect();
    Tables { sheets, notes }
}

/// The metric, with the parameter and the directory in which its rows differ.
fn named(metric: &str, row: &Row, param: &str) -> String {
    let value = super::param(row, param).map(|value| format!(" {param}={value}"));
    let dir = row.dir.as_ref().map(|dir| format!(" {dir}"));
    format!("{metric}{}{}", value.unwrap_or_default(), dir.unwrap_or_default())
}

fn specs(comparison: &Comparison, words: &Words) -> Sheet {
    let mut sheet = super::sheet(&words.say("cost-environments"), comparison);
    let dirs = comparison.specs.iter().flat_map(|facts| facts.keys());
    let mut dirs: Vec<&str> =
        dirs.filter(|name| name.starts_with("dir ")).map(String::as_str).collect();
    dirs.sort_unstable();
    dirs.dedup();
    let fixed = SPECS.iter().map(|(fact, heading)| (*fact, words.say(heading)));
    for (fact, heading) in fixed.chain(dirs.into_iter().map(|dir| (dir, dir.to_owned()))) {
        let of = |facts: &Facts| facts.get(fact).map_or("–".into(), |value| readable(value));
        let values: Vec<String> = comparison.specs.iter().map(of).collect();
        sheet.rows.push(std::iter::once(heading).chain(values).collect());
    }
    sheet
}

fn add(
    words: &Words,
    sheet: &mut Sheet,
    name: &str,
    row: &Row,
    of: impl Fn(f64) -> f64,
    rate: bool,
) {
    let figures = row.cells.iter().map(|cell| figure(words, cell, &of));
    sheet.rows.push(std::iter::once(name.to_owned()).chain(figures).collect());
    if row.cells.len() > 1 {
        let taxes = row.cells.iter().map(|cell| cell_ratio(words, cell, rate));
        sheet.rows.push(
            std::iter::once(format!("  {}", words.say("layout-ratio"))).chain(taxes).collect(),
        );
    }
}

/// An amount in KiB, as systems tell that of their memory, in the unit that people use.
fn readable(value: &str) -> String {
    let kib = value.strip_suffix(" kB").and_then(|number| number.trim().parse::<f64>().ok());
    kib.map_or_else(|| value.to_owned(), |kib| units::bytes(kib * 1024.0))
}

/// Creation and memory of held processes by the parent's memory: without more, mapped, written. All
/// rows have as many processes as those with ballast.
fn held_ballast(comparison: &Comparison, words: &Words) -> Sheet {
    let mut sheet = super::sheet(&words.say("cost-held"), comparison);
    for (metric, probe, phase, params, figure) in METRICS {
        let all: Vec<&Row> = rows(comparison, probe, phase, params).collect();
        let extra = |row: &Row| {
            let of = |kind| super::param(row, kind).map(|amount| format!("{amount} {kind}"));
            EXTRA.into_iter().find_map(of)
        };
        let like = |row: &&&Row| {
            let n = super::param(row, "n");
            all.iter().any(|other| extra(other).is_some() && super::param(other, "n") == n)
        };
        for row in all.iter().filter(like) {
            let extra = extra(row).unwrap_or_else(|| words.say("cost-no-ballast"));
            let name = format!("{}, {extra}", named(&words.say(metric), row, "n"));
            add(words, &mut sheet, &name, row, figure, false);
        }
    }
    sheet
}

/// Creation of one process that ends at once, by the parent's memory.
fn ballast(comparison: &Comparison, words: &Words) -> Sheet {
    let mut sheet = super::sheet(&words.say("cost-ballast"), comparison);
    let with: Vec<&Row> = rows(comparison, "process.ballast", "create", &[]).collect();
    if !with.is_empty() {
        for row in rows(comparison, "process.fork", "create", &[]) {
            add(words, &mut sheet, &words.say("cost-no-ballast"), row, milliseconds, false);
        }
    }
    for row in with {
        let name = row.params.replace("kind=", "").replace("amount=", "").replace("pages=", "");
        add(words, &mut sheet, &name, row, milliseconds, false);
    }
    sheet
}
