//! Measures the clock, and finds how many iterations a sample needs for the clock not to matter.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::block::{BlockSettings, Workload, sample_time};
use crate::model::{ClockFacts, Phase};
use crate::sys;

/// Shortest sample, in ns: a block of 10 ms then has 20 samples (docs/METHODOLOGY.md, "A round").
const SAMPLE_NS: f64 = 500_000.0;
/// Shortest sample, in readings of the clock.
const CLOCK_COSTS: f64 = 200.0;
/// Shortest sample, in steps of the clock.
const CLOCK_STEPS: f64 = 1000.0;
/// Tuning does not repeat a sample of this length, in ns.
const LONG_NS: f64 = 50e6;
/// Most iterations that tuning tries; no operation needs more.
const MAX_ITERATIONS: u64 = 1 << 40;

/// A clock whose reading costs more ns is read by a system call, permanently or only at first.
const SLOW_NS: f64 = 1000.0;
/// A clock whose reading costs more than this many times the known cost has not settled yet.
const UNSETTLED: f64 = 2.0;
/// Time that a slow clock is given to settle. gVisor reads its clock by a system call, at 30 to 75
/// µs, until its kernel has compared it with the machine's clock twice, a second apart.
const SETTLING: Duration = Duration::from_millis(1500);

/// Measures the clock once it has settled. The sizes of samples and the doubts about their length
/// depend on the result, so it must hold for more than the environment's first moments.
///
/// `known_ns` is the cost of a reading in an earlier start of the environment, if there was one.
pub fn settled_clock(known_ns: Option<f64>) -> ClockFacts {
    settled(known_ns, SETTLING, calibrate_clock)
}

