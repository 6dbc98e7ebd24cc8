//! The words of a comparison's table, shared by the formats that people read.

use std::collections::BTreeSet;

use crate::compare::{Area, Cell, Comparison, Flag, Measured, Open, Row, Tax, Verdict};
use crate::model::{COMMAND, CommandPhase, EMPTY_SHELL, Quantity};
use crate::units;
use crate::words::{Words, text};

/// One line of the table, as words.
pub struct Line {
    pub kind: Kind,
    pub what: String,
    pub cost: String,
    pub tax: String,
    pub interval: String,
    /// The mean cost of the reference, and others' as a multiple of it with its 95 % interval.
    pub mean: String,
    pub verdict: String,
    pub word: Option<Verdict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row's name alone, where it is too long to stand beside figures.
    Heading,
    /// A row's name with the reference's cost.
    Reference,
    /// One other environment.
    Environment,
    /// The summary of an area.
    Summary,
}

/// Longest name, in characters, that stands in one line with its figures where there is room.
pub const LONG: usize = 36;
/// Longest name of the reference that stands beside its figures.
const LONG_REFERENCE: usize = 16;

/// Every line of the comparison, area by area, each area's summary after its rows; environments
/// that never started have one line in all, at the end. Names of more than `long` characters have
/// lines of their own.
pub fn lines(comparison: &Comparison, words: &Words, long: usize) -> Vec<Line> {
    let of_area = |area: &Area| lines_of(comparison, words, area, long);
    let mut lines: Vec<Line> = comparison.areas.iter().flat_map(of_area).collect();
    let absent: Vec<bool> =
        (0..comparison.columns.len()).map(|column| comparison.is_absent(column)).collect();
    let names = comparison.columns.iter().zip(&absent).filter(|(_, absent)| **absent);
    let names: Vec<&String> = names.map(|(name, _)| name).collect();
    if !names.is_empty() {
        lines.push(heading(words.say("not-measured")));
    }
    lines.extend(names.into_iter().map(|name| Line {
        kind: Kind::Environment,
        verdict: words.say("did-not-start"),
        ..heading(format!("  {name}"))
    }));
    lines
}

/// The lines of one area, its summary last.
pub fn lines_of(comparison: &Comparison, words: &Words, area: &Area, long: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    // As columns that are called like command lines are.
    let longwinded = comparison.reference.chars().count() > LONG_REFERENCE;
    let own = comparison.rows.iter().filter(|row| row.area() == area.area);
    for row in own.filter(|row| has_lines(row)) {
        let cells = row.cells.iter().enumerate();
        for (column, cell) in cells.filter(|(column, _)| !comparison.is_absent(*column)) {
            let own = format!("  {}", comparison.columns[column]);
            let name = title(words, row);
            let long = name.chars().count() > long || row.is_of_command() && longwinded;
            if column == 0 && long {
                lines.push(heading(name.clone()));
            }
            let what = if column == 0 && !long { name } else { own };
            let mut line = line(words, what, column, (row, cell), comparison);
            if line.verdict == comparison.reference && longwinded && column == 0 {
                line.verdict = words.say("reference");
            }
            lines.push(line);
        }
    }
    if has_summary(area) {
        lines.extend(summary(comparison, words, area));
    }
    lines
}

/// Times of a command's inputs are no parts of a whole.
pub fn has_summary(area: &Area) -> bool {
    area.rows > 1 && area.area != COMMAND
}

/// Of a command's figures, those that are not of the clock have a sheet of their own.
pub fn has_lines(row: &Row) -> bool {
    let clock = [CommandPhase::Wall, CommandPhase::Settle].iter().any(|it| it.name() == row.phase);
    clock || !row.is_of_command()
}

/// The row's name; a command's without what all of them have in common.
pub fn title(words: &Words, row: &Row) -> String {
    match (row.probe.as_str(), row.params.as_str(), row.phase.as_str()) {
        (EMPTY_SHELL, ..) => words.say("empty-shell"),
        (COMMAND, "", phase) => phase.into(),
        (COMMAND, params, phase) if phase == CommandPhase::Wall.name() => params.into(),
        (COMMAND, params, phase) => format!("{phase} {params}"),
        _ => row.name(),
    }
}

fn heading(what: String) -> Line {
    let (cost, tax, interval, mean, verdict) = Default::default();
    Line { kind: Kind::Heading, what, cost, tax, interval, mean, verdict, word: None }
}

