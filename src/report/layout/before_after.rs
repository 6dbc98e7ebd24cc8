//! `before-after`: the times of one command with several inputs, before and after a change of the
//! system. After the comparison of Windows 10 1809 and 1903 in docs/PUBLISHED.md.

use super::{Layout, Tables, header, letters, measured, missing};
use crate::compare::{Cell, Comparison, Flag, Row, SpeedUp, Tax, Verdict};
use crate::model::COMMAND;
use crate::report::sheet::Sheet;
use crate::units;

pub const LAYOUT: Layout = Layout {
    name: "before-after",
    summary: "the times of a command before and after a change, for each input and over all",
    source: "\"ELF binaries seem to run faster on Windows 10 1903\" (in Japanese), \
             wave.hatenablog.com, 18 June 2019: a JPEG compressor under WSL 1 before and after an \
             update",
    measure: "envtax time --input FILE -- COMMAND {}",
    bars: super::no_bars,
    tables,
};

/// The phases that `time` prints, by its names.
const METRICS: [(&str, &str); 3] = [("real", "wall"), ("user", "user"), ("sys", "system")];
/// Two averages may differ by this much without a note.
const DISAGREE: f64 = 0.005;

fn tables(comparison: &Comparison) -> Tables {
    let commands = || comparison.rows.iter().filter(|row| row.probe == COMMAND);
    let mut cases: Vec<&str> = Vec::new();
    for row in commands() {
        if !cases.contains(&row.params.as_str()) {
            cases.push(&row.params);
        }
    }
    let mut sheets = Vec::new();
    for params in cases {
        let of = |phase: &str| commands().find(|row| row.params == params && row.phase == phase);
        let found = METRICS.iter().filter_map(|(name, phase)| Some((*name, of(phase)?)));
        sheets.push(case_sheet(comparison, params, &found.collect::<Vec<_>>()));
    }
    let mut notes = vec![format!(
        "times in seconds; speed-up: the share of the time of {} that was saved, (old - new) / old",
        comparison.reference
    )];
    if !comparison.over_inputs.is_empty() {
        let text = "mean: from the arithmetic means over the inputs; median: from the medians \
                    over the inputs, each side with its own; paired: geometric mean of the \
                    inputs' ratios; the intervals treat the inputs as a random sample of many";
        notes.push(text.into());
    }
    for column in 1..comparison.columns.len() {
        averages(comparison, column, &mut sheets, &mut notes);
    }
    Tables { sheets, notes }
}

/// `Input A`, with the other parameters of the case.
fn title(params: &str) -> String {
    match params.strip_prefix("input=") {
        Some(input) => format!("Input {input}"),
        None if params.is_empty() => "The command".into(),
        None => params.to_owned(),
    }
}

/// Times in both columns with the speed-up, and the words for it below.
fn case_sheet(comparison: &Comparison, params: &str, rows: &[(&str, &Row)]) -> Sheet {
    let mut header = header("time", comparison);
    // Each column but the reference's has its speed-up behind it.
    for column in (2..=header.len() - 1).rev() {
        header.insert(column + 1, "speed-up\u{a0}%".into());
    }
    let mut sheet = Sheet { header, ..Sheet::new(&title(params), &[]) };
    for (name, row) in rows {
        let mut cells = vec![name.to_string()];
        for (column, cell) in row.cells.iter().enumerate() {
            cells.push(seconds(cell));
            if column > 0 {
                cells.push(tax(cell).map(|tax| percent(1.0 - tax.ratio)).unwrap_or_default());
            }
        }
        sheet.rows.push(cells);
    }
    for column in 1..comparison.columns.len() {
        let line = verdicts(comparison, column, rows);
        sheet.rows.extend(line.map(|line| vec![format!("⇒ {line}")]));
    }
    sheet
}

/// `real 1.3 % faster, user the same, sys 2 ticks less (inconclusive)`, with the column's name
/// where there are several. Without a verdict, `real took 1.3 % less`.
fn verdicts(comparison: &Comparison, column: usize, rows: &[(&str, &Row)]) -> Option<String> {
    let mut words = Vec::new();
    let mut settled = true;
    for (name, row) in rows {
        let Some(measured) = measured(&row.cells[column]) else { continue };
        let Some(tax) = &measured.tax else { continue };
        let doubted = measured.flags.contains(&Flag::Ticks);
        settled &= doubted || tax.verdict != Verdict::Descriptive;
        words.push(match doubted {
            true => format!("{name} {}", ticks(comparison, column, tax)),
            false => format!("{name} {}", verdict(tax)),
        });
    }
    let whose = whose(comparison, column);
    let open = if settled { "" } else { "no verdict: " };
    (!words.is_empty()).then(|| format!("{whose}{open}{}", words.join(", ")))
}

/// The name of the column; nothing where it is the only one beside the reference.
fn whose(comparison: &Comparison, column: usize) -> String {
    match comparison.columns.len() {
        2 => String::new(),
        _ => format!("{}: ", comparison.columns[column]),
    }
}

