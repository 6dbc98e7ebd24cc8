//! `before-after`: the times of one command with several inputs, before and after a change of the
//! system. After the comparison of Windows 10 1809 and 1903 in docs/PUBLISHED.md.

use super::{Layout, Tables, header, letters, measured, missing};
use crate::compare::{Cell, Comparison, Flag, Row, SpeedUp, Tax, Verdict};
use crate::model::COMMAND;
use crate::report::sheet::Sheet;
use crate::units;
use crate::words::{Words, text};

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

fn tables(comparison: &Comparison, words: &Words) -> Tables {
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
        sheets.push(case_sheet(comparison, words, params, &found.collect::<Vec<_>>()));
    }
    let reference = ("reference", text(&comparison.reference));
    let mut notes = vec![words.with("before-note-speed-up", &[reference])];
    if !comparison.over_inputs.is_empty() {
        notes.push(words.say("before-note-averages"));
    }
    for column in 1..comparison.columns.len() {
        averages((comparison, words), column, &mut sheets, &mut notes);
    }
    Tables { sheets, notes }
}

/// `Input A`, with the other parameters of the case.
fn title(words: &Words, params: &str) -> String {
    match params.strip_prefix("input=") {
        Some(input) => words.with("before-input", &[("input", text(input))]),
        None if params.is_empty() => words.say("before-command"),
        None => params.to_owned(),
    }
}

/// Times in both columns with the speed-up, and the words for it below.
fn case_sheet(
    comparison: &Comparison,
    words: &Words,
    params: &str,
    rows: &[(&str, &Row)],
) -> Sheet {
    let mut header = header(&words.say("before-time"), comparison);
    // Each column but the reference's has its speed-up behind it.
    for column in (2..=header.len() - 1).rev() {
        header.insert(column + 1, words.say("before-speed-up"));
    }
    let mut sheet = Sheet { header, ..Sheet::new(&title(words, params), &[]) };
    for (name, row) in rows {
        let mut cells = vec![name.to_string()];
        for (column, cell) in row.cells.iter().enumerate() {
            cells.push(seconds(words, cell));
            if column > 0 {
                cells.push(tax(cell).map(|tax| percent(1.0 - tax.ratio)).unwrap_or_default());
            }
        }
        sheet.rows.push(cells);
    }
    for column in 1..comparison.columns.len() {
        let line = verdicts(comparison, words, column, rows);
        sheet.rows.extend(line.map(|line| vec![format!("⇒ {line}")]));
    }
    sheet
}

/// `real 1.3 % faster, user the same, sys 2 ticks less (inconclusive)`, with the column's name
/// where there are several. Without a verdict, `real took 1.3 % less`.
fn verdicts(
    comparison: &Comparison,
    words: &Words,
    column: usize,
    rows: &[(&str, &Row)],
) -> Option<String> {
    let mut told = Vec::new();
    let mut settled = true;
    for (name, row) in rows {
        let Some(measured) = measured(&row.cells[column]) else { continue };
        let Some(tax) = &measured.tax else { continue };
        let doubted = measured.flags.contains(&Flag::Ticks);
        settled &= doubted || tax.verdict != Verdict::Descriptive;
        told.push(match doubted {
            true => format!("{name} {}", ticks(comparison, words, column, tax)),
            false => format!("{name} {}", verdict(words, tax)),
        });
    }
    let whose = whose(comparison, column);
    let open = if settled { String::new() } else { words.say("before-open") + " " };
    (!told.is_empty()).then(|| format!("{whose}{open}{}", words.listed(&told)))
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
fn ticks(comparison: &Comparison, words: &Words, column: usize, tax: &Tax) -> String {
    let quanta = [comparison.quanta[0], comparison.quanta[column]];
    let Some(tick) = quanta.into_iter().flatten().reduce(f64::max) else {
        return words.say("before-zero");
    };
    let count = (tax.difference.abs() / tick).round() as usize;
    let id = if tax.difference > 0.0 { "before-ticks-more" } else { "before-ticks-less" };
    words.with(id, &[("count", count.into())])
}

fn tax(cell: &Cell) -> Option<&Tax> {
    measured(cell)?.tax.as_ref()
}

/// Seconds with three decimals, as `time` prints them, or more where three show nothing; with the
/// half-width of the interval where there is one, and the letters of its flags.
fn seconds(words: &Words, cell: &Cell) -> String {
    let Some(measured) = measured(cell) else { return missing(words, cell) };
    let value = measured.cost / 1e9;
    let text = if value < 0.1 { units::number(value) } else { format!("{value:.3}") };
    let width = measured
        .cost_interval
        .map(|(low, high)| format!(" ±{}", units::percent((high - low) / 2.0 / measured.cost)));
    let width = words.written(&width.unwrap_or_default());
    format!("{text}{width}{}", letters(measured))
}

/// Per cent with one decimal, and without `-0.0`.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    if text == "-0.0" { "0.0".into() } else { text }
}

fn verdict(words: &Words, tax: &Tax) -> String {
    let more = tax.ratio > 1.0;
    let id = match tax.verdict {
        Verdict::Same => "before-same",
        Verdict::Inconclusive { .. } => "before-inconclusive",
        // Too few runs: what was seen, and no word that says that it is so.
        Verdict::Descriptive if more => "before-took-more",
        Verdict::Descriptive => "before-took-less",
        _ if more => "before-slower",
        _ => "before-faster",
    };
    words.with(id, &[("share", text(&percent((tax.ratio - 1.0).abs())))])
}

/// The averages over the inputs, and their doubts.
fn averages(
    (comparison, words): (&Comparison, &Words),
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
        let values = [("inputs", inputs.into()), ("group", text(&group))];
        let title = whose(comparison, column) + &words.with("before-averages", &values);
        let headings = ["mean", "interval", "median", "paired", "interval"];
        let mut sheet = Sheet { title, ..Sheet::of(words, "runs", &headings) };
        for (name, gain) in &found {
            sheet.rows.push(vec![
                name.to_string(),
                percent(gain.mean),
                bounds(words, gain.mean_interval),
                percent(gain.median),
                percent(gain.paired),
                bounds(words, gain.paired_interval),
            ]);
        }
        sheets.push(sheet);
        let named = found.iter().flat_map(|(name, gain)| doubts(words, name, gain));
        notes.extend(named.map(|doubt| whose(comparison, column) + &doubt));
    }
}

fn bounds(words: &Words, interval: Option<(f64, f64)>) -> String {
    let told = |(low, high): (f64, f64)| {
        let (low, high) = (percent(low), percent(high));
        words.with("range-to", &[("low", text(&low)), ("high", text(&high))])
    };
    interval.map(told).unwrap_or_default()
}

/// The notes about one figure's averages.
fn doubts(words: &Words, name: &str, gain: &SpeedUp) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut doubt = |id: &str, values: [(&'static str, &str); 2]| {
        let values = values.map(|(name, value)| (name, text(value)));
        doubts.push(format!("{name}: {}", words.with(id, &values)));
    };
    if let Some([old, new]) = &gain.median_of {
        doubt("before-other-inputs", [("before", old), ("after", new)]);
    }
    if (gain.mean - gain.median).abs() >= DISAGREE {
        let (mean, median) = (percent(gain.mean), percent(gain.median));
        doubt("before-averages-disagree", [("mean", &mean), ("median", &median)]);
    }
    if let Some((low, high)) =
        gain.paired_interval.filter(|(low, high)| *low <= 0.0 && *high >= 0.0)
    {
        let (low, high) = (percent(low), percent(high));
        doubt("before-no-change", [("low", &low), ("high", &high)]);
    }
    doubts
}
