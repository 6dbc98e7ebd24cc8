//! The tables beside the rows of a comparison, as words: what directories, block sizes, copies,
//! distributions, first runs, starts and differing facts say.

use anyhow::{Context, Result};

use super::differences;
use super::directories;
use super::sheet::Sheet;
use crate::compare::{
    Cell, Comparison, Cost, FirstRun, FirstRuns, Ladder, LatencyRow, Level, Measured, Quantiles,
    Row, Scaling, Split, Verdict, tax_of,
};
use crate::model::{CommandPhase, Quantity, suggest};
use crate::units;
use crate::words::{Words, text};

/// A part of the whole output, which `--section NAME` prints alone.
pub struct Section {
    pub name: &'static str,
    pub summary: &'static str,
    pub part: Part,
}

/// What a section is made of.
pub enum Part {
    /// The verdicts at a glance, what they come to, and the state of the machine.
    Summary,
    /// The rows of the comparison.
    Rows,
    /// What stands below the tables.
    Notes,
    /// Tables beside the rows; none where there is nothing to show.
    Tables(fn(&Comparison, &Words) -> Vec<Sheet>),
}

/// Every section, in the order in which they are printed.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "summary",
        summary: "the verdicts at a glance and as sentences, and the state of the machine",
        part: Part::Summary,
    },
    Section { name: "rows", summary: "every row with its interval and verdict", part: Part::Rows },
    tables("commands", "how the runs of whole commands varied, and what they used", commands),
    tables(
        "directories",
        "what each target directory costs against the first",
        directories::sheets,
    ),
    tables("levels", "the levels between which taxes jump", |it, words| {
        levels(it, words).into_iter().collect()
    }),
    tables("runs", "taxes over several runs, and where the next run will fall", |it, words| {
        next_runs(it, words).into_iter().collect()
    }),
    tables("ladders", "the cost of a call and of a byte, where block sizes differ", |it, words| {
        some(!it.ladders.is_empty(), || ladders(it, words))
    }),
    tables("copies", "what several copies at a time achieve", |it, words| {
        some(!it.scalings.is_empty(), || scalings(it, words))
    }),
    tables("latencies", "distributions of single operations", |it, words| {
        some(!it.latencies.is_empty(), || latencies(it, words))
    }),
    tables("first-runs", "first runs of commands beside the later ones", |it, words| {
        some(!it.first_runs.is_empty(), || first_runs(it, words))
    }),
    tables("starts", "how long the environments take to start, and what they use", |it, words| {
        let of_probes = !it.rows.iter().all(Row::is_of_command);
        some(!it.start_ups.is_empty() && of_probes, || start_ups(it, words))
    }),
    tables("facts", "how the environments differ, by the facts that they show", |it, words| {
        differences::sheet(it, words).into_iter().collect()
    }),
    Section { name: "notes", summary: "flags, reasons and remarks", part: Part::Notes },
];

const fn tables(
    name: &'static str,
    summary: &'static str,
    of: fn(&Comparison, &Words) -> Vec<Sheet>,
) -> Section {
    Section { name, summary, part: Part::Tables(of) }
}

fn some(there_is: bool, sheet: impl Fn() -> Sheet) -> Vec<Sheet> {
    if there_is { vec![sheet()] } else { Vec::new() }
}

/// The section of that name.
pub fn find(name: &str) -> Result<&'static Section> {
    SECTIONS.iter().find(|section| section.name == name).with_context(|| {
        let known: Vec<_> = SECTIONS.iter().map(|it| (it.name, it.summary)).collect();
        suggest::unknown("section", name, &known)
    })
}

/// Every table beside the rows of a comparison.
pub fn sheets(comparison: &Comparison, words: &Words) -> Vec<Sheet> {
    let of_section = |section: &Section| match section.part {
        Part::Tables(of) => of(comparison, words),
        Part::Summary | Part::Rows | Part::Notes => Vec::new(),
    };
    SECTIONS.iter().flat_map(of_section).collect()
}

