//! What stands under the tables: how to read them, why rows are open or empty, and every remark.

use super::failure;
use super::table::{flags_of, has_lines, has_summary, title};
use crate::compare::{
    Cell, Comparison, LONGEST_S, Open, Remark, RemarkKind, Row, Tax, Verdict, tax_of,
};
use crate::units;

/// Why rows are open, with the interval that decided where it is another than the row's own, and
/// what more measuring would do for them: one note a reason.
fn open_rows(comparison: &Comparison) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| has_lines(row)).collect();
    let of_commands = rows.iter().all(|row| row.is_of_command());
    let of_reason = |wanted: Open| {
        let open = rows.iter().filter_map(|row| seconds_of(row, wanted)).collect::<Vec<_>>();
        let known: Option<f64> = open.iter().copied().sum();
        (!open.is_empty()).then(|| {
            let advice = advice(wanted, known, of_commands);
            format!("{}{}{advice}", why(wanted), deciding(comparison, wanted))
        })
    };
    let reasons = [
        Open::Width,
        Open::ManyRows,
        Open::NearMargin,
        Open::Levels,
        Open::Ticks,
        Open::FewLaunches,
    ];
    reasons.into_iter().filter_map(of_reason).collect()
}

/// Seconds that a run of this row alone takes until its cells that are open for that reason may be
/// decided; none inside where that is unknown. None where no cell is open for it.
fn seconds_of(row: &Row, wanted: Open) -> Option<Option<f64>> {
    let of_cell = |cell: &Cell| {
        let Cell::Measured(measured) = cell else { return None };
        let Verdict::Inconclusive { more_rounds, more_s, why } = measured.tax.as_ref()?.verdict
        else {
            return None;
        };
        let all = |(rounds, seconds): (u64, f64)| {
            seconds * (measured.rounds as f64 + rounds as f64) / rounds.max(1) as f64
        };
        (why == wanted).then(|| more_rounds.zip(more_s).map(all))
    };
    let longer = |a: Option<f64>, b: Option<f64>| Some(a?.max(b?));
    row.cells.iter().filter_map(of_cell).reduce(longer)
}

/// What the word of such a row means, and what helps.
pub fn why(open: Open) -> &'static str {
    match open {
        Open::Width => "not shown: neither a difference nor its absence is shown",
        Open::ManyRows => {
            "slower?, faster?: the row's own 95\u{a0}% interval excludes 1, but a verdict allows \
             2\u{a0}% of error over all rows together"
        }
        Open::NearMargin => {
            "not shown: the difference is about as large as the margin, and more time does not \
             tell on which side it is; another `--margin` may"
        }
        Open::Levels => {
            "levels: the cost jumps between levels, of which some are within the margin or on its \
             other side; more time does not tell, but what decides the level may be found \
             (`--section levels`)"
        }
        Open::Ticks => {
            "few ticks: the difference is less than three ticks of CPU time; an input that takes \
             more CPU time tells more"
        }
        Open::FewLaunches => {
            "few starts: the environment was started once or twice, and another start may cost up \
             to 1.5 times as much or as little; start it more often (`--launches 5`, or a longer \
             run)"
        }
    }
}

/// Most rows of which the interval that decided is told.
const TOLD: usize = 3;

/// The intervals by which the correction for many rows decided.
fn deciding(comparison: &Comparison, wanted: Open) -> String {
    if wanted != Open::ManyRows {
        return String::new();
    }
    let cells = comparison.rows.iter().filter(|row| has_lines(row)).flat_map(|row| {
        let cells = row.cells.iter().zip(&comparison.columns);
        cells.filter_map(move |(cell, label)| {
            let ends = units::factors(tax_of(cell)?.corrected_interval?);
            Some(format!("{ends} ({} in `{label}`)", title(row)))
        })
    });
    let mut told: Vec<String> = cells.collect();
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("; the intervals that this asks for include 1: {}{more}", told.join(", "))
}

/// What more measuring would do: a time and the options.
fn advice(open: Open, seconds: Option<f64>, of_commands: bool) -> String {
    let how = match of_commands {
        true => "`--budget`",
        false => "`--probe` for these rows alone, and `--budget`",
    };
    match (open, seconds) {
        (Open::NearMargin | Open::Levels | Open::Ticks | Open::FewLaunches, _) => String::new(),
        (_, Some(seconds)) if seconds <= LONGEST_S => {
            format!("; a run of about {} may tell ({how})", units::time(seconds.max(1.0) * 1e9))
        }
        (Open::ManyRows, None) => "; fewer rows (`--probe`) or more sessions may tell".into(),
        _ => "; an hour would not be enough for all of them: stop other programs, or allow a \
              larger `--margin`"
            .into(),
    }
}

