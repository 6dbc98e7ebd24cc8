//! What sessions that were not measured side by side can show: the session is the unit, and only
//! the spread between sessions says what a difference of theirs means.

use serde::Serialize;

use super::remarks::{Remark, RemarkKind};
use super::{MIN_SESSIONS, Row, tax_of};
use crate::model::COMMAND;
use crate::stats;
use crate::units;

/// What can be seen with the sessions that are there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// Sessions of the reference, and of this side.
    pub sessions: (usize, usize),
    /// Standard deviation between sessions of a side, as a share.
    pub deviation: f64,
    /// Smallest difference, as a share, that these find in four of five cases.
    pub detectable: f64,
    /// Sessions a side with which one as large as the margin is; none beyond a thousand.
    pub needed: Option<usize>,
}

/// From the sessions' values as logarithms. None where no side has two sessions: then nothing is
/// known of their spread.
pub(super) fn reach(base: &[f64], own: &[f64], margin: f64) -> Option<Reach> {
    let spread = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let freedom = (base.len() + own.len()).checked_sub(2).filter(|freedom| *freedom > 0)?;
    let deviation = ((spread(base) + spread(own)) / freedom as f64).sqrt();
    Some(Reach {
        sessions: (base.len(), own.len()),
        deviation: deviation.exp_m1(),
        detectable: stats::detectable(deviation, base.len(), own.len())?.exp_m1(),
        needed: stats::needed(deviation, margin.ln_1p(), MIN_SESSIONS),
    })
}

/// What the rows' sessions can show, in one remark a column.
pub(super) fn remarks(labels: &[&str], rows: &[Row], margin: f64) -> Vec<Remark> {
    (1..labels.len()).filter_map(|column| remark(labels[column], column, rows, margin)).collect()
}

fn remark(label: &str, column: usize, rows: &[Row], margin: f64) -> Option<Remark> {
    // Of a whole command the wall time is what is asked for; its other figures come along.
    let asked = |row: &&Row| row.probe != COMMAND || row.phase == "wall";
    let reaches = rows
        .iter()
        .filter(asked)
        .filter_map(|row| Some((row.name(), *tax_of(&row.cells[column])?.sessions.as_deref()?)));
    let mut reaches: Vec<(String, Reach)> = reaches.collect();
    reaches.sort_by(|a, b| a.1.detectable.total_cmp(&b.1.detectable));
    let (best, worst) = (reaches.first()?, reaches.last()?);
    let (before, after) = worst.1.sessions;
    let seen = match reaches.len() {
        1 => format!("a difference of {}", units::percent(worst.1.detectable)),
        _ => format!(
            "differences of {} ({}) to {} ({})",
            units::percent(best.1.detectable),
            best.0,
            units::percent(worst.1.detectable),
            worst.0
        ),
    };
    let margin = units::percent(margin);
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
