//! The check of a memory figure against another one that does not rest on the same counters.

use super::remark::{Remark, RemarkKind, named};
use super::row::{Cell, Measured, Row};
use crate::model::Quantity;
use crate::units;
use crate::words::Message;

/// The phase with the memory of one process or thread, by what the system says of it.
const MEMORY: &str = "memory";
/// The phase with the same, by what the system has left.
const AVAILABLE: &str = "available";
/// Shares of the larger one by which the two may differ: other programs on the machine take and
/// free memory as well.
const DIFFERENCE: f64 = 0.25;

/// Where the two figures differ by more than that.
pub(super) fn remarks(labels: &[&str], rows: &[Row]) -> Vec<Remark> {
    let of_row = |row: &&Row| row.phase == MEMORY && row.quantity == Quantity::Bytes;
    let mut found = Vec::new();
    for row in rows.iter().filter(of_row) {
        let twin = |other: &&Row| {
            (&other.probe, &other.params, other.phase.as_str())
                == (&row.probe, &row.params, AVAILABLE)
        };
        let Some(check) = rows.iter().find(twin) else { continue };
        let cells = row.cells.iter().zip(&check.cells).zip(labels);
        found.extend(cells.filter_map(|((own, check), label)| remark(row, own, check, label)));
    }
    found
}

fn remark(row: &Row, own: &Cell, check: &Cell, label: &str) -> Option<Remark> {
    let (own, check) = (measured(own)?.all_in, measured(check)?.all_in);
    if (own - check).abs() <= DIFFERENCE * own.max(check) {
        return None;
    }
    let text = Message::new("memory-figures-differ")
        .with("row", format!("{} {}", row.probe, row.params))
        .with("counted", units::bytes(own))
        .with("left", units::bytes(check));
    Some(Remark::on_column(RemarkKind::MemoryCheck, label, named(label, text)))
}

fn measured(cell: &Cell) -> Option<&Measured> {
    match cell {
        Cell::Measured(measured) => Some(measured),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::beside_tests::case;
    use crate::compare::tests::{compared, jitter, run_of, set_of};
    use crate::model::Phase;

    /// One column, in which `available` is that many per cent of `memory`.
    fn told(per_cent: u64) -> usize {
        let mut planned = case("process.hold", "n=100");
        planned.phases =
            vec![Phase::figure(MEMORY, Quantity::Bytes), Phase::figure(AVAILABLE, Quantity::Bytes)];
        let run = run_of(vec![planned], 20, |_, _, round| {
            let memory = jitter(100_000, round);
            let mut set = set_of(vec![memory; 20]);
            set.samples.push(vec![memory * per_cent / 100; 20]);
            Some(set)
        });
        let remarks = compared(run).remarks;
        remarks.iter().filter(|it| it.kind == RemarkKind::MemoryCheck).count()
    }

    #[test]
    fn figures_that_disagree_are_told_for_each_column() {
        assert_eq!((told(80), told(120)), (0, 0));
        assert_eq!((told(70), told(140)), (2, 2));
    }
}
