//! What stands under the tables: how to read them, why rows are open or empty, and every remark.

use super::table::{flags_of, has_lines, has_summary, state_id, title};
use super::{failure, table};
use crate::compare::{
    Cell, Comparison, Flag, LONGEST_S, Open, Remark, RemarkKind, Row, Tax, Verdict, tax_of,
};
use crate::units;
use crate::words::{Words, text};

/// Why rows are open, with the interval that decided where it is another than the row's own, and
/// what more measuring would do for them: one note a reason.
fn open_rows(comparison: &Comparison, words: &Words) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| has_lines(row)).collect();
    let of_commands = rows.iter().all(|row| row.is_of_command());
    let of_reason = |wanted: Open| {
        let open = rows.iter().filter_map(|row| seconds_of(row, wanted)).collect::<Vec<_>>();
        let known: Option<f64> = open.iter().copied().sum();
        (!open.is_empty()).then(|| {
            let deciding = deciding(comparison, words, wanted);
            why(words, wanted) + &deciding + &advice(words, wanted, known, of_commands)
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
pub fn why(words: &Words, open: Open) -> String {
    words.say(match open {
        Open::Width => "open-width",
        Open::ManyRows => "open-many-rows",
        Open::NearMargin => "open-near-margin",
        Open::Levels => "open-levels",
        Open::Ticks => "open-ticks",
        Open::FewLaunches => "open-few-launches",
    })
}

/// Most rows of which the interval that decided is told.
const TOLD: usize = 3;

/// The intervals by which the correction for many rows decided.
fn deciding(comparison: &Comparison, words: &Words, wanted: Open) -> String {
    if wanted != Open::ManyRows {
        return String::new();
    }
    let cells = comparison.rows.iter().filter(|row| has_lines(row)).flat_map(|row| {
        let cells = row.cells.iter().zip(&comparison.columns);
        cells.filter_map(move |(cell, column)| {
            let ends = table::ends(words, tax_of(cell)?.corrected_interval?);
            let (row, column) = (title(words, row), text(column));
            let values = [("ends", text(&ends)), ("row", text(&row)), ("column", column)];
            Some(words.with("deciding-one", &values))
        })
    });
    let mut told: Vec<String> = cells.collect();
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let told = words.listed(&told);
    match more {
        0 => words.with("deciding", &[("told", text(&told))]),
        more => words.with("deciding-more", &[("told", text(&told)), ("count", more.into())]),
    }
}

/// What more measuring would do: a time and the options.
fn advice(words: &Words, open: Open, seconds: Option<f64>, of_commands: bool) -> String {
    let how = if of_commands { "advice-of-commands" } else { "advice-of-probes" };
    match (open, seconds) {
        (Open::NearMargin | Open::Levels | Open::Ticks | Open::FewLaunches, _) => String::new(),
        (_, Some(seconds)) if seconds <= LONGEST_S => {
            let (time, how) = (units::time(seconds.max(1.0) * 1e9), words.say(how));
            words.with("advice-time", &[("time", text(&time)), ("how", text(&how))])
        }
        (Open::ManyRows, None) => words.say("advice-fewer-rows"),
        _ => words.say("advice-too-long"),
    }
}

/// Every reason why something was not measured, once, with how many rows it left empty. A remark
/// tells of environments that never started.
pub fn reasons(comparison: &Comparison, words: &Words) -> Vec<String> {
    let mut found: Vec<(&str, &str, String, usize)> = Vec::new();
    let absent: Vec<bool> =
        (0..comparison.columns.len()).map(|column| comparison.is_absent(column)).collect();
    let rows = comparison.rows.iter().filter(|row| has_lines(row));
    let cells = rows.flat_map(|row| row.cells.iter().enumerate());
    for (column, cell) in cells.filter(|(column, _)| !absent[*column]) {
        let Some(id) = state_id(cell) else { continue };
        let reason = match cell {
            Cell::Skipped(why) | Cell::Failed(why) => failure::long_in(words, why),
            Cell::NotReached { reason } => reason.clone(),
            Cell::Measured(_) => continue,
        };
        let label = comparison.columns[column].as_str();
        match found.iter_mut().find(|it| (it.0, it.1, &it.2) == (label, id, &reason)) {
            Some(it) => it.3 += 1,
            None => found.push((label, id, reason, 1)),
        }
    }
    let told = |(label, id, reason, count): (&'_ str, &str, String, usize)| {
        let state = words.say(id);
        let values = [("count", count.into()), ("state", text(&state)), ("reason", text(&reason))];
        (label.to_owned(), words.with("note-rows-empty", &values))
    };
    together(found.into_iter().map(told), words)
}

/// Remarks in their order.
fn remarks(comparison: &Comparison, words: &Words) -> Vec<String> {
    // How the environments differ has a table of its own.
    together_of(comparison, words, |kind| kind != RemarkKind::FactsDiffer)
}

/// The remarks of these kinds.
pub fn remarks_of(comparison: &Comparison, words: &Words, kinds: &[RemarkKind]) -> Vec<String> {
    together_of(comparison, words, |kind| kinds.contains(&kind))
}

/// Remarks of some kinds in their order; those that say the same of several columns as one.
fn together_of(
    comparison: &Comparison,
    words: &Words,
    wanted: impl Fn(RemarkKind) -> bool,
) -> Vec<String> {
    let split = |remark: &Remark| {
        let column = remark.column.clone().unwrap_or_default();
        let text = failure::remark(words, remark);
        match text.strip_prefix(&format!("`{column}`: ")) {
            Some(rest) => (column, rest.to_owned()),
            None => (String::new(), text),
        }
    };
    let told = comparison.remarks.iter().filter(|it| wanted(it.kind));
    together(told.map(split), words)
}

/// What is said of several columns, once: from pairs of a column and what is said of it. Without a
/// column, it stands as it is.
fn together(said: impl Iterator<Item = (String, String)>, words: &Words) -> Vec<String> {
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
        false => format!("{}: {text}", words.listed(&columns)),
    };
    found.into_iter().map(joined).collect()
}

/// What the arrows of figures without lines mean, where there are any.
fn arrows(comparison: &Comparison, words: &Words) -> Option<String> {
    let rows = comparison.rows.iter().filter(|row| !has_lines(row));
    let mut taxes = rows.flat_map(|row| &row.cells).filter_map(tax_of);
    let differs = |tax: &Tax| matches!(tax.verdict, Verdict::Slower | Verdict::Faster);
    let reference = ("reference", text(&comparison.reference));
    taxes.any(differs).then(|| words.with("note-arrows", &[reference]))
}

/// What stands under the table: how to read it, what the letters mean, and every remark.
pub fn notes(comparison: &Comparison, words: &Words) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.columns.len() > 1 {
        let (reference, margin) = (&comparison.reference, units::percent(comparison.margin));
        let has_means = comparison.areas.iter().any(has_summary);
        let mean = if has_means { words.say("note-mean-of-rows") } else { String::new() };
        let values = [("reference", text(reference)), ("margin", text(&margin))];
        notes.push(words.with("note-tax", &[&values[..], &[("mean", text(&mean))]].concat()));
    }
    notes.extend(arrows(comparison, words));
    let rows = comparison.rows.iter().filter(|row| has_lines(row));
    let flags = flags_of(rows.flat_map(|row| &row.cells));
    notes.extend(flags.iter().map(|it| format!("({}) {}", it.letter(), explanation(words, *it))));
    notes.extend(open_rows(comparison, words));
    notes.extend(reasons(comparison, words));
    notes.extend(remarks(comparison, words));
    notes
}

/// The flag's name, and what it means.
pub fn explanation(words: &Words, flag: Flag) -> String {
    words.say(&format!("flag-{}", flag.letter()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::LANGUAGES;

    #[test]
    fn what_is_said_of_several_columns_is_said_once() {
        let said = [("a", "late"), ("", "late"), ("b", "early"), ("c", "late")];
        let said = said.map(|(column, text)| (column.to_owned(), text.to_owned()));
        let words = Words::of(LANGUAGES[0]);
        assert_eq!(together(said.into_iter(), &words), ["`a`, `c`: late", "late", "`b`: early"]);
    }
}
