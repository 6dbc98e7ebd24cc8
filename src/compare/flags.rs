//! Finds the flags of a cell: each function here finds one of them.

use super::cell_data::{CellData, Counted, RowKey};
use super::flag::Flag;
use crate::model::Usage;
use crate::runfile::Block;
use crate::stats::{self, Between};

/// A cell is contended if its processes waited for a CPU for a larger share of the time.
const WAIT_SHARE: f64 = 0.05;
/// Events or means count as different above this difference.
const DIFFERENT: f64 = 0.10;
/// Fewer events an iteration are noise of the block and not of the operation.
const FEW_EVENTS: f64 = 0.1;

/// The phase of a whole command that gives its peak memory.
const MEMORY: &str = "memory";
/// A peak must be above the floor by this share to be the command's own, because the system counts
/// pages in batches.
const AT_FLOOR: f64 = 0.02;

/// The share of a sample that one reading of the clock may take. Every phase has at least one
/// reading a sample. A probe that reads the clock at each iteration has more, which the file does
/// not tell.
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

/// Whether launches differ by more than their rounds explain.
pub(super) fn launches(between: Option<Between>) -> Option<Flag> {
    between.filter(|between| between.decides).map(|_| Flag::Launches)
}

/// Whether the peak memory was usually not above that of the process that started the command.
pub(super) fn at_floor(key: &RowKey, blocks: &[&Block]) -> bool {
    let above = |block: &Block| {
        let peak = *block.set.samples.get(key.phase)?.first()?;
        Some(peak as f64 / block.set.extras.floor_bytes?.max(1) as f64)
    };
    let is_peak = key.planned.is_command() && key.phase().name == MEMORY;
    is_peak && quantile(blocks, 0.5, above).is_some_and(|above| above <= 1.0 + AT_FLOOR)
}

/// Whether floor and mean cost differ: neither interval comes within 10 % of the other.
pub(super) fn heavy_tail(floor: Option<(f64, f64)>, mean: Option<(f64, f64)>) -> Option<Flag> {
    let ((low, high), (mean_low, mean_high)) = floor.zip(mean)?;
    let beyond = mean_low > high * (1.0 + DIFFERENT) || mean_high < low / (1.0 + DIFFERENT);
    beyond.then_some(Flag::HeavyTail)
}

/// Whether rounds resemble the rounds before them, which makes the interval too narrow.
pub(super) fn autocorrelated(correlation: Option<f64>, rounds: usize) -> Option<Flag> {
    let is = correlation.is_some_and(|own| stats::is_autocorrelated(own, rounds));
    is.then_some(Flag::Autocorrelated)
}

fn quantile(blocks: &[&Block], q: f64, of: impl Fn(&Block) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = blocks.iter().filter_map(|block| of(block)).collect();
    stats::quantile(&values, q)
}

/// Whether the wait for a CPU was usually longer than in the least disturbed blocks. The wait in
/// those is for the probe's own peers or for a tracer, and belongs to the operation.
fn contended(blocks: &[&Block]) -> bool {
    let usual = quantile(blocks, 0.5, wait_share);
    let inherent = quantile(blocks, 0.1, wait_share);
    usual.zip(inherent).is_some_and(|(usual, inherent)| usual - inherent > WAIT_SHARE)
}

/// Part of a block in which its worker waited for a CPU.
pub(super) fn wait_share(block: &Block) -> Option<f64> {
    let time = block.set.end_ns.saturating_sub(block.set.start_ns).max(1);
    Some(block.set.usage.run_queue_wait_ns? as f64 / time as f64)
}

/// Whether an operation of this environment causes other numbers of events than the reference's,
/// among events that both count.
pub(super) fn different_work(
    (own, counted): (&CellData<'_>, Counted),
    (base, base_counted): (&CellData<'_>, Counted),
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
    fn means_far_outside_the_floors_interval_are_a_tail() {
        let floor = Some((0.98, 1.02));
        assert_eq!(heavy_tail(floor, Some((1.05, 1.3))), None, "it may be the same");
        assert_eq!(heavy_tail(floor, Some((1.15, 1.3))), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(floor, Some((0.7, 0.85))), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(None, Some((2.0, 3.0))), None);
        assert_eq!(heavy_tail(floor, None), None);
    }
}
