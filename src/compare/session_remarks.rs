//! Remarks on sessions that were not measured side by side. There, the session is the unit: only
//! the spread between sessions shows what a difference means.

use super::margins::Margins;
use super::reach::Reach;
use super::remark::{Remark, RemarkKind};
use super::row::{Row, tax_of};
use crate::model::COMMAND;
use crate::units;

/// What the rows' sessions can show, in one remark a column.
pub(super) fn remarks(labels: &[&str], rows: &[Row], margins: &Margins) -> Vec<Remark> {
    (1..labels.len()).filter_map(|column| remark(labels[column], column, rows, margins)).collect()
}

fn remark(label: &str, column: usize, rows: &[Row], margins: &Margins) -> Option<Remark> {
    // Of a whole command the wall time is what is asked for; its other figures come along.
    let asked = |row: &&Row| row.probe != COMMAND || row.phase == "wall";
    let reaches = rows
        .iter()
        .filter(asked)
        .filter_map(|row| Some((row, *tax_of(&row.cells[column])?.sessions.as_deref()?)));
    let mut reaches: Vec<(&Row, Reach)> = reaches.collect();
    reaches.sort_by(|a, b| a.1.detectable.total_cmp(&b.1.detectable));
    let (best, worst) = (reaches.first()?, reaches.last()?);
    let (before, after) = worst.1.sessions;
    let seen = match reaches.len() {
        1 => format!("a difference of {}", units::percent(worst.1.detectable)),
        _ => format!(
            "differences of {} ({}) to {} ({})",
            units::percent(best.1.detectable),
            best.0.name(),
            units::percent(worst.1.detectable),
            worst.0.name()
        ),
    };
    let margin = units::percent(margins.of(worst.0.area()));
    let have = before.min(after);
    let more = match worst.1.needed {
        Some(needed) if needed <= have => format!("that is enough to see {margin}"),
        Some(needed) => {
            let more = needed - have;
            let sessions = if more == 1 { "session" } else { "sessions" };
            format!("to see {margin}, about {more} more {sessions} a side are needed")
        }
        None => format!("{margin} is out of reach: more than a thousand a side would be needed"),
    };
    let text = format!(
        "`{label}`: sessions of one side differ by {}: {before} and {after} of them show {seen} in \
         four of five cases, and smaller ones less often; {more}",
        units::percent(worst.1.deviation)
    );
    Some(Remark::on_column(RemarkKind::Sessions, label, text))
}