pub fn line(
    words: &Words,
    what: String,
    column: usize,
    (row, cell): (&Row, &Cell),
    comparison: &Comparison,
) -> Line {
    let kind = if column == 0 { Kind::Reference } else { Kind::Environment };
    let empty = |verdict: String| Line {
        kind,
        what: what.clone(),
        cost: String::new(),
        tax: String::new(),
        interval: String::new(),
        mean: String::new(),
        verdict,
        word: None,
    };
    let measured = match cell {
        Cell::Measured(measured) => measured,
        _ => return empty(missing(words, cell)),
    };
    let mut line = empty(String::new());
    line.cost = bounded(measured, row.quantity);
    // What is no floor has its mean in the other columns already.
    let has_mean = measured.all_in != measured.cost;
    if column == 0 && has_mean {
        line.mean = amount(measured.all_in, row.quantity);
    }
    line.verdict = match &measured.tax {
        None if column == 0 => comparison.reference.clone(),
        None => words.say("no-reference"),
        Some(tax) => {
            line.tax = ratio(tax);
            line.interval = interval(words, tax);
            line.mean = if has_mean { mean(tax) } else { String::new() };
            line.word = Some(tax.verdict);
            verdict(words, tax)
        }
    };
    let letters = letters(measured);
    if !letters.is_empty() {
        line.verdict = format!("{} ({letters})", line.verdict);
    }
    line
}

/// The cost, or the bound that it is where no more is known.
pub fn bounded(measured: &Measured, quantity: Quantity) -> String {
    let most = if measured.flags.contains(&Flag::Floor) { "≤\u{a0}" } else { "" };
    format!("{most}{}", amount(measured.cost, quantity))
}

/// A cost in the unit of its quantity.
pub fn amount(cost: f64, quantity: Quantity) -> String {
    match quantity {
        _ if cost == 0.0 => "0".into(),
        Quantity::Time => units::time(cost),
        Quantity::Bytes => units::bytes(cost),
        Quantity::Share => units::percent(cost / 1e6),
        Quantity::Count => units::number(cost),
    }
}

fn summary(comparison: &Comparison, words: &Words, area: &Area) -> Vec<Line> {
    let of_column = |column: usize| {
        let ratio = area.ratios[column]?;
        let rows = ("rows", area.rows.into());
        let verdict = match area.counts[column] {
            all if all == area.rows => words.with("mean-of-rows", &[rows]),
            some => words.with("mean-of-some-rows", &[rows, ("count", some.into())]),
        };
        Some(Line {
            kind: Kind::Summary,
            what: format!("  {}: {}", area.area, comparison.columns[column]),
            cost: String::new(),
            tax: format!("{}×", units::factor(ratio)),
            interval: String::new(),
            mean: area.all_in_ratios[column].map(units::factor).unwrap_or_default(),
            verdict,
            word: None,
        })
    };
    (1..comparison.columns.len()).filter_map(of_column).collect()
}

/// Factor between the rounds' ratios, 10 % to 90 %, from which no single number stands for them.
const WIDE: f64 = 2.0;

/// What the ends of a tax that is printed as a range are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The least and the largest of several runs.
    Runs,
    /// The lowest and the highest level.
    Levels,
    /// The 10 % and 90 % quantiles of the rounds.
    Rounds,
}

/// The range of a tax for which no single number stands: the rounds or runs spread far, or the
/// rounds lie at several levels.
pub fn range(tax: &Tax) -> Option<(Ends, (f64, f64))> {
    let runs = tax.runs.as_deref().filter(|runs| runs.apart).map(|runs| &runs.ratios);
    let over_runs = runs.and_then(|runs| {
        let least = runs.iter().copied().reduce(f64::min);
        least.zip(runs.iter().copied().reduce(f64::max))
    });
    let is_wide = |(low, high): &(f64, f64)| high / low > WIDE;
    if let Some(ends) = over_runs.filter(is_wide) {
        return Some((Ends::Runs, ends));
    }
    match tax.levels.as_slice() {
        [low, .., high] => Some((Ends::Levels, (low.value, high.value))),
        _ => tax.range.filter(is_wide).map(|ends| (Ends::Rounds, ends)),
    }
}

