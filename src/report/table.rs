//! The words of a comparison's table, shared by the formats that people read.

use crate::compare::{Cell, Comparison, Flag, Measured, Row, Tax, Verdict, tax_of};
use crate::model::Quantity;
use crate::units;

/// One line of the table, as words.
pub struct Line {
    pub kind: Kind,
    pub what: String,
    pub cost: String,
    pub tax: String,
    pub interval: String,
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

/// Longest name, in characters, that stands in one line with its figures.
const LONG: usize = 36;

/// Every line of the comparison, area by area, each area's summary after its rows.
pub fn lines(comparison: &Comparison) -> Vec<Line> {
    let mut lines = Vec::new();
    for area in &comparison.areas {
        for row in comparison.rows.iter().filter(|row| row.area() == area.area) {
            for (column, cell) in row.cells.iter().enumerate() {
                let own = format!("  {}", comparison.columns[column]);
                let name = row.name();
                let long = name.chars().count() > LONG;
                if column == 0 && long {
                    lines.push(heading(name.clone()));
                }
                let what = if column == 0 && !long { name } else { own };
                lines.push(line(what, column, (row, cell), comparison));
            }
        }
        if area.rows > 1 {
            lines.extend(summary(comparison, area));
        }
    }
    lines
}

fn heading(what: String) -> Line {
    let (cost, tax, interval, verdict) = Default::default();
    Line { kind: Kind::Heading, what, cost, tax, interval, verdict, word: None }
}

fn line(what: String, column: usize, (row, cell): (&Row, &Cell), comparison: &Comparison) -> Line {
    let kind = if column == 0 { Kind::Reference } else { Kind::Environment };
    let empty = |verdict: String| Line {
        kind,
        what: what.clone(),
        cost: String::new(),
        tax: String::new(),
        interval: String::new(),
        verdict,
        word: None,
    };
    let measured = match cell {
        Cell::Measured(measured) => measured,
        Cell::Skipped { .. } => return empty("skipped".into()),
        Cell::Failed { .. } => return empty("failed".into()),
        Cell::NotReached { .. } => return empty("not reached".into()),
    };
    let mut line = empty(String::new());
    line.cost = amount(measured.cost, row.quantity);
    line.verdict = match &measured.tax {
        None if column == 0 => comparison.reference.clone(),
        None => "no reference".into(),
        Some(tax) => {
            line.tax = format!("{}×", units::factor(tax.ratio));
            line.interval = interval(tax);
            line.word = Some(tax.verdict);
            verdict(tax)
        }
    };
    let letters = letters(measured);
    if !letters.is_empty() {
        line.verdict = format!("{} ({letters})", line.verdict);
    }
    line
}

/// A cost in the unit of its quantity.
pub fn amount(cost: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Time => units::time(cost),
        Quantity::Bytes => units::bytes(cost),
        Quantity::Share => units::percent(cost / 1e6),
    }
}

fn summary(comparison: &Comparison, area: &crate::compare::Area) -> Vec<Line> {
    let of_column = |column: usize| {
        let ratio = area.ratios[column]?;
        let of = match area.counts[column] {
            all if all == area.rows => String::new(),
            some => format!("{some} of "),
        };
        Some(Line {
            kind: Kind::Summary,
            what: format!("  {}: {}", area.area, comparison.columns[column]),
            cost: String::new(),
            tax: format!("{}×", units::factor(ratio)),
            interval: String::new(),
            verdict: format!("mean of {of}{} rows", area.rows),
            word: None,
        })
    };
    (1..comparison.columns.len()).filter_map(of_column).collect()
}

/// `0.994–1.021`, or a word where there is none.
fn interval(tax: &Tax) -> String {
    match tax.interval {
        Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
        None => "unknown".into(),
    }
}

fn verdict(tax: &Tax) -> String {
    let word = match tax.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive { .. } => "inconclusive",
        Verdict::Descriptive => "no verdict",
    };
    word.into()
}

/// What more measuring would do for the rows that are inconclusive.
fn inconclusive(comparison: &Comparison) -> Option<String> {
    let cells = comparison.rows.iter().flat_map(|row| &row.cells);
    let more = |tax: &Tax| match tax.verdict {
        Verdict::Inconclusive { more_rounds } => Some(more_rounds),
        _ => None,
    };
    let open: Vec<Option<u64>> = cells.filter_map(tax_of).filter_map(more).collect();
    let most = open.iter().flatten().max();
    match (open.len(), most) {
        (0, _) => None,
        (_, None) => Some("inconclusive: a difference about as large as the margin".into()),
        (_, Some(rounds)) => Some(format!(
            "inconclusive: neither a difference nor its absence is shown; about {rounds} more \
             rounds may tell (`--budget`, and `--probe` to spend it on these)"
        )),
    }
}

fn letters(measured: &Measured) -> String {
    measured.flags.iter().map(|flag| flag.letter()).collect()
}

/// Every reason why something was not measured, once, with how many rows it left empty.
fn reasons(comparison: &Comparison) -> Vec<String> {
    let mut found: Vec<(&str, &str, &str, usize)> = Vec::new();
    for (column, cell) in comparison.rows.iter().flat_map(|row| row.cells.iter().enumerate()) {
        let (word, reason) = match cell {
            Cell::Measured(_) => continue,
            Cell::Skipped { reason } => ("skipped", reason.as_str()),
            Cell::Failed { reason } => ("failed", reason.as_str()),
            Cell::NotReached { reason } => ("not reached", reason.as_str()),
        };
        let label = comparison.columns[column].as_str();
        match found.iter_mut().find(|it| (it.0, it.1, it.2) == (label, word, reason)) {
            Some(it) => it.3 += 1,
            None => found.push((label, word, reason, 1)),
        }
    }
    let rows = |count: usize| if count == 1 { "1 row".into() } else { format!("{count} rows") };
    let text = |(label, word, reason, count): &(&str, &str, &str, usize)| {
        format!("`{label}`: {} {word}: {reason}", rows(*count))
    };
    found.iter().map(text).collect()
}

/// What stands under the table: how to read it, what the letters mean, and every remark.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.columns.len() > 1 {
        notes.push(format!(
            "tax: cost divided by that of {}, with its 95 % interval; same: within ±{}; mean: \
             geometric",
            comparison.reference,
            units::percent(comparison.margin)
        ));
    }
    let mut flags: Vec<Flag> = comparison
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(|cell| match cell {
            Cell::Measured(measured) => Some(&measured.flags),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    flags.sort();
    flags.dedup();
    notes.extend(flags.iter().map(|flag| format!("({}) {}", flag.letter(), flag.explanation())));
    notes.extend(inconclusive(comparison));
    notes.extend(reasons(comparison));
    notes.extend(comparison.remarks.iter().map(|remark| remark.text.clone()));
    notes
}
