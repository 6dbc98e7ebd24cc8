//! What makes a single figure doubtful. A flag never removes a figure: it stands beside it.

use serde::Serialize;

use super::Tax;
use super::data::{Counted, RowKey, SideData};
use crate::model::Usage;
use crate::runfile::Block;
use crate::stats;

/// A doubt about one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The cost is below what any operation takes.
    OptimisedAway,
    /// The mean tells another story than the floor.
    HeavyTail,
    /// The worker waited for a CPU during much of its blocks.
    Contended,
    /// Faults or switches an operation differ from the reference's.
    DifferentWork,
    /// The worker could not be pinned to the round's CPU.
    NotPinned,
    /// One reading of the clock is a visible part of a sample.
    ClockShare,
    /// Fewer rounds than the plan asks for.
    FewRounds,
    /// The rounds disagree by more than the tax.
    Modes,
    /// A cold read whose pages may have been in the cache.
    NotCold,
    /// Durable writes that no device saw.
    NotDurable,
    /// Launches differ by more than their rounds do.
    Launches,
    /// The program is not the reference's.
    OtherProgram,
    /// The peak memory may be that of the process that started the command.
    Floor,
    /// A difference of so few steps of CPU time that there may be none.
    Ticks,
}

impl Flag {
    /// One letter that stands in the table.
    pub fn letter(self) -> char {
        match self {
            Flag::OptimisedAway => 'o',
            Flag::HeavyTail => 't',
            Flag::Contended => 'c',
            Flag::DifferentWork => 'w',
            Flag::NotPinned => 'p',
            Flag::ClockShare => 'k',
            Flag::FewRounds => 'r',
            Flag::Modes => 'm',
            Flag::NotCold => 'u',
            Flag::NotDurable => 'd',
            Flag::Launches => 'l',
            Flag::OtherProgram => 'x',
            Flag::Floor => 'f',
            Flag::Ticks => 'q',
        }
    }

    /// What it means and what to do, for under the table.
    pub fn explanation(self) -> &'static str {
        match self {
            Flag::OptimisedAway => {
                "below a nanosecond: nothing is that fast, so the operation was not done"
            }
            Flag::HeavyTail => {
                "heavy tail: the ratio of the means differs from this one by more than 10 %; slow \
                 operations are rarer or more frequent than in the reference (see all_in in \
                 `--format json`)"
            }
            Flag::Contended => {
                "contended: other programs took more than 5 % of the time; the floor cost used \
                 here withstands that, the mean does not"
            }
            Flag::DifferentWork => {
                "different work: page faults or context switches an operation differ by more than \
                 10 % from the reference's: part of the tax is other work, not slower work"
            }
            Flag::NotPinned => "could not be pinned to one CPU: placement adds its own noise",
            Flag::ClockShare => {
                "the clock's own readings: a single one takes more than 1\u{a0}% of a sample of \
                 this phase; part of the cost is the clock, not the operation"
            }
            Flag::FewRounds => {
                "few rounds: fewer than the plan's min_rounds (15 unless the file says otherwise); \
                 the interval is less reliable than that of a finished case, and below 5 rounds \
                 there is no verdict"
            }
            Flag::Modes => {
                "modes: the cost jumps between levels, and from round to round the ratio changes \
                 by more than twofold and by more than the tax: no verdict is given, and the \
                 interval is too narrow"
            }
            Flag::NotCold => {
                "unverified: asked for cold, but pages may have been in a cache when the reading \
                 began"
            }
            Flag::NotDurable => {
                "not durable: what was reported to be on the device cannot have been"
            }
            Flag::OtherProgram => {
                "another program: the file of that name is not the reference's; what differs is \
                 named below"
            }
            Flag::Floor => {
                "at the floor: the process that starts the command has as much memory, and is \
                 counted with it until the program is executed; the command itself had this much \
                 at most"
            }
            Flag::Launches => {
                "launches differ: from one start of the environment to the next the ratio changes \
                 by more than its rounds explain; the interval is one of launches (`--launches N` \
                 for more)"
            }
            Flag::Ticks => {
                "ticks: CPU time is counted in steps, and this difference is less than three of \
                 them, or some runs show no such time at all: that is no change"
            }
        }
    }
}

/// Share of time waiting for a CPU above which a cell is contended (METHOD 1.14).
const WAIT_SHARE: f64 = 0.05;
/// Difference above which events or means count as different.
const DIFFERENT: f64 = 0.10;
/// Factor between rounds from which a cost has several levels.
const MODES: f64 = 2.0;
/// Events an iteration below which they are noise of the block, not of the operation.
const FEW_EVENTS: f64 = 0.1;

