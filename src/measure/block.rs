//! One block: a discarded sample, then timed samples of a fixed number of iterations.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};

use crate::model::{Extras, Phase, SampleSet};
use crate::sys::{self, Copies};

/// Most phases of one probe.
pub const MAX_PHASES: usize = 8;

/// What a probe prepared: the operation and the steps around it. Dropping it cleans up.
///
/// The virtual call is made once a sample; the loop over iterations is inside `run`.
pub trait Workload {
    /// Prepares `iterations`; not timed.
    fn before_sample(&mut self, _iterations: u64) -> Result<()> {
        Ok(())
    }

    /// Does the operation `iterations` times and returns how often it was done.
    ///
    /// With several phases, ends each of them with `watch.lap(phase)`. The last lap may be left to
    /// the caller, who gives that phase the time until the return.
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64>;

    /// Removes what the sample left behind; not timed.
    fn after_sample(&mut self) -> Result<()> {
        Ok(())
    }

    /// Smallest and largest number of iterations in one sample (limited by descriptors or memory).
    /// Both are equal where the number defines the operation, such as a whole file or `n` processes
    /// at a time.
    fn iterations(&self) -> RangeInclusive<u64> {
        1..=u64::MAX
    }

    /// What the block reports beside its samples; called once, after the last sample.
    fn extras(&mut self) -> Result<Extras> {
        Ok(Extras::default())
    }
}

/// Figures of the current sample by phase.
#[derive(Default)]
pub struct Stopwatch {
    last: u64,
    /// Ns of each timed phase.
    slots: [u64; MAX_PHASES],
    /// The figures that the probe gave for the other phases, of one iteration.
    figures: [f64; MAX_PHASES],
}

impl Stopwatch {
    fn start(&mut self) {
        self.slots = [0; MAX_PHASES];
        self.figures = [0.0; MAX_PHASES];
        self.last = sys::now_ns();
    }

    /// Starts the current phase anew: what was done since the last lap does not count.
    #[inline]
    pub fn skip(&mut self) {
        self.last = sys::now_ns();
    }

    /// Sets the figure, of one iteration, of a phase that is not timed. A figure that is zero, or
    /// never set, is unknown.
    pub fn put(&mut self, phase: usize, figure: f64) {
        self.figures[phase] = figure;
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

    fn sample(&self, phase: usize, iterations: u64) -> u64 {
        self.slots[phase] + (self.figures[phase] * iterations as f64).round() as u64
    }
}

/// The size of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSettings {
    /// Phases in all, and how many of them, the first ones, are timed.
    pub phases: usize,
    pub timed: usize,
    pub iterations: u64,
    /// Samples that are kept.
    pub samples: usize,
    /// One more sample is taken first and discarded.
    pub discard: bool,
    /// No further sample is started after this time, once one was kept.
    pub limit_ns: u64,
    /// Iterations done beyond those reported, as a share; zero except for planted slowdowns.
    pub extra_work: f64,
}

impl BlockSettings {
    /// One sample of one iteration and no limit, for these phases.
    pub fn of(phases: &[Phase]) -> BlockSettings {
        BlockSettings {
            phases: phases.len(),
            timed: phases.iter().filter(|phase| phase.timed).count(),
            iterations: 1,
            samples: 1,
            discard: true,
            limit_ns: u64::MAX,
            extra_work: 0.0,
        }
    }
}

/// Times one sample; the phases' times are in `watch` afterwards.
pub(super) fn run_sample(
    workload: &mut dyn Workload,
    settings: &BlockSettings,
    copies: Option<&Copies>,
    watch: &mut Stopwatch,
) -> Result<()> {
    let extra = (settings.iterations as f64 * settings.extra_work).round() as u64;
    let iterations = settings.iterations + extra;
    workload.before_sample(iterations)?;
    copies.map_or(Ok(()), Copies::meet)?;
    watch.start();
    let done = workload.run(iterations, watch)?;
    watch.lap(settings.timed - 1);
    workload.after_sample()?;
    ensure!(done == iterations, "did {done} of {iterations} iterations");
    Ok(())
}

