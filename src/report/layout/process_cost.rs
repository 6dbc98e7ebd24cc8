//! `process-cost`: what processes and threads cost in time and memory, and dd's MB/s. After the
//! comparison of WSL, a VirtualBox guest and a native machine in docs/PUBLISHED.md.

use super::{Layout, Tables, cell_ratio, figure, rows};
use crate::compare::{Comparison, Row};
use crate::report::sheet::Sheet;

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

/// Facts of the spec table, with their headings.
const SPECS: [(&str, &str); 5] = [
    ("distribution", "Distribution"),
    ("kernel", "Kernel"),
    ("cpu", "CPU"),
    ("memory", "RAM"),
    ("hypervisor", "Virtual machine"),
];

/// A metric: name with unit, probe, phase, parameters, and the figure of a cost.
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

const METRICS: [Metric; 4] = [
    ("process creation [ms]", "process.hold", "create", &[], milliseconds),
    ("memory per process [MB]", "process.hold", "memory", &[], megabytes),
    ("thread creation [ms]", "thread.hold", "create", &[], milliseconds),
    ("memory per thread [MB]", "thread.hold", "memory", &[], megabytes),
];

/// As [`Metric`], for files: the block size turns a cost into MB/s.
type Speed = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const SPEEDS: [Speed; 5] = [
    ("read with page cache [MB/s]", "file.scan", "", &[("cache", "warm")]),
    ("read without page cache [MB/s]", "file.scan", "", &[("cache", "cold")]),
    ("write buffered [MB/s]", "file.write", "write", &[("mode", "buffered")]),
    ("write direct [MB/s]", "file.write", "write", &[("mode", "direct")]),
    ("write, then fdatasync [MB/s]", "file.write", "write", &[("mode", "fdatasync")]),
];

fn tables(comparison: &Comparison) -> Tables {
    let mut main = super::sheet("Metrics, with the half-width of their 95 % intervals", comparison);
    for (name, probe, phase, params, figure) in METRICS {
        for row in rows(comparison, probe, phase, params) {
            add(&mut main, &named(name, row, "n"), row, figure, false);
        }
    }
    for (name, probe, phase, params) in SPEEDS {
        for row in rows(comparison, probe, phase, params) {
            if let Some(speed) = super::megabytes_a_second(row) {
                add(&mut main, &named(name, row, "size"), row, speed, true);
            }
        }
    }
    let notes = vec![
        "process creation is timed in the parent only, while the children live and wait; memory is \
         the slope over several numbers of processes, not one difference of `free`"
            .into(),
        "ratios of MB/s are of the rates: above one is faster than the reference".into(),
    ];
    let figures = [main, ballast(comparison)];
    let some = figures.iter().any(|sheet| !sheet.rows.is_empty());
    let sheets = some.then(|| specs(comparison)).into_iter().chain(figures).collect();
    Tables { sheets, notes }
}

/// The metric, with the parameter and the directory in which its rows differ.
fn named(metric: &str, row: &Row, param: &str) -> String {
    let value = super::param(row, param).map(|value| format!(" {param}={value}"));
    let dir = row.dir.as_ref().map(|dir| format!(" {dir}"));
    format!("{metric}{}{}", value.unwrap_or_default(), dir.unwrap_or_default())
}

fn specs(comparison: &Comparison) -> Sheet {
    let mut sheet = super::sheet("Environments", comparison);
    let dirs = comparison.specs.iter().flat_map(|facts| facts.keys());
    let mut dirs: Vec<&str> =
        dirs.filter(|name| name.starts_with("dir ")).map(String::as_str).collect();
    dirs.sort_unstable();
    dirs.dedup();
    let fixed = SPECS.iter().copied();
    for (fact, heading) in fixed.chain(dirs.into_iter().map(|dir| (dir, dir))) {
        let of = |facts: &crate::model::Facts| facts.get(fact).cloned().unwrap_or("–".into());
        let values: Vec<String> = comparison.specs.iter().map(of).collect();
        sheet.rows.push(std::iter::once(heading.to_owned()).chain(values).collect());
    }
    sheet
}

fn add(sheet: &mut Sheet, name: &str, row: &Row, of: impl Fn(f64) -> f64, rate: bool) {
    let figures = row.cells.iter().map(|cell| figure(cell, &of));
    sheet.rows.push(std::iter::once(name.to_owned()).chain(figures).collect());
    if row.cells.len() > 1 {
        let taxes = row.cells.iter().map(|cell| cell_ratio(cell, rate));
        sheet.rows.push(std::iter::once("  ratio".to_owned()).chain(taxes).collect());
    }
}

/// Creation by the parent's memory: without additional memory, mapped, written.
fn ballast(comparison: &Comparison) -> Sheet {
    let mut sheet = super::sheet("Process creation by the parent's memory [ms]", comparison);
    for row in rows(comparison, "process.fork", "create", &[]) {
        add(&mut sheet, "no extra memory", row, milliseconds, false);
    }
    for row in rows(comparison, "process.ballast", "create", &[]) {
        let name = row.params.replace("kind=", "").replace("amount=", "").replace("pages=", "");
        add(&mut sheet, &name, row, milliseconds, false);
    }
    sheet
}
