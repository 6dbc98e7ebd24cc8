//! The words of a gate, for every format that people read.

use super::table;
use crate::compare::{Comparison, Gate, GateOn};
use crate::units;
use crate::words::{Words, text};

/// Names of rows in one line at most; files for programs have all of them.
const MOST_NAMES: usize = 6;

/// The sum, and a line for each figure above its limit and for each reason why some could not be
/// judged.
pub fn lines(words: &Words, comparison: &Comparison, gate: &Gate) -> Vec<String> {
    let mut lines = vec![sum(words, gate)];
    for above in &gate.above {
        let row = table::title(words, &comparison.rows[above.row]);
        let interval = above.interval.map_or(String::new(), |ends| {
            words.with("gate-interval", &[("ends", text(&table::ends(words, ends)))])
        });
        let (ratio, limit) = (units::factor(above.ratio), above.limit.to_string());
        let values = [
            ("column", text(&above.column)),
            ("row", text(&row)),
            ("ratio", text(&ratio)),
            ("limit", text(&limit)),
            ("interval", text(&interval)),
        ];
        lines.push(words.with("gate-above", &values));
    }
    let id = if gate.allow_unjudged { "gate-allowed" } else { "gate-unjudged" };
    for unjudged in &gate.unjudged {
        let rows = unjudged.rows.iter().map(|row| table::title(words, &comparison.rows[*row]));
        let mut rows: Vec<String> = rows.collect();
        let more = rows.len().saturating_sub(MOST_NAMES);
        rows.truncate(MOST_NAMES);
        if more > 0 {
            rows.push(words.with("gate-more", &[("count", more.into())]));
        }
        let (reason, rows) = (words.tell(&unjudged.reason), words.listed(&rows));
        let values =
            [("column", text(&unjudged.column)), ("reason", text(&reason)), ("rows", text(&rows))];
        lines.push(words.with(id, &values));
    }
    lines
}

fn sum(words: &Words, gate: &Gate) -> String {
    let unjudged: usize = gate.unjudged.iter().map(|unjudged| unjudged.rows.len()).sum();
    let id = if gate.failed() { "gate-failed" } else { "gate-passed" };
    let is_certain = gate.on == GateOn::Bound;
    let certainly = if is_certain { words.say("gate-certainly") } else { String::new() };
    let rest = match unjudged {
        0 => String::new(),
        count => words.with("gate-rest", &[("count", count.into())]),
    };
    let values = [
        ("above", gate.above.len().into()),
        ("judged", gate.judged.into()),
        ("certainly", text(&certainly)),
        ("rest", text(&rest)),
    ];
    words.with(id, &values)
}
