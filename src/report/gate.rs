//! The words of a gate, for every format that people read.

use super::table;
use crate::compare::{Comparison, Gate, GateOn};
use crate::units;

/// Names of rows in one line at most; files for programs have all of them.
const MOST_NAMES: usize = 6;

/// The sum, and a line for each figure above its limit and for each reason why some could not be
/// judged.
pub fn lines(comparison: &Comparison, gate: &Gate) -> Vec<String> {
    let mut lines = vec![sum(gate)];
    for above in &gate.above {
        let row = table::title(&comparison.rows[above.row]);
        let (ratio, limit) = (units::factor(above.ratio), above.limit);
        let interval = above.interval.map_or(String::new(), |ends| {
            format!(" (95\u{a0}% interval {})", units::factors(ends))
        });
        lines.push(format!("FAIL {} {row} {ratio}× > {limit}×{interval}", above.column));
    }
    let word = if gate.allow_unjudged { "allowed:" } else { "FAIL" };
    for unjudged in &gate.unjudged {
        let (column, reason) = (&unjudged.column, &unjudged.reason);
        let rows = unjudged.rows.iter().map(|row| table::title(&comparison.rows[*row]));
        let mut rows: Vec<String> = rows.collect();
        let more = rows.len().saturating_sub(MOST_NAMES);
        rows.truncate(MOST_NAMES);
        if more > 0 {
            rows.push(format!("and {more} more"));
        }
        lines.push(format!("{word} {column} not judged: {reason}: {}", rows.join(", ")));
    }
    lines
}

fn sum(gate: &Gate) -> String {
    let unjudged: usize = gate.unjudged.iter().map(|unjudged| unjudged.rows.len()).sum();
    let word = if gate.failed() { "failed" } else { "passed" };
    let certainly = if gate.on == GateOn::Bound { "certainly " } else { "" };
    let figures = if gate.judged == 1 { "figure" } else { "figures" };
    let rest = match unjudged {
        0 => String::new(),
        count => format!("; {count} not judged"),
    };
    let (above, judged) = (gate.above.len(), gate.judged);
    format!("gate {word}: {above} of {judged} {figures} {certainly}above the limit{rest}")
}
