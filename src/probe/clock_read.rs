//! What reading a clock costs, and how fine the clock is.

use std::hint::black_box;

use anyhow::Result;

use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Extras, Phase, Quantity};
use crate::sys;

pub struct ClockRead;

static INFO: ProbeInfo = ProbeInfo {
    id: "clock.read",
    summary: "one reading of a clock, and the clock's resolution",
    timed: "clock_gettime through the C library, which uses the vDSO where the environment \
             provides one that knows the clock; the conversion to nanoseconds is included. \
             `cputime` is the CPU time of the process, for which the library has to ask the \
             kernel.",
    excluded: "`resolution` is not timed: it is the smallest step greater than zero between two \
             readings in a row, of up to 10,000 before the first sample. It cannot be finer than \
             the time of a reading. Readings earlier than the one before are counted.",
    unit: "reading",
    source: "perf bench; the cost varies from 20 ns to 15 us between environments \
             (docs/METHODOLOGY.md, Clocks)",
    phases: &[Phase::timed(""), Phase::figure("resolution", Quantity::Time)],
    params: &[Param::one_of(
        "clock",
        &["monotonic", "monotonicraw", "realtime", "boottime", "cputime"],
    )],
    cases: &[
        "clock=monotonic",
        "clock=monotonicraw",
        "clock=realtime",
        "clock=boottime",
        "clock=cputime",
    ],
    on_files: false,
};

/// Readings of which each step is looked at, and the time limit for them: a reading may take 15 us.
const READINGS: u64 = 10_000;
const LOOK_NS: u64 = 2_000_000;
/// Time for which a clock that does not move is read: more than one tick at 64 Hz.
const LONG_LOOK_NS: u64 = 50_000_000;
/// Readings between two checks of the time limit.
const BATCH: u64 = 100;

struct Read {
    clock: sys::Clock,
    steps: Steps,
}

/// The steps between readings in a row.
#[derive(Debug, Default)]
struct Steps {
    readings: u64,
    /// Readings earlier than the one before.
    back: u64,
    /// Smallest step forward in ns; zero when there was none.
    smallest: u64,
}

impl Steps {
    /// Takes one more reading into account.
    fn of(mut read: impl FnMut() -> u64) -> Steps {
        let mut steps = Steps::default();
        let start = sys::now_ns();
        let mut last = read();
        loop {
            for _ in 0..BATCH {
                let now = read();
                match now.checked_sub(last) {
                    Some(0) => {}
                    Some(step) if steps.smallest == 0 => steps.smallest = step,
                    Some(step) => steps.smallest = steps.smallest.min(step),
                    None => steps.back += 1,
                }
                last = now;
            }
            steps.readings += BATCH;
            let enough = steps.readings >= READINGS;
            let spent = sys::now_ns().saturating_sub(start);
            let limit = if steps.smallest == 0 { LONG_LOOK_NS } else { LOOK_NS };
            if spent >= limit || (enough && steps.smallest > 0) {
                return steps;
            }
        }
    }
}

impl Probe for ClockRead {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let name = setup.param("clock")?;
        let clock = sys::Clock::open(name).map_err(|error| {
            let text = "the environment does not have this clock";
            CannotMeasure(format!("{text} ({error}); leave `clock={name}` out"))
        })?;
        Ok(Box::new(Read { clock, steps: Steps::of(|| clock.now_ns()) }))
    }
}

impl Workload for Read {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            black_box(self.clock.now_ns());
        }
        watch.put(1, self.steps.smallest as f64);
        Ok(iterations)
    }

    fn extras(&mut self) -> Result<Extras> {
        let counters =
            [("clock_steps_back", self.steps.back), ("clock_readings", self.steps.readings)];
        let mut notes = Vec::new();
        if self.steps.smallest == 0 {
            notes.push("the clock did not move within 50 ms: its resolution is unknown".to_owned());
        }
        let counters = counters.map(|(name, count)| (name.to_owned(), count)).into();
        Ok(Extras { notes, counters, ..Extras::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_in_either_direction() {
        let mut readings = [10, 10, 25, 20, 27].into_iter().chain(std::iter::repeat(27));
        let steps = Steps::of(|| readings.next().unwrap());
        assert_eq!((steps.back, steps.smallest), (1, 7));
        assert!(steps.readings >= BATCH && steps.readings <= READINGS);
    }

    #[test]
    fn a_clock_that_stands_still_is_given_up() {
        let steps = Steps::of(|| 5);
        assert_eq!((steps.back, steps.smallest), (0, 0));
        let mut read = Read { clock: sys::Clock::open("monotonic").unwrap(), steps };
        assert_eq!(read.extras().unwrap().notes.len(), 1);
    }
}
