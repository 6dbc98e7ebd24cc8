//! One byte to another process and back.

use anyhow::{Context, Result};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE, second_cpu};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct PipeRoundtrip;

static INFO: ProbeInfo = ProbeInfo {
    id: "pipe.roundtrip",
    summary: "one byte to another process and back over two pipes",
    timed: "write and read of one byte here, read and write of it there: two switches between \
             processes. `cpu=same`: both on one CPU. `cpu=other`: each on its own, so every \
             hand-over wakes an idle CPU. `cpu=free`: wherever the scheduler puts them, as \
             programs usually run: a mixture of the two.",
    excluded: "Starting the peer and the first exchange.",
    unit: "round trip",
    source: "lmbench lat_pipe; UnixBench context1; perf bench sched pipe",
    phases: WHOLE,
    params: &[Param::one_of("cpu", &["same", "other", "free"])],
    cases: &["cpu=same", "cpu=other", "cpu=free"],
    on_files: false,
};

struct RoundTrip {
    peer: sys::EchoPeer,
}

impl Probe for PipeRoundtrip {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        second_cpu(params)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let peer =
            sys::EchoPeer::start(&setup.peer_cpus()?).context("starting the peer process")?;
        Ok(Box::new(RoundTrip { peer }))
    }
}

impl Workload for RoundTrip {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.peer.round_trip()?;
        }
        Ok(iterations)
    }
}
