//! Forks a child that exits at once, and reaps it.

use anyhow::{Result, ensure};

use super::{Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;

pub struct ProcessFork;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.fork",
    summary: "fork a child that exits at once, and reap it",
    timed: "Two phases, both seen from the parent. `create`: from before fork until it returns in \
            the parent. `reap`: from there until waitpid has returned, which contains the child's \
            first run and its exit. Parent and child share one CPU.",
    excluded: "The worker's own start. The parent is small (below 2 MiB resident), so the figure \
             is the least that a fork costs: a parent with more written memory also copies more \
             page tables.",
    unit: "process",
    source: "lmbench lat_proc fork; osbench create_processes; \"A rough comparison of the \
             performance of WSL and guest and native Ubuntu\" (2017), which times creation only",
    phases: &[Phase::timed("create"), Phase::timed("reap")],
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for ProcessFork {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(ProcessFork))
    }
}

impl Workload for ProcessFork {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let child = sys::fork_exiting()?;
            watch.lap(0);
            let status = sys::reap(child)?;
            watch.lap(1);
            ensure!(status == 0, "a forked child ended with status {status}");
        }
        Ok(iterations)
    }
}
