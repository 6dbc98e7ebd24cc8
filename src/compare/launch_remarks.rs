//! Remarks on environments that were started only once, and on environments where users pay the
//! mean cost.

use super::cell_data::RowData;
use super::remark::{Remark, RemarkKind, named};
use super::row::{Row, tax_of};
use super::sides::Side;
use crate::words::Message;

/// Parts of the fact `environment` of those in which every system call is served by another process
/// that has to be run first.
const SERVED: [&str; 3] = ["gvisor", "ptrace(", "proot"];

/// How many rows with an interval have all of their rounds from one start of the environments.
pub(super) fn one_launch(data: &[&RowData<'_>], rows: &[Row]) -> Option<Remark> {
    let has_interval = |row: &&Row| {
        let mut taxes = row.cells.iter().filter_map(tax_of);
        taxes.any(|tax| tax.interval.is_some() && tax.sessions.is_none())
    };
    let with_interval: Vec<&Row> = rows.iter().filter(has_interval).collect();
    let once = |row: &&&Row| {
        let own = data.iter().find(|data| data.key.is_of(row));
        own.is_some_and(|own| own.cells.iter().all(|cell| cell.launches() <= 1))
    };
    let count = with_interval.iter().filter(once).count();
    let which = match count {
        0 => return None,
        all if all == with_interval.len() => Message::new("started-once-all"),
        some => Message::new("started-once-some").with("count", some),
    };
    let text = Message::new("started-once").with("which", which);
    Some(Remark::on_all(RemarkKind::OneLaunch, text))
}

/// Where calls are served by another process, and the mean cost is the one to go by.
pub(super) fn means_are_paid(sides: &[Side<'_>]) -> Vec<Remark> {
    let is_served = |side: &&Side<'_>| {
        let session = side.sessions.first();
        session.and_then(|session| session.fact("environment")).is_some_and(|kind| {
            let kind = kind.to_lowercase();
            SERVED.iter().any(|served| kind.contains(served))
        })
    };
    let remark = |side: &Side<'_>| {
        let text = named(&side.label, Message::new("mean-is-paid"));
        Remark::on_column(RemarkKind::MeanIsPaid, &side.label, text)
    };
    sides.iter().filter(is_served).map(remark).collect()
}
