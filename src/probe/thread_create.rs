//! Creates a thread that returns at once, and joins it.

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;

pub struct ThreadCreate;

static INFO: ProbeInfo = ProbeInfo {
    id: "thread.create",
    summary: "create a thread that returns at once, and join it",
    timed: "Two phases. `create`: pthread_create until it returns. `join`: pthread_join, which \
            contains the thread's run and exit. Both share one CPU.",
    excluded: "Nothing. The C library of the static build (musl) maps a new stack for each thread \
               and unmaps it; glibc keeps stacks for reuse and is faster at this.",
    unit: "thread",
    source: "osbench create_threads; \"A rough comparison of the performance of WSL and guest \
             and native Ubuntu\" (2017), which times creation only",
    phases: &[Phase::timed("create"), Phase::timed("join")],
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for ThreadCreate {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(ThreadCreate))
    }
}

impl Workload for ThreadCreate {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let thread = sys::start_thread()?;
            watch.lap(0);
            thread.join()?;
            watch.lap(1);
        }
        Ok(iterations)
    }
}