/// `1.02×`, or `8.0–38` where a range stands for it.
pub fn ratio(tax: &Tax) -> String {
    match range(tax) {
        Some((_, (low, high))) => format!("{}–{}", rough(low), rough(high)),
        None => format!("{}×", units::factor(tax.ratio)),
    }
}

/// As many digits as a figure has of which the first ones are in doubt: `0.27`, `1.2`, `18`.
pub fn rough(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 1.0 => format!("{ratio:.2}"),
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

/// `1.02 ±6.0%`: the interval as the share by which its ends are off, and `1.1 ±57%`.
fn mean(tax: &Tax) -> String {
    let ratio = units::factor(tax.all_in_ratio);
    let Some((low, high)) = tax.all_in_interval else { return ratio };
    let off = ((high / low).sqrt() - 1.0) * 100.0;
    match off {
        off if off < 9.95 => format!("{ratio} ±{off:.1}%"),
        off if off < 99.5 => format!("{} ±{off:.0}%", rough(tax.all_in_ratio)),
        _ => format!("{} ±>99%", rough(tax.all_in_ratio)),
    }
}

/// `0.994–1.021`, or a word where there is none.
fn interval(words: &Words, tax: &Tax) -> String {
    match tax.interval {
        Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
        None => words.say("unknown"),
    }
}

/// `0.994 to 1.021`, in a sentence.
pub fn ends(words: &Words, (low, high): (f64, f64)) -> String {
    let (low, high) = (units::factor(low), units::factor(high));
    words.with("range-to", &[("low", text(&low)), ("high", text(&high))])
}

/// `87.1× (54 to 141)`, by the message of that name.
pub fn figure(words: &Words, id: &str, ratio: f64, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map_or(String::new(), |it| in_brackets(words, it));
    let ratio = units::factor(ratio);
    words.with(id, &[("ratio", text(&ratio)), ("interval", text(&interval))])
}

fn in_brackets(words: &Words, interval: (f64, f64)) -> String {
    words.with("in-brackets", &[("ends", text(&ends(words, interval)))])
}

/// `a, b and c`.
pub fn and(words: &Words, names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            let names = words.listed(rest);
            words.with("names-and", &[("names", text(&names)), ("last", text(last))])
        }
        _ => names.concat(),
    }
}

/// The word of the tax. One that the tax alone would get, and not among so many rows, is in doubt.
pub fn verdict(words: &Words, tax: &Tax) -> String {
    words.say(verdict_id(tax))
}

/// The name of the verdict's word in the catalogues.
pub fn verdict_id(tax: &Tax) -> &'static str {
    match tax.verdict {
        Verdict::Slower => "verdict-slower",
        Verdict::Faster => "verdict-faster",
        Verdict::Same => "verdict-same",
        Verdict::Inconclusive { why: Open::ManyRows, .. } if tax.ratio > 1.0 => {
            "verdict-slower-in-doubt"
        }
        Verdict::Inconclusive { why: Open::ManyRows, .. } => "verdict-faster-in-doubt",
        Verdict::Inconclusive { why: Open::Levels, .. } => "verdict-levels",
        Verdict::Inconclusive { why: Open::Ticks, .. } => "verdict-few-ticks",
        Verdict::Inconclusive { why: Open::FewLaunches, .. } => "verdict-few-starts",
        Verdict::Inconclusive { .. } => "verdict-not-shown",
        Verdict::Descriptive => "verdict-none",
    }
}

/// The name of the word for a cell without a figure; none where there is one.
pub fn state_id(cell: &Cell) -> Option<&'static str> {
    match cell {
        Cell::Measured(_) => None,
        Cell::Skipped { .. } => Some("cell-skipped"),
        Cell::Failed { .. } => Some("cell-failed"),
        Cell::NotReached { .. } => Some("cell-not-reached"),
    }
}

/// The word in place of a missing figure.
pub fn missing(words: &Words, cell: &Cell) -> String {
    state_id(cell).map(|id| words.say(id)).unwrap_or_default()
}

/// The flags of these cells, each once, in their order.
pub fn flags_of<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Flag> {
    let measured = cells.into_iter().filter_map(|cell| match cell {
        Cell::Measured(measured) => Some(&measured.flags),
        _ => None,
    });
    let flags: BTreeSet<Flag> = measured.flatten().copied().collect();
    flags.into_iter().collect()
}

fn letters(measured: &Measured) -> String {
    measured.flags.iter().map(|flag| flag.letter()).collect()
}
