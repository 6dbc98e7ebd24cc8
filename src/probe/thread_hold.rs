//! Creates many threads that all wait: the time and the memory of one of them.

use anyhow::Result;

use super::{Param, Probe, ProbeInfo, Setup, held};
use crate::measure::Workload;
use crate::sys;

pub struct ThreadHold;

static INFO: ProbeInfo = ProbeInfo {
    id: "thread.hold",
    summary: "create n threads that all wait; memory of one of them",
    timed: "`create`: from before the first pthread_create until the last has returned, by n. All \
            share one CPU, so what threads do before they wait is in it as far as they come to \
            run in between. Not timed, in bytes of one thread: `pss`, proportional set size of \
            the process, in which the touched part of the stacks is; `tables`, `kernel`, \
            `memory`, `available` and `crude` as in process.hold.",
    excluded: "Ending and joining. The stacks are those of the static build's C library (musl: 128 \
               KiB and a guard page, of which a waiting thread has touched one); other \
               libraries reserve more and touch as little. n is lowered, with a note, where a \
               limit asks for it.",
    unit: "thread",
    source: "\"A rough comparison of the performance of WSL and guest and native Ubuntu\" \
             (2017): 1000 threads in pause(), `free` before and after (`crude`)",
    phases: held::PHASES,
    params: &[Param::count("n", 1..=20_000)],
    cases: &["n=100", "n=1000"],
    on_files: false,
};

impl Probe for ThreadHold {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        held::prepare(setup, sys::hold_threads()?, sys::HELD_THREAD_BYTES, Vec::new())
    }
}