/// A difference in ticks of the coarser of the two clocks. Without a known tick, some times are
/// zero.
fn ticks(comparison: &Comparison, column: usize, tax: &Tax) -> String {
    let quanta = [comparison.quanta[0], comparison.quanta[column]];
    let Some(tick) = quanta.into_iter().flatten().reduce(f64::max) else {
        return "inconclusive (zero in some runs)".into();
    };
    let count = (tax.difference.abs() / tick).round();
    let word = if count == 1.0 { "tick" } else { "ticks" };
    let sign = if tax.difference > 0.0 { "more" } else { "less" };
    format!("{count} {word} {sign} (inconclusive)")
}

fn tax(cell: &Cell) -> Option<&Tax> {
    measured(cell)?.tax.as_ref()
}

/// Seconds with three decimals, as `time` prints them, or more where three show nothing; with the
/// half-width of the interval where there is one, and the letters of its flags.
fn seconds(cell: &Cell) -> String {
    let Some(measured) = measured(cell) else { return missing(cell) };
    let value = measured.cost / 1e9;
    let text = if value < 0.1 { units::number(value) } else { format!("{value:.3}") };
    let width = measured
        .cost_interval
        .map(|(low, high)| format!(" ±{}", units::percent((high - low) / 2.0 / measured.cost)));
    format!("{text}{}{}", width.unwrap_or_default(), letters(measured))
}

/// Per cent with one decimal, and without `-0.0`.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    if text == "-0.0" { "0.0".into() } else { text }
}

fn verdict(tax: &Tax) -> String {
    match tax.verdict {
        Verdict::Same => "the same".into(),
        Verdict::Inconclusive { .. } => "inconclusive".into(),
        // Too few runs: what was seen, and no word that says that it is so.
        Verdict::Descriptive if tax.ratio > 1.0 => {
            format!("took {}\u{a0}% more", percent(tax.ratio - 1.0))
        }
        Verdict::Descriptive => format!("took {}\u{a0}% less", percent(1.0 - tax.ratio)),
        _ if tax.ratio > 1.0 => format!("{}\u{a0}% slower", percent(tax.ratio - 1.0)),
        _ => format!("{}\u{a0}% faster", percent(1.0 - tax.ratio)),
    }
}

/// The averages over the inputs, and their doubts.
fn averages(
    comparison: &Comparison,
    column: usize,
    sheets: &mut Vec<Sheet>,
    notes: &mut Vec<String>,
) {
    let mut groups: Vec<&str> =
        comparison.over_inputs.iter().map(|it| it.params.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    for params in groups {
        let of = |phase: &str| {
            let mut all = comparison.over_inputs.iter();
            let found = all.find(|it| it.params == params && it.phase == phase)?;
            found.columns[column].as_ref()
        };
        let found = METRICS.iter().filter_map(|(name, phase)| Some((*name, of(phase)?)));
        let found: Vec<(&str, &SpeedUp)> = found.collect();
        let Some(inputs) = found.iter().map(|(_, gain)| gain.inputs).max() else { continue };
        let group = if params.is_empty() { String::new() } else { format!(", {params}") };
        let title = format!("{}Speed-up over {inputs} inputs, %{group}", whose(comparison, column));
        let mut sheet =
            Sheet::new(&title, &["", "mean", "95\u{a0}%", "median", "paired", "95\u{a0}%"]);
        for (name, gain) in &found {
            sheet.rows.push(vec![
                name.to_string(),
                percent(gain.mean),
                bounds(gain.mean_interval),
                percent(gain.median),
                percent(gain.paired),
                bounds(gain.paired_interval),
            ]);
        }
        sheets.push(sheet);
        let named = found.iter().flat_map(|(name, gain)| doubts(name, gain));
        notes.extend(named.map(|doubt| whose(comparison, column) + &doubt));
    }
}

fn bounds(interval: Option<(f64, f64)>) -> String {
    interval.map(|(low, high)| format!("{} to {}", percent(low), percent(high))).unwrap_or_default()
}

/// The notes about one figure's averages.
fn doubts(name: &str, gain: &SpeedUp) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some([old, new]) = &gain.median_of {
        doubts.push(format!(
            "{name}: the medians are of different inputs, {old} before and {new} after: their \
             ratio belongs to no input"
        ));
    }
    if (gain.mean - gain.median).abs() >= DISAGREE {
        let (mean, median) = (percent(gain.mean), percent(gain.median));
        doubts.push(format!(
            "{name}: mean ({mean}\u{a0}%) and median ({median}\u{a0}%) disagree: the inputs do \
             not all change alike"
        ));
    }
    if let Some((low, high)) =
        gain.paired_interval.filter(|(low, high)| *low <= 0.0 && *high >= 0.0)
    {
        doubts.push(format!(
            "{name}: the paired interval, {} to {}\u{a0}%, includes no change",
            percent(low),
            percent(high)
        ));
    }
    doubts
}
