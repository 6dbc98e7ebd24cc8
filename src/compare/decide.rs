//! Second pass of a comparison: the only place that gives verdicts, once, to all taxes together.
//!
//! It sees the evidence of all rows, because Holm's correction is over all of them, and the
//! margins. Nothing changes a verdict afterwards.

use super::command_doubts::FEWEST_TICKS;
use super::evidence::{CellEvidence, MeasuredEvidence, RowEvidence, TaxEvidence, Unit};
use super::flag::Flag;
use super::margins::Margins;
use super::reach::reach;
use super::row::{Cell, Measured, Row, Tax};
use super::verdict::Verdict;
use crate::stats::{self, Estimate};

/// Error of the words: of slower and faster family-wise over one comparison, of same each.
const LEVEL: f64 = 0.05;
/// More rounds than anybody will wait for.
const MOST_ROUNDS: f64 = 1e4;

/// The rows with their verdicts.
pub(super) fn decide(evidence: &[RowEvidence<'_>], margins: &Margins) -> Vec<Row> {
    let cells = evidence.iter().flat_map(|row| &row.cells);
    let p_values: Vec<f64> = cells.filter_map(tested).map(|own| own.p_value()).collect();
    let mut different = stats::holm(&p_values, LEVEL).into_iter();
    let mut of_row = |row: &RowEvidence<'_>| {
        let margin = margins.of(row.data.key.area());
        let base = match row.cells.first() {
            Some(CellEvidence::Measured(base)) => Some(&base.measured),
            _ => None,
        };
        let of_cell = |cell: &CellEvidence| {
            let word = tested(cell).map(|own| {
                let different = different.next().expect("there is one for each that is tested");
                word(own, different, margin, counts_rounds(cell))
            });
            match cell {
                CellEvidence::Empty(cell) => cell.clone(),
                CellEvidence::Measured(own) => decided(own, word, base, margin),
            }
        };
        let cells = row.cells.iter().map(of_cell).collect();
        row.data.key.row(cells)
    };
    evidence.iter().map(&mut of_row).collect()
}

/// The estimate of a cell that can get a word. One whose rounds jump between levels cannot: what
/// the estimate is of depends on which level won.
fn tested(cell: &CellEvidence) -> Option<&Estimate> {
    let CellEvidence::Measured(own) = cell else { return None };
    own.tax.as_ref()?.estimate.as_ref().filter(|_| !own.measured.flags.contains(&Flag::Modes))
}

fn counts_rounds(cell: &CellEvidence) -> bool {
    let CellEvidence::Measured(own) = cell else { return false };
    own.tax.as_ref().is_some_and(|tax| matches!(tax.unit, Unit::Rounds))
}

/// The word of a tested tax. `different` says whether its p-value passed Holm's correction.
fn word(estimate: &Estimate, different: bool, margin: f64, of_rounds: bool) -> Verdict {
    let bound = (1.0 + margin).ln();
    match (different && estimate.value.abs() > bound, estimate.value > 0.0) {
        (true, true) => Verdict::Slower,
        (true, false) => Verdict::Faster,
        _ if estimate.p_beyond(bound) <= LEVEL => Verdict::Same,
        _ => {
            let more_rounds = more_rounds(estimate, bound).filter(|_| of_rounds);
            Verdict::Inconclusive { more_rounds }
        }
    }
}

/// Rounds until the interval would leave either the margin's bound or zero outside, if the
/// estimate stays where it is: widths shrink with the square root of the number of rounds. None
/// where no reasonable number would tell.
fn more_rounds(estimate: &Estimate, bound: f64) -> Option<u64> {
    let size = estimate.value.abs();
    let (width, room) = match size < bound {
        true => (estimate.half_width(0.90), bound - size),
        false => (estimate.half_width(0.95), size),
    };
    let rounds = estimate.count as f64;
    let more = (rounds * (width / room).powi(2) - rounds).ceil().max(1.0);
    (more < MOST_ROUNDS).then_some(more as u64)
}

/// The cell with its tax. `word` is that of a tested tax.
fn decided(
    own: &MeasuredEvidence,
    word: Option<Verdict>,
    base: Option<&Measured>,
    margin: f64,
) -> Cell {
    let mut measured = own.measured.clone();
    if let Some(tax) = &own.tax {
        let few_ticks = base.is_some_and(|base| few_ticks(own, tax, word, base, margin));
        let verdict = match (tax.estimate.is_some(), word) {
            (false, _) => Verdict::Descriptive,
            (true, Some(word)) if !few_ticks => word,
            (true, _) => Verdict::Inconclusive { more_rounds: None },
        };
        if few_ticks && !measured.flags.contains(&Flag::Ticks) {
            measured.flags.push(Flag::Ticks);
        }
        let sessions = match &tax.unit {
            Unit::Rounds => None,
            Unit::Sessions { own, base } => reach(base, own, margin).map(Box::new),
        };
        measured.tax = Some(Tax {
            ratio: tax.ratio,
            interval: tax.interval,
            all_in_ratio: tax.all_in_ratio,
            difference: tax.difference,
            spread: tax.spread,
            launches: tax.between,
            sessions,
            verdict,
        });
    }
    Cell::Measured(measured)
}

/// Whether a difference of CPU time is less than a few ticks, or some runs had no such time at all.
/// Times so long that the margin is more ticks than that are the same all the same.
fn few_ticks(
    own: &MeasuredEvidence,
    tax: &TaxEvidence,
    word: Option<Verdict>,
    base: &Measured,
    margin: f64,
) -> bool {
    let doubted = |measured: &Measured| measured.flags.contains(&Flag::Ticks);
    let few = own.tick.map(|tick| FEWEST_TICKS * tick).is_some_and(|few| {
        let resolved = word == Some(Verdict::Same) && few <= margin * base.cost;
        tax.difference.abs() < few && !resolved
    });
    few || doubted(&own.measured) || doubted(base)
}
