//! The block sizes of a case in each environment: tunes them, and uses the reference's size where
//! it is similar.

use std::time::Instant;

use super::{Driver, Stop};
use crate::protocol::{Answer, Ask, BlockSize, Tuning};
use crate::runfile::{OutcomeState, Record, Tuned};

/// A block lasts about this long and has about this many samples (docs/METHODOLOGY.md, A round).
const BLOCK_NS: f64 = 10e6;
const SAMPLES: f64 = 20.0;
/// The least number of samples of a block, as far as the time limit allows.
const FEWEST_SAMPLES: f64 = 10.0;
/// The time limit of a block of slow operations.
const BLOCK_LIMIT_NS: u64 = 100_000_000;
/// The block of a whole command: one run.
const ONE_RUN: BlockSize = BlockSize { iterations: 1, samples: 1, discard: false, limit_ns: 0 };
/// Environments share a block size if their own sample sizes differ by this factor at most.
const LIKE: f64 = 2.0;

impl Driver<'_> {
    /// Finds the block size of every case in every environment. Like starting environments, this
    /// does not count on the budget, because a slow environment would leave nothing of it.
    pub(super) fn prepare(&mut self) -> Result<(), Stop> {
        for index in 0..self.plan.cases.len() {
            let draw = self.order.for_tuning();
            for slot in 0..self.slots.len() {
                if let Some((state, why)) = self.obstacle(index, slot) {
                    self.outcome(index, slot, state, why)?;
                    continue;
                }
                if self.plan.cases[index].is_command() {
                    self.cases[index].cells[slot].size = Some(ONE_RUN);
                    continue;
                }
                self.place_launcher(index, slot, &draw);
                let sample_ns = self.slots[slot].sample_ns;
                let ask = Ask::Tune { task: self.task(index, slot, &draw), sample_ns };
                let Some(answer) = self.ask(index, slot, ask)? else { continue };
                let tuning = match answer {
                    Answer::Tuned(tuning) if tuning.iterations > 0 && tuning.each_ns > 0.0 => {
                        tuning
                    }
                    _ => {
                        let reason = "the agent answers tuning with no usable sample size".into();
                        self.outcome(index, slot, OutcomeState::Failed, reason)?;
                        continue;
                    }
                };
                let cell = &mut self.cases[index].cells[slot];
                (cell.size, cell.most) = (Some(block_size(tuning)), tuning.most);
                self.watcher.record(Record::Tuned(Tuned {
                    env: self.slots[slot].spec.name.clone(),
                    case: index,
                    iterations: tuning.iterations,
                    each_ns: tuning.each_ns,
                }))?;
            }
            self.share_size(index);
            self.watcher.preparing(index + 1, self.plan.cases.len());
        }
        self.start = Instant::now();
        Ok(())
    }

    /// Gives the reference's block size to environments that are nearly as fast. The cost of some
    /// operations depends on how many are done at a time (pages that were just returned, files in a
    /// folder): with separately tuned sizes, equal environments differed.
    fn share_size(&mut self, case: usize) {
        let reference = self.reference();
        let state = &mut self.cases[case];
        let Some(common) = reference.and_then(|slot| state.cells[slot].size) else { return };
        for cell in &mut state.cells {
            let Some(size) = &mut cell.size else { continue };
            let (own, other) = (size.iterations as f64, common.iterations as f64);
            if (other / LIKE..=other * LIKE).contains(&own) && common.iterations <= cell.most {
                *size = common;
            }
        }
    }
}

/// The size of the case's blocks, from the time of one iteration.
fn block_size(tuning: Tuning) -> BlockSize {
    let sample_ns = tuning.each_ns * tuning.iterations as f64;
    let samples = (BLOCK_NS / sample_ns.max(1.0)).round().clamp(FEWEST_SAMPLES, SAMPLES);
    BlockSize {
        iterations: tuning.iterations,
        samples: samples as usize,
        // A sample that is longer than a block is warm after its own first part, and doing it twice
        // costs too much.
        discard: sample_ns < BLOCK_LIMIT_NS as f64,
        limit_ns: BLOCK_LIMIT_NS,
    }
}