/// The phase of a whole command that is its peak memory.
const MEMORY: &str = "memory";
/// Share by which a peak must be above the floor to be the command's own: the system counts pages
/// in batches.
const AT_FLOOR: f64 = 0.02;

/// Share of a sample that one reading of the clock may take. One reading a sample is what every
/// phase has at least; a probe that reads it at each iteration has more, which no file tells.
pub(super) const CLOCK_SHARE: f64 = 0.01;

/// Flags that a cell's blocks show by themselves.
pub(super) fn of_blocks(key: &RowKey, cost: f64, blocks: &[&Block]) -> Vec<Flag> {
    let mut flags = Vec::new();
    if key.phase().timed && cost < 1.0 && key.planned.case.probe != "null" {
        flags.push(Flag::OptimisedAway);
    }
    if contended(blocks) {
        flags.push(Flag::Contended);
    }
    if blocks.iter().any(|block| block.cpu.is_some() && !block.set.pinned) {
        flags.push(Flag::NotPinned);
    }
    flags
}

/// Whether the rounds disagree so much that their centre is a matter of which level won: neither a
/// trimmed mean nor its interval is to be trusted then (`bench/honesty`: native against native,
/// `pipe.roundtrip cpu=free` was called different in 11 % of runs).
pub fn modes(tax: &Tax) -> Option<Flag> {
    let spread = tax.spread.filter(|spread| *spread > MODES)?.ln();
    (tax.ratio.ln().abs() < spread / 2.0).then_some(Flag::Modes)
}

/// Whether the interval had to be taken from launches instead of rounds.
pub fn launches(tax: &Tax) -> Option<Flag> {
    tax.launches.filter(|between| between.decides).map(|_| Flag::Launches)
}

/// Whether the peak memory was usually no more than that of the process that started the command.
pub(super) fn at_floor(key: &RowKey, blocks: &[&Block]) -> bool {
    let above = |block: &Block| {
        let peak = *block.set.samples.get(key.phase)?.first()?;
        Some(peak as f64 / block.set.extras.floor_bytes?.max(1) as f64)
    };
    let is_peak = key.planned.is_command() && key.phase().name == MEMORY;
    is_peak && quantile(blocks, 0.5, above).is_some_and(|above| above <= 1.0 + AT_FLOOR)
}

/// Whether the means disagree with the floors.
pub fn heavy_tail(tax: &Tax) -> Option<Flag> {
    let (low, high) = tax.interval?;
    let beyond =
        tax.all_in_ratio > high * (1.0 + DIFFERENT) || tax.all_in_ratio < low / (1.0 + DIFFERENT);
    beyond.then_some(Flag::HeavyTail)
}

fn quantile(blocks: &[&Block], q: f64, of: impl Fn(&Block) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = blocks.iter().filter_map(|block| of(block)).collect();
    stats::quantile(&values, q)
}

/// Whether the wait for a CPU was usually longer than in the least disturbed blocks: what those
/// wait is for the probe's own peers, or for a tracer, and belongs to the operation.
fn contended(blocks: &[&Block]) -> bool {
    let usual = quantile(blocks, 0.5, wait_share);
    let inherent = quantile(blocks, 0.1, wait_share);
    usual.zip(inherent).is_some_and(|(usual, inherent)| usual - inherent > WAIT_SHARE)
}

fn wait_share(block: &Block) -> Option<f64> {
    let time = block.set.end_ns.saturating_sub(block.set.start_ns).max(1);
    Some(block.set.usage.run_queue_wait_ns? as f64 / time as f64)
}

