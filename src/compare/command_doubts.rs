//! Doubts about whole commands: CPU time that is counted in ticks, programs that use several CPUs,
//! and commands that ran only once.

use super::cell_data::{CellData, RowKey};
use super::flag::Flag;
use super::remark::{Remark, RemarkKind, named};
use super::row::{Cell, Measured, Row};
use super::sides::Side;
use crate::model::{COMMAND, CommandPhase};
use crate::stats;
use crate::units;
use crate::words::Message;

/// A difference of fewer than three ticks is no change: either end of both times may be off by one.
/// Three that were rounded to the digits of a file are a little less.
pub(super) const FEWEST_TICKS: f64 = 2.9;
/// CPU time as a multiple of wall time from which a program surely ran on several CPUs.
const SEVERAL: f64 = 1.2;

/// The tick in which each side's CPU times are counted or were written, in ns.
pub(super) fn quanta(sides: &[Side<'_>]) -> Vec<Option<f64>> {
    sides.iter().map(|side| stats::quantum(&cpu_times(side))).collect()
}

fn cpu_times(side: &Side<'_>) -> Vec<u64> {
    let mut times = Vec::new();
    for session in &side.sessions {
        for block in session.run.blocks.iter().filter(|block| block.env == session.env) {
            let planned = &session.run.header.plan.cases[block.case];
            if planned.case.probe != COMMAND {
                continue;
            }
            for (phase, samples) in planned.phases.iter().zip(&block.set.samples) {
                if is_cpu_time(&phase.name) {
                    times.extend(samples);
                }
            }
        }
    }
    times
}

/// Whether the row is a command's CPU time.
pub(super) fn has_cpu_time(key: &RowKey) -> bool {
    key.planned.case.probe == COMMAND && is_cpu_time(&key.phase().name)
}

fn is_cpu_time(phase: &str) -> bool {
    [CommandPhase::User, CommandPhase::System].iter().any(|it| it.name() == phase)
}

/// The flag of CPU times of which some runs had none, though others had: what is left of them is a
/// mean of those that were caught by a tick. Imported files have zeroes for what is not known.
pub(super) fn partly_zero(side: &Side<'_>, key: &RowKey, data: &CellData<'_>) -> Option<Flag> {
    let own = side.sessions.iter().all(|session| !session.run.imported);
    (has_cpu_time(key) && own && data.rounds() < data.blocks.len()).then_some(Flag::Ticks)
}

/// What a reader must know of each column's commands.
pub(super) fn remarks(labels: &[&str], rows: &[Row], quanta: &[Option<f64>]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (column, label) in labels.iter().enumerate() {
        let mut remark = |kind, text: Message| {
            remarks.push(Remark::on_column(kind, label, named(*label, text)));
        };
        if let Some(tick) = quanta[column] {
            remark(RemarkKind::Ticks, Message::new("ticks").with("tick", tick_text(tick)));
        }
        if let Some((low, high)) =
            cpus(rows, column, quanta[column].unwrap_or(0.0)).filter(|(_, high)| *high > SEVERAL)
        {
            let text = Message::new("several-cpus")
                .with("low", units::number(low))
                .with("high", units::number(high));
            remark(RemarkKind::SeveralCpus, text);
        }
        if single_runs(rows, column) {
            remark(RemarkKind::SingleRuns, Message::new("single-runs"));
        }
    }
    remarks
}

/// `1/64 s (15.625 ms)`.
fn tick_text(ns: f64) -> String {
    let ms = format!("{:.3}", ns / 1e6);
    format!("1/{:.0} s ({} ms)", 1e9 / ns, ms.trim_end_matches('0').trim_end_matches('.'))
}

fn measured(cell: &Cell) -> Option<&Measured> {
    match cell {
        Cell::Measured(measured) => Some(measured),
        _ => None,
    }
}

/// The wall times of commands in that column.
fn walls(rows: &[Row], column: usize) -> impl Iterator<Item = (&Row, &Measured)> {
    let walls =
        rows.iter().filter(|row| row.probe == COMMAND && row.phase == CommandPhase::Wall.name());
    walls.filter_map(move |row| Some((row, measured(&row.cells[column])?)))
}

/// Least and most CPU time of the column's commands, as multiples of their wall time; of those that
/// are long enough for the ticks.
fn cpus(rows: &[Row], column: usize, tick: f64) -> Option<(f64, f64)> {
    let of = |wall: &Row, phase: &str| {
        let mut same = rows.iter().filter(|row| row.probe == COMMAND && row.params == wall.params);
        Some(measured(&same.find(|row| row.phase == phase)?.cells[column])?.cost)
    };
    let long =
        walls(rows, column).filter(|(_, wall)| FEWEST_TICKS * tick <= (SEVERAL - 1.0) * wall.cost);
    let ratios = long.filter_map(|(row, wall)| {
        Some((of(row, "user")? + of(row, "system").unwrap_or(0.0)) / wall.cost)
    });
    let ratios: Vec<f64> = ratios.collect();
    stats::quantile(&ratios, 0.0).zip(stats::quantile(&ratios, 1.0))
}

fn single_runs(rows: &[Row], column: usize) -> bool {
    let mut rounds = walls(rows, column).map(|(_, wall)| wall.rounds).peekable();
    rounds.peek().is_some() && rounds.all(|rounds| rounds == 1)
}

#[cfg(test)]
mod tests {
    use super::super::beside_tests::case;
    use super::super::tests::{compared, jitter, run_of};
    use super::super::{Comparison, Open, Verdict, tax_of};
    use super::*;
    use crate::model::{Phase, Quantity, SampleSet};

    /// Wall time of 100 ms, and ticks of CPU time of both columns in a round.
    fn command(tick_ns: u64, ticks: impl Fn(usize, u32) -> u64) -> Comparison {
        let mut planned = case(COMMAND, "");
        planned.phases = vec![Phase::timed("wall"), Phase::figure("user", Quantity::Time)];
        compared(run_of(vec![planned], 20, |_, column, round| {
            let wall = jitter(100_000_000, round);
            let samples = vec![vec![wall], vec![ticks(column, round) * tick_ns]];
            Some(SampleSet { iterations: 1, samples, ..SampleSet::default() })
        }))
    }

    fn verdict(comparison: &Comparison) -> (Verdict, bool) {
        let cell = &comparison.rows[1].cells[1];
        (tax_of(cell).unwrap().verdict, measured(cell).unwrap().flags.contains(&Flag::Ticks))
    }

    #[test]
    fn a_difference_of_few_ticks_is_no_change() {
        let open =
            (Verdict::Inconclusive { more_rounds: None, more_s: None, why: Open::Ticks }, true);
        let of = |before: u64, after: u64| {
            verdict(&command(10_000_000, |column, round| {
                [before, after][column] + u64::from(round % 2)
            }))
        };
        assert_eq!(of(20, 22), open);
        assert_eq!(of(22, 20), open);
        assert_eq!(of(20, 24), (Verdict::Slower, false));
        assert_eq!(of(20, 20), open, "a margin of 3 % is less than a tick");
        assert_eq!(of(200, 200), (Verdict::Same, false), "it is six");
        let fine = command(10_123, |column, round| [200, 220][column] + u64::from(round % 2));
        assert_eq!(
            (fine.quanta.clone(), verdict(&fine)),
            (vec![None; 2], (Verdict::Slower, false))
        );
    }

    #[test]
    fn times_that_are_sometimes_nothing_are_not_known() {
        let ticks = |column: usize, round: u32| match column {
            0 => 100,
            _ => u64::from(!round.is_multiple_of(3)) * 900,
        };
        let open =
            (Verdict::Inconclusive { more_rounds: None, more_s: None, why: Open::Ticks }, true);
        assert_eq!(verdict(&command(10_123, ticks)), open);
    }

    #[test]
    fn several_cpus_are_said_to_have_worked() {
        let said = |tick_ns, ticks: u64| {
            let comparison = command(tick_ns, |_, round| ticks + u64::from(round % 2));
            comparison.remarks.iter().any(|remark| remark.kind == RemarkKind::SeveralCpus)
        };
        assert!(said(1_000_123, 270));
        assert!(!said(1_000_123, 99));
        assert!(!said(10_000_000, 27), "too few ticks to tell");
    }

    #[test]
    fn ticks_have_their_frequency_and_their_length() {
        assert_eq!(tick_text(15_625_000.0), "1/64 s (15.625 ms)");
        assert_eq!(tick_text(1e7), "1/100 s (10 ms)");
        assert_eq!(tick_text(1e9 / 60.0), "1/60 s (16.667 ms)");
    }
}
