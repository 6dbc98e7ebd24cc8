//! What makes a single figure doubtful. A flag never removes a figure: it stands beside it.

use serde::Serialize;

use super::Tax;
use crate::model::{PlannedCase, Usage};
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
        }
    }
}

/// Share of time waiting for a CPU above which a cell is contended (METHOD 1.14).
const WAIT_SHARE: f64 = 0.05;
/// Difference above which events or means count as different.
const DIFFERENT: f64 = 0.10;
/// Events an iteration below which they are noise of the block, not of the operation.
const FEW_EVENTS: f64 = 0.1;

/// Flags that a cell's blocks show, against the reference's blocks where there are some.
pub fn of_blocks(
    planned: &PlannedCase,
    cost_ns: f64,
    blocks: &[&Block],
    base: Option<&[&Block]>,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if cost_ns < 1.0 && planned.case.probe != "null" {
        flags.push(Flag::OptimisedAway);
    }
    if contended(blocks) {
        flags.push(Flag::Contended);
    }
    if base.is_some_and(|base| different_work(blocks, base)) {
        flags.push(Flag::DifferentWork);
    }
    if blocks.iter().any(|block| block.cpu.is_some() && !block.set.pinned) {
        flags.push(Flag::NotPinned);
    }
    flags
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

fn different_work(blocks: &[&Block], base: &[&Block]) -> bool {
    let events: [fn(&Usage) -> u64; 2] = [|u| u.minor_faults, |u| u.voluntary_switches];
    events.iter().any(|event| {
        let each = |block: &Block| {
            let set = &block.set;
            // Usage spans the discarded sample as well.
            let samples = set.samples.first().map_or(0, Vec::len) + 1;
            Some(event(&set.usage) as f64 / (samples as u64 * set.iterations) as f64)
        };
        match (quantile(blocks, 0.5, each), quantile(base, 0.5, each)) {
            // An environment that counts nothing (gVisor) says nothing about its work.
            (Some(own), Some(other)) if own > 0.0 && other > 0.0 => {
                let large = own.max(other) > FEW_EVENTS;
                large && (own / other - 1.0).abs().max((other / own - 1.0).abs()) > DIFFERENT
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Verdict;
    use crate::model::{Case, Params, SampleSet};

    fn block(faults: u64, wait_ns: u64, pinned: bool) -> Block {
        Block {
            env: "e".into(),
            case: 0,
            round: 1,
            place: 0,
            cpu: Some(0),
            asked_ns: 0,
            outer_ns: 0,
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
            },
        }
    }

    fn flags(cost_ns: f64, own: Block, base: Block) -> Vec<Flag> {
        flags_of(cost_ns, &[&own], &[&base])
    }

    fn flags_of(cost_ns: f64, own: &[&Block], base: &[&Block]) -> Vec<Flag> {
        let planned = PlannedCase {
            case: Case { probe: "x.y".into(), params: Params::default(), dir: None },
            phases: vec![String::new()],
            unit: "call".into(),
        };
        of_blocks(&planned, cost_ns, own, Some(base))
    }

    #[test]
    fn each_flag_has_its_cause() {
        assert_eq!(flags(10.0, block(100, 0, true), block(100, 0, true)), []);
        assert_eq!(flags(0.9, block(100, 0, true), block(100, 0, true)), [Flag::OptimisedAway]);
        let (calm, waiting) = (block(100, 300, true), block(100, 400, true));
        let base = block(100, 0, true);
        let own = [&calm, &waiting, &waiting, &waiting];
        assert_eq!(flags_of(10.0, &own, &[&base]), [Flag::Contended]);
        assert_eq!(flags_of(10.0, &[&calm, &calm], &[&base]), [], "the probe's own waiting");
        assert_eq!(flags(10.0, block(120, 0, true), block(100, 0, true)), [Flag::DifferentWork]);
        assert_eq!(flags(10.0, block(100, 0, true), block(120, 0, true)), [Flag::DifferentWork]);
        assert_eq!(flags(10.0, block(2, 0, true), block(1, 0, true)), [], "too few to count");
        assert_eq!(flags(10.0, block(0, 0, true), block(100, 0, true)), [], "nothing is counted");
        assert_eq!(flags(10.0, block(100, 0, false), block(100, 0, true)), [Flag::NotPinned]);
    }

    #[test]
    fn means_far_outside_the_interval_are_a_tail() {
        let tax = |all_in_ratio| Tax {
            ratio: 1.0,
            interval: Some((0.98, 1.02)),
            all_in_ratio,
            difference_ns: 0.0,
            verdict: Verdict::Same,
        };
        assert_eq!(heavy_tail(&tax(1.05)), None);
        assert_eq!(heavy_tail(&tax(1.2)), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(&tax(0.8)), Some(Flag::HeavyTail));
        assert_eq!(heavy_tail(&Tax { interval: None, ..tax(2.0) }), None);
    }
}