/// Whether an operation of this environment causes other numbers of events than the reference's,
/// of those that both count.
pub(super) fn different_work(
    (own, counted): (&SideData<'_>, Counted),
    (base, base_counted): (&SideData<'_>, Counted),
) -> bool {
    let faults = counted.faults && base_counted.faults;
    let switches = counted.switches && base_counted.switches;
    let differ = |event: fn(&Usage) -> u64| differ(&own.blocks, &base.blocks, event);
    faults && differ(|usage| usage.minor_faults)
        || switches && differ(|usage| usage.voluntary_switches)
}

fn differ(blocks: &[&Block], base: &[&Block], event: fn(&Usage) -> u64) -> bool {
    let each = |block: &Block| {
        let set = &block.set;
        let samples = set.samples.first().map_or(0, Vec::len);
        Some(event(&set.usage) as f64 / (samples as f64 * set.iterations as f64))
    };
    let usual = quantile(blocks, 0.5, each).zip(quantile(base, 0.5, each));
    usual.is_some_and(|(own, other)| {
        let most = own.max(other);
        most > FEW_EVENTS && (own - other).abs() > DIFFERENT * most
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Verdict;
    use crate::model::{Case, Params, Phase, PlannedCase, SampleSet, Work};

    fn block(faults: u64, wait_ns: u64, pinned: bool) -> Block {
        Block {
            env: "e".into(),
            case: 0,
            round: 1,
            place: 0,
            cpu: Some(0),
            asked_ns: 0,
            outer_ns: 0,
            runnable: None,
            launch: 0,
            outside_cpu_ns: None,
            set: SampleSet {
                iterations: 10,
                samples: vec![vec![100; 9]],
                start_ns: 0,
                end_ns: 1000,
                pinned,
                usage: Usage {
                    minor_faults: faults,
                    run_queue_wait_ns: Some(wait_ns),
                    ..Usage::default()
                },
                ..SampleSet::default()
            },
        }
    }

    fn flags(cost: f64, own: Block) -> Vec<Flag> {
        flags_of(cost, &[&own])
    }

    fn flags_of(cost: f64, own: &[&Block]) -> Vec<Flag> {
        let planned = PlannedCase {
            case: Case { probe: "x.y".into(), params: Params::default(), dir: None },
            phases: vec![Phase::timed("")],
            unit: "call".into(),
            work: Work::Probe,
        };
        of_blocks(&RowKey { planned, phase: 0 }, cost, own)
    }

    #[test]
    fn each_flag_has_its_cause() {
        assert_eq!(flags(10.0, block(100, 0, true)), []);
        assert_eq!(flags(0.9, block(100, 0, true)), [Flag::OptimisedAway]);
        let (calm, waiting) = (block(100, 300, true), block(100, 400, true));
        let own = [&calm, &waiting, &waiting, &waiting];
        assert_eq!(flags_of(10.0, &own), [Flag::Contended]);
        assert_eq!(flags_of(10.0, &[&calm, &calm]), [], "the probe's own waiting");
        assert_eq!(flags(10.0, block(100, 0, false)), [Flag::NotPinned]);
    }

    #[test]
    fn more_or_fewer_events_an_operation_are_other_work() {
        let differ = |own: u64, other: u64| {
            let (own, other) = (block(own, 0, true), block(other, 0, true));
            super::differ(&[&own], &[&other], |usage| usage.minor_faults)
        };
        // A block has 90 iterations.
        assert!(!differ(100, 100) && !differ(105, 100));
        assert!(differ(120, 100) && differ(100, 120));
        assert!(differ(0, 100) && differ(100, 0), "none is a number too");
        assert!(!differ(2, 1) && !differ(9, 0), "too few to count");
    }

    #[test]
    fn letters_are_unique() {
        let all = [
            Flag::OptimisedAway,
            Flag::HeavyTail,
            Flag::Contended,
            Flag::DifferentWork,
            Flag::NotPinned,
            Flag::ClockShare,
            Flag::FewRounds,
            Flag::Modes,
            Flag::NotCold,
            Flag::NotDurable,
            Flag::Launches,
            Flag::OtherProgram,
            Flag::Floor,
            Flag::Ticks,
        ];
        let letters: std::collections::HashSet<char> = all.map(Flag::letter).into();
        assert_eq!(letters.len(), all.len());
    }

    #[test]
    fn means_far_outside_the_interval_are_a_tail() {
        let tax = |all_in_ratio| Tax {
            ratio: 1.0,
            interval: Some((0.98, 1.02)),
            all_in_ratio,
            difference: 0.0,
            spread: Some(1.1),
            launches: None,
            sessions: None,
            verdict: Verdict::Same,
        };
        assert_eq!(heavy_tail(&tax(1.05)), None);
        assert_eq!(heavy_tail(&tax(1.2)), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(&tax(0.8)), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(&Tax { interval: None, ..tax(2.0) }), None);
    }

    #[test]
    fn rounds_that_disagree_by_more_than_the_tax_are_modes() {
        let tax = |ratio, spread| Tax {
            ratio,
            interval: Some((ratio, ratio)),
            all_in_ratio: ratio,
            difference: 0.0,
            spread,
            launches: None,
            sessions: None,
            verdict: Verdict::Same,
        };
        assert_eq!(modes(&tax(1.0, Some(1.5))), None);
        assert_eq!(modes(&tax(1.0, Some(10.0))), Some(Flag::Modes));
        assert_eq!(modes(&tax(2.0, Some(10.0))), Some(Flag::Modes));
        assert_eq!(modes(&tax(50.0, Some(10.0))), None, "a difference beyond all levels");
        assert_eq!(modes(&tax(1.0, None)), None);
    }
}
