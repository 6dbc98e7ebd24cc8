//! Remarks on sessions that were not measured side by side. There, the session is the unit: only
//! the spread between sessions shows what a difference means.

use super::margins::Margins;
use super::reach::Reach;
use super::remark::{Remark, RemarkKind, named};
use super::row::{Row, tax_of};
use crate::model::COMMAND;
use crate::units;
use crate::words::Message;

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
    let [least, most] = [best, worst].map(|it| units::percent(it.1.detectable));
    let seen = match reaches.len() {
        1 => Message::new("sessions-show-one").with("most", most),
        _ => Message::new("sessions-show-several")
            .with("least", least)
            .with("best", best.0.name())
            .with("most", most)
            .with("worst", worst.0.name()),
    };
    let have = before.min(after);
    let more = match worst.1.needed {
        Some(needed) if needed <= have => Message::new("sessions-suffice"),
        Some(needed) => Message::new("sessions-are-missing").with("count", needed - have),
        None => Message::new("sessions-never-suffice"),
    };
    let text = Message::new("sessions-vary")
        .with("deviation", units::percent(worst.1.deviation))
        .with("before", before)
        .with("after", after)
        .with("seen", seen)
        .with("more", more.with("margin", units::percent(margins.of(worst.0.area()))));
    Some(Remark::on_column(RemarkKind::Sessions, label, named(label, text)))
}
