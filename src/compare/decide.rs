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
use super::verdict::{Open, Verdict};
use crate::stats::{self, Effect, Estimate};

/// Error of the word same, of each row.
const SAME_LEVEL: f64 = 0.05;
/// Another start of an environment rarely changes a cost by more than this factor. A single start
/// says nothing about it (docs/METHODOLOGY.md, launches).
const BY_A_START: f64 = 1.5;
/// More rounds than anybody will wait for.
const MOST_ROUNDS: f64 = 1e4;

/// The rows with their verdicts.
pub(super) fn decide(evidence: &[RowEvidence<'_>], margins: &Margins) -> Vec<Row> {
    let cells = evidence.iter().flat_map(|row| &row.cells);
    let p_values: Vec<f64> = cells.filter_map(tested).map(|own| own.p_value()).collect();
    let different = stats::holm(&p_values, stats::FAMILY_LEVEL);
    let open = different.iter().filter(|different| !**different).count();
    // What a row that is still open is held to, as long as the others stay where they are.
    let level = stats::FAMILY_LEVEL / open.max(1) as f64;
    let mut different = different.into_iter();
    let mut of_row = |row: &RowEvidence<'_>| {
        let margin = margins.of(row.data.key.area());
        let base = match row.cells.first() {
            Some(CellEvidence::Measured(base)) => Some(&base.measured),
            _ => None,
        };
        let of_cell = |cell: &CellEvidence| {
            let word = tested(cell).map(|own| {
                let different = different.next().expect("there is one for each that is tested");
                let rounds = Rounds { level, each_s: counts_rounds(cell).then_some(row.round_s) };
                word(own, different, margin, &rounds)
            });
            match cell {
                CellEvidence::Empty(cell) => cell.clone(),
                CellEvidence::Measured(own) => decided(own, word, base, (margin, level)),
            }
        };
        let cells = row.cells.iter().map(of_cell).collect();
        row.data.key.row(cells)
    };
    evidence.iter().map(&mut of_row).collect()
}

/// The words of other effects than those of rows, which are tested together.
pub(super) fn words(effects: &[Option<Effect>], margin: f64) -> Vec<Verdict> {
    let estimate = |effect: &Option<Effect>| effect.and_then(|effect| effect.estimate);
    let p_values: Vec<f64> = effects.iter().filter_map(estimate).map(|own| own.p_value()).collect();
    let mut different = stats::holm(&p_values, stats::FAMILY_LEVEL).into_iter();
    let rounds = Rounds { level: stats::FAMILY_LEVEL, each_s: None };
    let mut word_of = |effect: &Option<Effect>| match estimate(effect) {
        Some(own) => word(&own, different.next().unwrap_or_default(), margin, &rounds),
        None => Verdict::Descriptive,
    };
    effects.iter().map(&mut word_of).collect()
}

/// The estimate of a cell that can get a word.
fn tested(cell: &CellEvidence) -> Option<&Estimate> {
    let CellEvidence::Measured(own) = cell else { return None };
    own.tax.as_ref()?.estimate.as_ref()
}

fn counts_rounds(cell: &CellEvidence) -> bool {
    let CellEvidence::Measured(own) = cell else { return false };
    own.tax.as_ref().is_some_and(|tax| matches!(tax.unit, Unit::Rounds))
}

/// What more rounds of a row would be.
struct Rounds {
    /// Level of the two-sided test that a difference has to pass.
    level: f64,
    /// Seconds that one takes in all environments; none where rounds are not the unit.
    each_s: Option<f64>,
}

/// The word of a tested tax. `different` says whether its p-value passed Holm's correction.
fn word(estimate: &Estimate, different: bool, margin: f64, rounds: &Rounds) -> Verdict {
    let bound = (1.0 + margin).ln();
    match (different && estimate.value.abs() > bound, estimate.value > 0.0) {
        (true, true) => Verdict::Slower,
        (true, false) => Verdict::Faster,
        _ if estimate.p_beyond(bound) <= SAME_LEVEL => Verdict::Same,
        _ => {
            let more_rounds = more_rounds(estimate, bound, rounds.level);
            let excludes = estimate.value.abs() > bound.max(estimate.half_width(0.95));
            let is_narrow = estimate.half_width(0.95) <= bound;
            let why = match more_rounds {
                _ if excludes => Open::ManyRows,
                None if is_narrow => Open::NearMargin,
                _ => Open::Width,
            };
            let more_rounds = more_rounds.filter(|_| rounds.each_s.is_some());
            let more_s = more_rounds.zip(rounds.each_s).map(|(more, each)| more as f64 * each);
            Verdict::Inconclusive { more_rounds, more_s, why }
        }
    }
}

