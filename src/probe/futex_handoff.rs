//! Two processes that take turns through a word in shared memory.

use anyhow::{Context, Result};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE, second_cpu};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct FutexHandoff;

static INFO: ProbeInfo = ProbeInfo {
    id: "futex.handoff",
    summary: "a turn to another process and back over a futex",
    timed: "Two hand-overs: a word in shared memory is set and its waiter woken (FUTEX_WAKE), \
             then waited on until it is set back (FUTEX_WAIT), here and in the peer. Neither \
             process spins; when the peer is so quick that the word is back already, the wait \
             returns at once. `cpu=same`: both processes on one CPU. `cpu=other`: each on its \
             own.",
    excluded: "Starting the peer and the first exchange. The extra work of a mutex or a \
             condition variable.",
    unit: "round trip",
    source: "lmbench lat_sem (the same with semaphores)",
    phases: WHOLE,
    params: &[Param::one_of("cpu", &["same", "other"])],
    cases: &["cpu=same", "cpu=other"],
    on_files: false,
};

struct HandOff(sys::FutexPeer);

impl Probe for FutexHandoff {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        second_cpu(params)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let peer = sys::FutexPeer::start(&setup.peer_cpus()?);
        Ok(Box::new(HandOff(peer.context("starting the peer process")?)))
    }
}

impl Workload for HandOff {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.round_trip()?;
        }
        Ok(iterations)
    }
}
