//! What the verdicts come to, as sentences of pages and articles in every language. They follow
//! from the verdicts and say nothing beyond them.

use super::screen::Tally;
use super::{directories, table};
use crate::compare::{Comparison, Row, Tax, Verdict};
use crate::units;
use crate::words::{Words, text};

/// What directories cost, and a sentence for each environment but the reference.
pub fn sentences(comparison: &Comparison, words: &Words) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let columns = 1..comparison.columns.len();
    let of_columns = columns.map(|column| of_column(comparison, words, &rows, column));
    directories::sentences(comparison, words).into_iter().chain(of_columns).collect()
}

fn of_column(comparison: &Comparison, words: &Words, rows: &[&Row], column: usize) -> String {
    let label = ("label", text(&comparison.columns[column]));
    if comparison.is_absent(column) {
        return words.with("finding-absent", &[label]);
    }
    let tally = Tally::of(rows, column);
    let mut clauses = Vec::new();
    for (verdict, id) in [(Verdict::Slower, "slower"), (Verdict::Faster, "faster")] {
        let own = tally.decided.iter().filter(|(_, tax)| tax.verdict == verdict);
        let own: Vec<&(&Row, &Tax)> = own.collect();
        let size = |tax: &Tax| tax.ratio.ln().abs();
        let Some((row, tax)) = own.iter().max_by(|a, b| size(a.1).total_cmp(&size(b.1))) else {
            continue;
        };
        clauses.push(words.with(
            &format!("finding-{id}"),
            &[
                ("count", own.len().into()),
                ("rows", rows.len().into()),
                ("figure", text(&figure(words, tax))),
                ("row", text(&table::title(words, row))),
            ],
        ));
    }
    let margin = units::percent(comparison.margin);
    if tally.same > 0 {
        clauses.push(
            words.with("finding-same", &[("count", tally.same.into()), ("margin", text(&margin))]),
        );
    }
    let open = tally.open.len() + tally.levels.len() + tally.few_starts.len();
    let rest = [
        ("open", open),
        ("untested", tally.untested.len()),
        ("failed", tally.failed),
        ("empty", tally.empty),
    ];
    for (id, count) in rest.into_iter().filter(|(_, count)| *count > 0) {
        clauses.push(words.with(&format!("finding-{id}"), &[("count", count.into())]));
    }
    let clauses = words.joined(&clauses);
    words.with("finding", &[label, ("clauses", text(&clauses))])
}

/// `87.1× (95 % interval 54 to 141)`.
fn figure(words: &Words, tax: &Tax) -> String {
    let ratio = units::factor(tax.ratio);
    match tax.interval {
        Some((low, high)) => words.with(
            "finding-figure",
            &[
                ("ratio", text(&ratio)),
                ("low", text(&units::factor(low))),
                ("high", text(&units::factor(high))),
            ],
        ),
        None => words.with("finding-figure-alone", &[("ratio", text(&ratio))]),
    }
}