/// How the runs of whole commands varied, and what they used.
fn commands(comparison: &Comparison, words: &Words) -> Vec<Sheet> {
    let wall = CommandPhase::Wall.name();
    let cases: Vec<&Row> =
        comparison.rows.iter().filter(|row| row.is_of_command() && row.phase == wall).collect();
    let figures = |case: &Row, phase: &str| {
        let same = |row: &&Row| {
            (&row.probe, &row.params, row.phase.as_str()) == (&case.probe, &case.params, phase)
        };
        comparison.rows.iter().find(same)
    };
    let header = ["mean", "half-width", "least", "p90", "tax", "most", "runs"];
    let mut runs = Sheet::of(words, "runs", &header);
    let used: Vec<&str> = CommandPhase::ALL
        .into_iter()
        // A column of zeroes says nothing. CPU time is the sum of two others, and wall and settled
        // times are rows.
        .filter(|phase| {
            !matches!(phase, CommandPhase::Wall | CommandPhase::Cpu | CommandPhase::Settle)
        })
        .map(CommandPhase::name)
        .filter(|phase| {
            let mut rows = cases.iter().filter_map(|case| figures(case, phase));
            let some = |cell: &Cell| matches!(cell, Cell::Measured(it) if it.cost > 0.0);
            rows.any(|row| row.quantity == Quantity::Time || row.cells.iter().any(some))
        })
        .collect();
    let mut uses = Sheet::of(words, "uses", &used);
    for case in &cases {
        let title = super::table::title(words, case);
        let several = cases.len() > 1;
        if several {
            runs.rows.push(vec![title.clone()]);
            uses.rows.push(vec![title]);
        }
        for (column, cell) in case.cells.iter().enumerate() {
            let Cell::Measured(wall) = cell else { continue };
            let indent = if several { "  " } else { "" };
            let label = format!("{indent}{}", comparison.columns[column]);
            runs.rows.push(run_row(words, label.clone(), wall, &case.cells[0]));
            let figure = |phase: &&str| match figures(case, phase) {
                Some(row) => used_figure(&row.cells[column], row.quantity),
                None => String::new(),
            };
            uses.rows.push([label].into_iter().chain(used.iter().map(figure)).collect());
        }
    }
    [runs, uses].into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}

fn run_row(words: &Words, label: String, wall: &Measured, base: &Cell) -> Vec<String> {
    let width = wall.all_in_interval.map(|(low, high)| (high / low).sqrt() - 1.0);
    let (least, most) =
        wall.range.map(|(a, b)| (units::time(a), units::time(b))).unwrap_or_default();
    let width = width.map_or(words.say("unknown"), |width| {
        words.written(&format!("±{}", units::percent(width)))
    });
    let p90 = wall.p90.map(units::time).unwrap_or_default();
    let of_base = match base {
        Cell::Measured(base) if wall.tax.is_some() => base.p90,
        _ => None,
    };
    let tax = wall.p90.zip(of_base).map(|(own, base)| format!("{}×", units::factor(own / base)));
    let (mean, runs) = (units::time(wall.all_in), wall.rounds.to_string());
    vec![label, mean, width, least, p90, tax.unwrap_or_default(), most, runs]
}

/// The figure, with an arrow where it is shown to be another than the reference's.
fn used_figure(cell: &Cell, quantity: Quantity) -> String {
    let Cell::Measured(measured) = cell else { return "–".into() };
    let amount = super::table::bounded(measured, quantity);
    match measured.tax.as_ref().map(|tax| tax.verdict) {
        Some(Verdict::Slower) => format!("{amount} ↑"),
        Some(Verdict::Faster) => format!("{amount} ↓"),
        _ => amount,
    }
}

