//! What asking for the time costs.

use std::hint::black_box;

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct ClockRead;

static INFO: ProbeInfo = ProbeInfo {
    id: "clock.read",
    summary: "one reading of the monotonic clock",
    timed: "clock_gettime(CLOCK_MONOTONIC) through the C library, which uses the vDSO where the \
            environment provides one; the conversion to nanoseconds is included.",
    excluded: "Nothing.",
    unit: "reading",
    source: "perf bench; the cost varies from 20 ns to 15 us between environments",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for ClockRead {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(ClockRead))
    }
}

impl Workload for ClockRead {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            black_box(sys::now_ns());
        }
        Ok(iterations)
    }
}
