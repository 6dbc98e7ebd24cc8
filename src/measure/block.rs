//! One block: a discarded sample, then timed samples of a fixed number of iterations.

use anyhow::{Result, ensure};

use crate::model::SampleSet;
use crate::sys;

/// Phases one probe may time apart.
pub const MAX_PHASES: usize = 4;

/// What a probe prepared: the operation and what surrounds it. Dropping it cleans up.
///
/// The virtual call is made once a sample; the loop over iterations is inside `run`.
pub trait Workload {
    /// Makes `iterations` possible; not timed.
    fn before_sample(&mut self, _iterations: u64) -> Result<()> {
        Ok(())
    }

    /// Does the operation `iterations` times and returns how often it was really done.
    ///
    /// With several phases, ends each of them with `watch.lap(phase)`; the last one may be left to
    /// the caller, who gives it the time until the return.
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64>;

    /// Removes what the sample left behind; not timed.
    fn after_sample(&mut self) -> Result<()> {
        Ok(())
    }

    /// The most iterations that one sample can hold (descriptors, memory).
    fn max_iterations(&self) -> u64 {
        u64::MAX
    }
}

/// Time of the current sample by phase, in ns.
#[derive(Default)]
pub struct Stopwatch {
    last: u64,
    slots: [u64; MAX_PHASES],
}

impl Stopwatch {
    fn start(&mut self) {
        self.slots = [0; MAX_PHASES];
        self.last = sys::now_ns();
    }

    /// Adds the time since the start or the last lap to `phase`.
    #[inline]
    pub fn lap(&mut self, phase: usize) {
        let now = sys::now_ns();
        self.slots[phase] += now.saturating_sub(self.last);
        self.last = now;
    }

    fn total(&self) -> u64 {
        self.slots.iter().sum()
    }
}

/// How large a block is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSettings {
    pub phases: usize,
    pub iterations: u64,
    /// Samples kept; one more is taken first and discarded.
    pub samples: usize,
    /// No further sample is started after this long, once one was kept.
    pub limit_ns: u64,
    /// Share of iterations done beyond those reported; zero but for planted slowdowns.
    pub extra_work: f64,
}

/// Times one sample: the phases' times are in `watch` afterwards.
pub(super) fn run_sample(
    workload: &mut dyn Workload,
    settings: &BlockSettings,
    watch: &mut Stopwatch,
) -> Result<()> {
    let extra = (settings.iterations as f64 * settings.extra_work).round() as u64;
    let iterations = settings.iterations + extra;
    workload.before_sample(iterations)?;
    watch.start();
    let done = workload.run(iterations, watch)?;
    watch.lap(settings.phases - 1);
    workload.after_sample()?;
    ensure!(done == iterations, "did {done} of {iterations} iterations");
    Ok(())
}

/// Runs one block and returns its samples; whether it was pinned is the worker's to add.
pub fn run_block(workload: &mut dyn Workload, settings: &BlockSettings) -> Result<SampleSet> {
    let mut samples = vec![Vec::with_capacity(settings.samples); settings.phases];
    let mut watch = Stopwatch::default();
    run_sample(workload, settings, &mut watch)?;
    let before = sys::usage();
    let start_ns = sys::now_ns();
    let mut end_ns = start_ns;
    for taken in 0..settings.samples {
        if taken > 0 && end_ns.saturating_sub(start_ns) > settings.limit_ns {
            break;
        }
        run_sample(workload, settings, &mut watch)?;
        for (phase, list) in samples.iter_mut().enumerate() {
            list.push(watch.slots[phase]);
        }
        end_ns = watch.last;
    }
    Ok(SampleSet {
        iterations: settings.iterations,
        samples,
        start_ns,
        end_ns,
        pinned: false,
        usage: sys::usage().since(&before),
    })
}

/// Time of one sample in ns, all phases together.
pub(super) fn sample_time(workload: &mut dyn Workload, settings: &BlockSettings) -> Result<u64> {
    let mut watch = Stopwatch::default();
    run_sample(workload, settings, &mut watch)?;
    Ok(watch.total())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spins for a known time an iteration, and can claim less than it was asked for.
    struct Spin {
        ns: u64,
        claim: u64,
        total: u64,
    }

    impl Workload for Spin {
        fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
            self.total += iterations;
            for phase in [0, 1] {
                let start = sys::now_ns();
                while sys::now_ns() - start < self.ns * iterations {}
                if phase == 0 {
                    watch.lap(0);
                }
            }
            Ok(iterations.min(self.claim))
        }
    }

    fn settings(samples: usize) -> BlockSettings {
        BlockSettings { phases: 2, iterations: 10, samples, limit_ns: u64::MAX, extra_work: 0.0 }
    }

    #[test]
    fn every_phase_gets_its_own_time() {
        let mut spin = Spin { ns: 1000, claim: u64::MAX, total: 0 };
        let block = run_block(&mut spin, &settings(5)).unwrap();
        assert_eq!(block.iterations, 10);
        assert_eq!(spin.total, 60, "five samples and the discarded one");
        for phase in &block.samples {
            assert_eq!(phase.len(), 5);
            assert!(phase.iter().all(|ns| *ns >= 10_000));
        }
        assert!(block.end_ns - block.start_ns >= 100_000);
    }

    #[test]
    fn work_that_was_not_done_is_an_error() {
        let mut lazy = Spin { ns: 1, claim: 9, total: 0 };
        let error = run_block(&mut lazy, &settings(2)).unwrap_err();
        assert_eq!(error.to_string(), "did 9 of 10 iterations");
    }

    #[test]
    fn a_block_over_its_limit_keeps_at_least_one_sample() {
        let mut slow = Spin { ns: 1000, claim: u64::MAX, total: 0 };
        let block = run_block(&mut slow, &BlockSettings { limit_ns: 0, ..settings(50) }).unwrap();
        assert_eq!(block.samples[0].len(), 1);
    }

    #[test]
    fn extra_work_is_done_and_not_reported() {
        let mut spin = Spin { ns: 1, claim: u64::MAX, total: 0 };
        let planted = BlockSettings { extra_work: 0.1, ..settings(1) };
        assert_eq!(run_block(&mut spin, &planted).unwrap().iterations, 10);
        assert_eq!(spin.total, 22);
    }
}