/// Runs one block and returns its samples; the worker adds whether it was pinned. Where several
/// copies run, their samples begin together, and the leader's samples are the means of all copies'.
pub fn run_block(
    workload: &mut dyn Workload,
    settings: &BlockSettings,
    copies: Option<&Copies>,
) -> Result<SampleSet> {
    let mut samples = vec![Vec::with_capacity(settings.samples); settings.phases];
    let mut watch = Stopwatch::default();
    if settings.discard {
        run_sample(workload, settings, copies, &mut watch)?;
    }
    let before = sys::usage();
    let start_ns = sys::now_ns();
    let mut end_ns = start_ns;
    for taken in 0..settings.samples {
        let more = taken == 0 || end_ns.saturating_sub(start_ns) <= settings.limit_ns;
        if !copies.map_or(Ok(more), |copies| copies.agree(more))? {
            break;
        }
        run_sample(workload, settings, copies, &mut watch)?;
        for (phase, list) in samples.iter_mut().enumerate() {
            let own = watch.sample(phase, settings.iterations);
            list.push(own);
            copies.inspect(|copies| copies.set(phase * settings.samples + taken, own));
        }
        end_ns = watch.last;
    }
    let usage = sys::usage().since(&before);
    if let Some(copies) = copies {
        copies.meet()?;
        for (phase, list) in samples.iter_mut().enumerate() {
            for (taken, sample) in list.iter_mut().enumerate() {
                *sample = copies.mean(phase * settings.samples + taken);
            }
        }
    }
    Ok(SampleSet {
        iterations: settings.iterations,
        samples,
        start_ns,
        end_ns,
        pinned: false,
        usage,
        extras: workload.extras()?,
    })
}

/// Time of one sample in ns, all phases together.
pub(super) fn sample_time(workload: &mut dyn Workload, settings: &BlockSettings) -> Result<u64> {
    let mut watch = Stopwatch::default();
    run_sample(workload, settings, None, &mut watch)?;
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
        let phases = [Phase::timed("a"), Phase::timed("b")];
        BlockSettings { iterations: 10, samples, ..BlockSettings::of(&phases) }
    }

    /// Gives a figure beside its time.
    struct Weigh;

    impl Workload for Weigh {
        fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
            watch.put(1, 12.5);
            Ok(iterations)
        }

        fn extras(&mut self) -> Result<Extras> {
            Ok(Extras { notes: vec!["weighed".into()], ..Extras::default() })
        }
    }

    #[test]
    fn figures_stand_beside_times() {
        use crate::model::Quantity;
        let phases = [Phase::timed("t"), Phase::figure("w", Quantity::Bytes)];
        let settings = BlockSettings { iterations: 10, samples: 2, ..BlockSettings::of(&phases) };
        let block = run_block(&mut Weigh, &settings, None).unwrap();
        assert_eq!(block.samples[1], [125, 125]);
        assert_eq!(block.extras.notes, ["weighed"]);
    }

    #[test]
    fn every_phase_gets_its_own_time() {
        let mut spin = Spin { ns: 1000, claim: u64::MAX, total: 0 };
        let block = run_block(&mut spin, &settings(5), None).unwrap();
        assert_eq!(block.iterations, 10);
        assert_eq!(spin.total, 60, "five samples and the discarded one");
        let kept = BlockSettings { discard: false, ..settings(5) };
        run_block(&mut spin, &kept, None).unwrap();
        assert_eq!(spin.total, 110, "nothing is discarded where samples are long");
        for phase in &block.samples {
            assert_eq!(phase.len(), 5);
            assert!(phase.iter().all(|ns| *ns >= 10_000));
        }
        assert!(block.end_ns - block.start_ns >= 100_000);
    }

    #[test]
    fn work_that_was_not_done_is_an_error() {
        let mut lazy = Spin { ns: 1, claim: 9, total: 0 };
        let error = run_block(&mut lazy, &settings(2), None).unwrap_err();
        assert_eq!(error.to_string(), "did 9 of 10 iterations");
    }

    #[test]
    fn a_block_over_its_limit_keeps_at_least_one_sample() {
        let mut slow = Spin { ns: 1000, claim: u64::MAX, total: 0 };
        let block =
            run_block(&mut slow, &BlockSettings { limit_ns: 0, ..settings(50) }, None).unwrap();
        assert_eq!(block.samples[0].len(), 1);
    }

    #[test]
    fn extra_work_is_done_and_not_reported() {
        let mut spin = Spin { ns: 1, claim: u64::MAX, total: 0 };
        let planted = BlockSettings { extra_work: 0.1, ..settings(1) };
        assert_eq!(run_block(&mut spin, &planted, None).unwrap().iterations, 10);
        assert_eq!(spin.total, 22);
    }
}