/// What several runs say of the next one.
fn next_runs(comparison: &Comparison, words: &Words) -> Option<Sheet> {
    let header = ["tax", "interval", "next-run", "runs", "least", "most"];
    let mut sheet = Sheet::of(words, "next-runs", &header);
    for row in &comparison.rows {
        let taxes = row.cells.iter().zip(&comparison.columns);
        let taxes = taxes.filter_map(|(cell, label)| Some((tax_of(cell)?, label)));
        let found: Vec<_> =
            taxes.filter_map(|(tax, label)| Some((tax, tax.runs.as_deref()?, label))).collect();
        if !found.is_empty() {
            sheet.rows.push(vec![row.name()]);
        }
        for (tax, runs, label) in found {
            let text = |ends: Option<(f64, f64)>| match ends {
                Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
                None => words.say("unknown"),
            };
            let end = |of: fn(f64, f64) -> f64| {
                runs.ratios.iter().copied().reduce(of).map(units::factor).unwrap_or_default()
            };
            let count = runs.ratios.len();
            let count = match runs.apart {
                true => words.with("runs-apart", &[("runs", count.into())]),
                false => count.to_string(),
            };
            sheet.rows.push(vec![
                format!("  {label}"),
                format!("{}×", units::factor(tax.ratio)),
                text(tax.interval),
                text(runs.prediction),
                count,
                end(f64::min),
                end(f64::max),
            ]);
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Where ratios jump between levels: the levels, each with its part of the rounds.
fn levels(comparison: &Comparison, words: &Words) -> Option<Sheet> {
    let mut sheet = Sheet::of(words, "levels", &["share"]);
    for row in &comparison.rows {
        let taxes = row.cells.iter().zip(&comparison.columns);
        let taxes = taxes.filter_map(|(cell, label)| Some((tax_of(cell)?, label)));
        let found: Vec<_> = taxes.filter(|(tax, _)| !tax.levels.is_empty()).collect();
        if !found.is_empty() {
            sheet.rows.push(vec![row.name()]);
        }
        for (tax, label) in found {
            let level = |level: &Level| {
                words.written(&format!(
                    "{}×: {}",
                    units::factor(level.value),
                    units::percent(level.share)
                ))
            };
            let levels: Vec<String> = tax.levels.iter().map(level).collect();
            sheet.rows.push(vec![format!("  {label}"), words.listed(&levels)]);
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

fn ladders(comparison: &Comparison, words: &Words) -> Sheet {
    let header = ["call", "interval", "kib", "interval", "fit"];
    let mut sheet = Sheet::of(words, "ladders", &header);
    for ladder in &comparison.ladders {
        sheet.rows.push(vec![ladder.name.clone()]);
        for (column, split) in ladder.columns.iter().enumerate() {
            let label = format!("  {}", comparison.columns[column]);
            match split {
                Some(split) => sheet.rows.extend(split_rows(words, label, ladder, split)),
                None if comparison.is_absent(column) => {}
                None => sheet.rows.push(vec![label, words.say("ladder-incomplete")]),
            }
        }
    }
    sheet
}

fn split_rows(words: &Words, label: String, ladder: &Ladder, split: &Split) -> Vec<Vec<String>> {
    let time = |cost: &Cost| [units::time(cost.value), bounds(words, cost, units::time)];
    let [call, call_bounds] = time(&split.call);
    let [kib, kib_bounds] = time(&split.kib);
    let off = units::percent(split.residual);
    let fit = match split.fits {
        true => words.written(&format!("±{off}")),
        false => words.with("ladder-no-fit", &[("off", text(&off))]),
    };
    let mut rows = vec![vec![label, call, call_bounds, kib, kib_bounds, fit]];
    if let (Some(call), Some(kib)) = (&split.call_tax, &split.kib_tax) {
        let factor = |cost: &Cost| format!("{}×", units::factor(cost.value));
        rows.push(vec![
            format!("    {}", words.say("ladder-tax")),
            factor(call),
            bounds(words, call, units::factor),
            factor(kib),
            bounds(words, kib, units::factor),
        ]);
    }
    if !split.fits {
        return rows;
    }
    let smallest = units::bytes_exact(ladder.sizes[0]);
    let share = units::percent(split.call_share.clamp(0.0, 1.0));
    let values = [("size", text(&smallest)), ("share", text(&share))];
    rows.push(vec![format!("    {}", words.with("ladder-share", &values))]);
    rows
}

fn bounds(words: &Words, cost: &Cost, shown: fn(f64) -> String) -> String {
    match cost.interval {
        Some((low, high)) => format!("{}–{}", shown(low), shown(high)),
        None => words.say("unknown"),
    }
}

fn scalings(comparison: &Comparison, words: &Words) -> Sheet {
    let header = ["copies", "as-much", "interval", "of-possible"];
    let mut sheet = Sheet::of(words, "copies", &header);
    for Scaling { name, copies, columns } in &comparison.scalings {
        sheet.rows.push(vec![name.clone()]);
        for (column, cost) in columns.iter().enumerate() {
            let Some(cost) = cost else { continue };
            sheet.rows.push(vec![
                format!("  {}", comparison.columns[column]),
                copies.to_string(),
                format!("{}×", units::factor(cost.value)),
                bounds(words, cost, units::factor),
                words.written(&units::percent(cost.value / *copies as f64)),
            ]);
        }
    }
    sheet
}

fn latencies(comparison: &Comparison, words: &Words) -> Sheet {
    let header = ["median", "p90", "p99", "p999", "worst", "count"];
    let mut sheet = Sheet::of(words, "latencies", &header);
    for LatencyRow { name, columns } in &comparison.latencies {
        sheet.rows.push(vec![name.clone()]);
        for (column, quantiles) in columns.iter().enumerate() {
            let Some(Quantiles { count, p50, p90, p99, p999, max }) = quantiles else { continue };
            let time = |ns: &Option<u64>| ns.map_or("–".into(), |ns| units::time(ns as f64));
            let label = format!("  {}", comparison.columns[column]);
            let mut row = vec![label];
            row.extend([p50, p90, p99, p999, &Some(*max)].map(time));
            row.push(count.to_string());
            sheet.rows.push(row);
        }
    }
    sheet
}

fn first_runs(comparison: &Comparison, words: &Words) -> Sheet {
    let header = ["first-run", "from-to", "count", "later", "first-later"];
    let mut sheet = Sheet::of(words, "first-runs", &header);
    for FirstRuns { name, columns } in &comparison.first_runs {
        sheet.rows.push(vec![name.clone()]);
        for (label, first_run) in comparison.columns.iter().zip(columns) {
            let Some(FirstRun { first, launches, later_ns }) = first_run else { continue };
            sheet.rows.push(vec![
                format!("  {label}"),
                units::time(first.value),
                bounds(words, first, units::time),
                launches.to_string(),
                units::time(*later_ns),
                format!("{}×", units::factor(first.value / later_ns)),
            ]);
        }
    }
    sheet
}

fn start_ups(comparison: &Comparison, words: &Words) -> Sheet {
    let mut header = vec!["first", "again", "from-to", "cpu", "memory", "processes", "busy"];
    let cold = comparison.start_ups.iter().any(|start| start.cold.is_some());
    if cold {
        header.insert(3, "cold");
    }
    let mut sheet = Sheet::of(words, "starts", &header);
    for start in &comparison.start_ups {
        let known = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        let middle = |cost: &Option<Cost>| known(cost.as_ref().map(|cost| units::time(cost.value)));
        let mut row = vec![start.column.clone(), units::time(start.first_ns)];
        row.push(middle(&start.again));
        row.push(known(start.again.as_ref().map(|again| bounds(words, again, units::time))));
        if cold {
            row.push(middle(&start.cold));
        }
        row.push(known(start.cpu_ns.map(units::time)));
        row.push(known(start.memory_bytes.map(units::bytes)));
        row.push(known(start.processes.map(|count| count.to_string())));
        row.push(known(start.busy.map(|busy| format!("{busy:.2}"))));
        sheet.rows.push(row);
    }
    sheet
}
