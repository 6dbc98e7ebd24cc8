//! One byte to another process and back, where epoll waits for the answer as event loops do.

use anyhow::{Context, Result};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE, second_cpu};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct EpollWakeup;

static INFO: ProbeInfo = ProbeInfo {
    id: "epoll.wakeup",
    summary: "one byte to another process and back, by epoll_wait",
    timed: "write of one byte here, read and write of it there, and here epoll_wait until the \
            answer can be read, and its read: pipe.roundtrip with one call more. `cpu=same`: both \
            processes on one CPU. `cpu=other`: each on its own.",
    excluded: "Starting the peer, the first exchange, and adding the one descriptor that is \
               watched (level-triggered). epoll_wait goes through the C library.",
    unit: "round trip",
    source: "pipe.roundtrip with epoll; lmbench lat_select (which waits for nothing)",
    phases: WHOLE,
    params: &[Param::one_of("cpu", &["same", "other"])],
    cases: &["cpu=same", "cpu=other"],
    on_files: false,
};

struct WakeUp(sys::PolledPeer);

impl Probe for EpollWakeup {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        second_cpu(params)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let peer = sys::PolledPeer::start(&setup.peer_cpus()?);
        Ok(Box::new(WakeUp(peer.context("starting the peer process")?)))
    }
}

impl Workload for WakeUp {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.round_trip()?;
        }
        Ok(iterations)
    }
}
