//! An empty operation: what the measuring loop itself costs.

use std::hint::black_box;

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};

pub struct Null;

static INFO: ProbeInfo = ProbeInfo {
    id: "null",
    summary: "an empty loop: what the measuring loop itself costs",
    timed: "A loop whose body the compiler may not remove and that does nothing.",
    excluded: "Nothing. Every other figure contains this cost; it is not subtracted.",
    unit: "iteration",
    source: "fio's null engine, which measures fio itself",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for Null {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Null))
    }
}

impl Workload for Null {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for i in 0..iterations {
            black_box(i);
        }
        Ok(iterations)
    }
}