/// Rounds until the tax would be shown to be within the margin, or at this level to be another than
/// 1, if the estimate stays where it is and launches are as long as they are: errors shrink with
/// the square root of the number of launches, and Student's t with their number. None where no
/// reasonable number would tell.
fn more_rounds(estimate: &Estimate, bound: f64, level: f64) -> Option<u64> {
    let size = estimate.value.abs();
    let (confidence, room) = match size < bound {
        true => (1.0 - 2.0 * SAME_LEVEL, bound - size),
        false => (1.0 - level, size),
    };
    let rounds = estimate.count as f64;
    let after = |factor: f64| {
        let (error, freedom) = (estimate.error / factor.sqrt(), estimate.freedom * factor);
        Estimate { error, freedom, ..*estimate }.half_width(confidence)
    };
    // In steps of a tenth: nobody needs to know it better.
    let factors = std::iter::successors(Some(1.0), |factor| Some(factor * 1.1));
    let mut factors = factors.take_while(|factor| rounds * (factor - 1.0) < MOST_ROUNDS);
    let factor = factors.find(|factor| after(*factor) <= room)?;
    Some((rounds * (factor - 1.0)).ceil().max(1.0) as u64)
}

/// The cell with its tax. `word` is that of a tested tax, `level` that of the test which an open
/// row has to pass.
fn decided(
    own: &MeasuredEvidence,
    word: Option<Verdict>,
    base: Option<&Measured>,
    (margin, level): (f64, f64),
) -> Cell {
    let mut measured = own.measured.clone();
    if let Some(tax) = &own.tax {
        let few_ticks = base.is_some_and(|base| few_ticks(own, tax, word, base, margin));
        let withheld = |why| Verdict::Inconclusive { more_rounds: None, more_s: None, why };
        let verdict = match word {
            None => Verdict::Descriptive,
            Some(_) if few_ticks => withheld(Open::Ticks),
            Some(word) if !at_all_levels(tax, word, margin) => withheld(Open::Levels),
            Some(word) if own.few_launches && !beyond_a_start(tax, word) => {
                withheld(Open::FewLaunches)
            }
            Some(word) => word,
        };
        if few_ticks && !measured.flags.contains(&Flag::Ticks) {
            measured.flags.push(Flag::Ticks);
        }
        let sessions = match &tax.unit {
            Unit::Rounds | Unit::Runs(_) => None,
            Unit::Sessions { own, base } => reach(base, own, margin).map(Box::new),
        };
        measured.tax = Some(Tax {
            ratio: tax.ratio,
            interval: tax.interval,
            corrected_interval: corrected(tax, verdict, level),
            all_in_ratio: tax.all_in_ratio,
            all_in_interval: tax.all_in_interval,
            difference: tax.difference,
            spread: tax.range.map(|(low, high)| high / low),
            range: tax.range,
            levels: tax.levels.clone(),
            autocorrelation: tax.autocorrelation,
            launches: tax.between,
            sessions,
            runs: match &tax.unit {
                Unit::Runs(runs) => Some(Box::new(runs.clone())),
                _ => None,
            },
            verdict,
        });
    }
    Cell::Measured(measured)
}

/// The interval that the correction for all rows asks for, where it decided.
fn corrected(tax: &TaxEvidence, verdict: Verdict, level: f64) -> Option<(f64, f64)> {
    let Verdict::Inconclusive { why: Open::ManyRows, .. } = verdict else { return None };
    let estimate = tax.estimate.as_ref()?;
    let width = estimate.half_width(1.0 - level).exp();
    Some((tax.ratio / width, tax.ratio * width))
}

/// Whether the word holds at each of the levels that the ratio has. The estimate is one of their
/// mixture: it moves with whatever decides how often each of them comes.
fn at_all_levels(tax: &TaxEvidence, word: Verdict, margin: f64) -> bool {
    let all = |holds: &dyn Fn(f64) -> bool| tax.levels.iter().all(|level| holds(level.value));
    match word {
        Verdict::Slower => all(&|ratio| ratio > 1.0 + margin),
        Verdict::Faster => all(&|ratio| ratio < 1.0 / (1.0 + margin)),
        _ => tax.levels.is_empty(),
    }
}

/// Whether the word holds whatever a start of the environment decides. Words that are open already
/// keep their reason.
fn beyond_a_start(tax: &TaxEvidence, word: Verdict) -> bool {
    let Some((low, high)) = tax.interval else { return false };
    match word {
        Verdict::Slower => low > BY_A_START,
        Verdict::Faster => high < 1.0 / BY_A_START,
        Verdict::Same => false,
        Verdict::Inconclusive { .. } | Verdict::Descriptive => true,
    }
}

/// Whether a difference of CPU time is less than a few ticks, or some runs had no such time at all.
/// The verdict `same` stands if the margin of the time is more than a few ticks.
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