/// Every reason why something was not measured, once, with how many rows it left empty. A remark
/// tells of environments that never started.
pub fn reasons(comparison: &Comparison) -> Vec<String> {
    let mut found: Vec<(&str, &str, String, usize)> = Vec::new();
    let absent: Vec<bool> =
        (0..comparison.columns.len()).map(|column| comparison.is_absent(column)).collect();
    let rows = comparison.rows.iter().filter(|row| has_lines(row));
    let cells = rows.flat_map(|row| row.cells.iter().enumerate());
    for (column, cell) in cells.filter(|(column, _)| !absent[*column]) {
        let (word, reason) = match cell {
            Cell::Measured(_) => continue,
            Cell::Skipped(why) => ("skipped", failure::long(why)),
            Cell::Failed(why) => ("failed", failure::long(why)),
            Cell::NotReached { reason } => ("not reached", reason.clone()),
        };
        let label = comparison.columns[column].as_str();
        match found.iter_mut().find(|it| (it.0, it.1, &it.2) == (label, word, &reason)) {
            Some(it) => it.3 += 1,
            None => found.push((label, word, reason, 1)),
        }
    }
    let rows = |count: usize| if count == 1 { "1 row".into() } else { format!("{count} rows") };
    let text = |(label, word, reason, count): (&'_ str, &str, String, usize)| {
        (label.to_owned(), format!("{} {word}: {reason}", rows(count)))
    };
    together(found.into_iter().map(text))
}

/// Remarks in their order.
fn remarks(comparison: &Comparison) -> Vec<String> {
    // How the environments differ has a table of its own.
    together_of(comparison, |kind| kind != RemarkKind::FactsDiffer)
}

/// The remarks of these kinds.
pub fn remarks_of(comparison: &Comparison, kinds: &[RemarkKind]) -> Vec<String> {
    together_of(comparison, |kind| kinds.contains(&kind))
}

/// Remarks of some kinds in their order; those that say the same of several columns as one.
fn together_of(comparison: &Comparison, wanted: impl Fn(RemarkKind) -> bool) -> Vec<String> {
    let split = |remark: &Remark| {
        let column = remark.column.clone().unwrap_or_default();
        let text = failure::remark(remark);
        match text.strip_prefix(&format!("`{column}`: ")) {
            Some(rest) => (column, rest.to_owned()),
            None => (String::new(), text),
        }
    };
    let told = comparison.remarks.iter().filter(|it| wanted(it.kind));
    together(told.map(split))
}

/// What is said of several columns, once: from pairs of a column and what is said of it. Without a
/// column, it stands as it is.
fn together(said: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    for (column, text) in said {
        let same = |it: &&mut (Vec<String>, String)| !column.is_empty() && it.1 == text;
        match found.iter_mut().find(same) {
            Some((columns, _)) => columns.push(format!("`{column}`")),
            None if column.is_empty() => found.push((Vec::new(), text)),
            None => found.push((vec![format!("`{column}`")], text)),
        }
    }
    let joined = |(columns, text): (Vec<String>, String)| match columns.is_empty() {
        true => text,
        false => format!("{}: {text}", columns.join(", ")),
    };
    found.into_iter().map(joined).collect()
}

/// What the arrows of figures without lines mean, where there are any.
fn arrows(comparison: &Comparison) -> Option<String> {
    let rows = comparison.rows.iter().filter(|row| !has_lines(row));
    let mut taxes = rows.flat_map(|row| &row.cells).filter_map(tax_of);
    let differs = |tax: &Tax| matches!(tax.verdict, Verdict::Slower | Verdict::Faster);
    let reference = &comparison.reference;
    taxes.any(differs).then(|| format!("↑ ↓: shown to be more, or less, than that of {reference}"))
}

/// What stands under the table: how to read it, what the letters mean, and every remark.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.columns.len() > 1 {
        notes.push(format!(
            "tax: cost divided by that of {}, with its 95 % interval; mean: the same of the \
             mean cost, with all that slowed some operations; same: within ±{}{}",
            comparison.reference,
            units::percent(comparison.margin),
            if comparison.areas.iter().any(has_summary) { "; mean of rows: geometric" } else { "" }
        ));
    }
    notes.extend(arrows(comparison));
    let rows = comparison.rows.iter().filter(|row| has_lines(row));
    let flags = flags_of(rows.flat_map(|row| &row.cells));
    notes.extend(flags.iter().map(|flag| format!("({}) {}", flag.letter(), flag.explanation())));
    notes.extend(open_rows(comparison));
    notes.extend(reasons(comparison));
    notes.extend(remarks(comparison));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_several_columns_is_said_once() {
        let said = [("a", "late"), ("", "late"), ("b", "early"), ("c", "late")];
        let said = said.map(|(column, text)| (column.to_owned(), text.to_owned()));
        assert_eq!(together(said.into_iter()), ["`a`, `c`: late", "late", "`b`: early"]);
    }
}