fn settled(
    known_ns: Option<f64>,
    limit: Duration,
    mut calibrate: impl FnMut() -> ClockFacts,
) -> ClockFacts {
    let begin = Instant::now();
    let settled_ns = known_ns.map_or(SLOW_NS, |known| (known * UNSETTLED).max(SLOW_NS));
    loop {
        let clock = calibrate();
        if clock.cost_ns <= settled_ns || begin.elapsed() >= limit {
            return clock;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Measures the clock in 50 batches of 200 readings, and looks at every step between readings; in
/// fewer batches where these take long.
pub fn calibrate_clock() -> ClockFacts {
    const BATCHES: usize = 50;
    const FEWEST: usize = 5;
    const READINGS: u64 = 200;
    const LONG_NS: u64 = 100_000_000;
    let mut costs = Vec::with_capacity(BATCHES);
    let mut granularity = u64::MAX;
    let mut backward_steps = 0;
    let begin = sys::now_ns();
    while costs.len() < BATCHES {
        let start = sys::now_ns();
        let mut last = start;
        for _ in 0..READINGS {
            let now = sys::now_ns();
            match now.checked_sub(last) {
                Some(0) => {}
                Some(step) => granularity = granularity.min(step),
                None => backward_steps += 1,
            }
            last = now;
        }
        costs.push(last.saturating_sub(start) as f64 / READINGS as f64);
        if costs.len() >= FEWEST && last.saturating_sub(begin) > LONG_NS {
            break;
        }
    }
    costs.sort_by(f64::total_cmp);
    ClockFacts {
        name: sys::CLOCK_NAME.to_owned(),
        cost_ns: costs[costs.len() / 2],
        granularity_ns: if granularity == u64::MAX { 0 } else { granularity },
        backward_steps,
        readings: costs.len() as u64 * READINGS,
    }
}

/// Shortest sample in ns that this clock can time.
pub fn shortest_sample_ns(clock: &ClockFacts) -> f64 {
    let by_cost = CLOCK_COSTS * clock.cost_ns;
    let by_step = CLOCK_STEPS * clock.granularity_ns as f64;
    // A step as long as a reading comes from the reading, not from the clock's resolution.
    let by_step = if clock.granularity_ns as f64 > 2.0 * clock.cost_ns { by_step } else { 0.0 };
    SAMPLE_NS.max(by_cost).max(by_step)
}

/// The result of tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSize {
    pub iterations: u64,
    /// Ns of one iteration, all timed phases together: the least that was seen.
    pub each_ns: f64,
    /// The most iterations that the workload can do in one sample.
    pub most: u64,
}

/// Finds the iterations of a sample that lasts at least `target_ns` and is no shorter than any
/// sample may be: by doubling, then by proportion. Iterations that are long are timed once.
pub fn tune(workload: &mut dyn Workload, phases: &[Phase], target_ns: f64) -> Result<SampleSize> {
    let target_ns = target_ns.max(SAMPLE_NS);
    let range = workload.iterations();
    let most = (*range.end()).min(MAX_ITERATIONS);
    let time = |workload: &mut dyn Workload, iterations: u64| -> Result<f64> {
        let settings = BlockSettings { iterations, ..BlockSettings::of(phases) };
        Ok(sample_time(workload, &settings)?.max(1) as f64)
    };
    let mut iterations = (*range.start()).max(1);
    let mut taken = time(workload, iterations)?;
    if taken < LONG_NS {
        taken = taken.min(time(workload, iterations)?);
        while taken < target_ns / 4.0 && iterations < most {
            iterations = (iterations * 2).min(most);
            taken = time(workload, iterations)?;
        }
        for _ in 0..2 {
            taken = taken.min(time(workload, iterations)?);
        }
    }
    let each_ns = taken / iterations as f64;
    let wanted = (target_ns / each_ns).ceil().max(1.0) as u64;
    Ok(SampleSize { iterations: wanted.clamp((*range.start()).max(1), most), each_ns, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Stopwatch;

    struct Spin(u64);

    impl Workload for Spin {
        fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
            let start = sys::now_ns();
            while sys::now_ns() - start < self.0 * iterations {}
            Ok(iterations)
        }

        fn iterations(&self) -> std::ops::RangeInclusive<u64> {
            1..=1000
        }
    }

    #[test]
    fn the_sample_is_long_enough_and_bounded() {
        let tune = |ns, target| tune(&mut Spin(ns), &[Phase::timed("")], target).unwrap();
        let size = tune(10_000, 500_000.0);
        assert!(size.each_ns >= 10_000.0);
        assert!(size.iterations as f64 * size.each_ns >= 500_000.0);
        let bounded = tune(100, 1e15);
        assert_eq!((bounded.iterations, bounded.most), (1000, 1000), "the workload's bound");
        assert_eq!(tune(600_000, 500_000.0).iterations, 1);
    }

    #[test]
    fn a_slow_or_coarse_clock_asks_for_longer_samples() {
        let clock = |cost_ns, granularity_ns| ClockFacts {
            cost_ns,
            granularity_ns,
            ..ClockFacts::default()
        };
        assert_eq!(shortest_sample_ns(&clock(22.0, 20)), 500_000.0);
        assert_eq!(shortest_sample_ns(&clock(15_000.0, 15_000)), 3_000_000.0);
        assert_eq!(shortest_sample_ns(&clock(80.0, 15_625_000)), 15_625_000_000.0);
    }

    #[test]
    fn a_clock_is_waited_for_until_it_is_what_it_will_be() {
        let asked = std::cell::Cell::new(0);
        let costs = |costs: &'static [f64]| {
            asked.set(0);
            let asked = &asked;
            move || {
                let cost_ns = costs[asked.replace(asked.get() + 1).min(costs.len() - 1)];
                ClockFacts { cost_ns, ..ClockFacts::default() }
            }
        };
        let hour = Duration::from_secs(3600);
        let found = settled(None, hour, costs(&[75e3, 75e3, 40.0])).cost_ns;
        assert_eq!((found, asked.get()), (40.0, 3), "as in gVisor");
        assert_eq!(settled(None, hour, costs(&[900.0, 40.0])).cost_ns, 900.0, "not dear");
        assert_eq!(settled(Some(15e3), hour, costs(&[20e3, 40.0])).cost_ns, 20e3, "as known");
        assert_eq!(settled(Some(40.0), hour, costs(&[75e3, 50.0])).cost_ns, 50.0);
        let dear = settled(None, Duration::ZERO, costs(&[15e3])).cost_ns;
        assert_eq!((dear, asked.get()), (15e3, 1), "for good, as in User-mode Linux");
    }

    #[test]
    fn the_clock_is_measured() {
        let clock = calibrate_clock();
        assert!(clock.cost_ns > 0.0);
        assert_eq!(clock.backward_steps, 0);
    }
}
