//! One byte to another process and back.

use anyhow::{Context, Result, bail};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct PipeRoundtrip;

static INFO: ProbeInfo = ProbeInfo {
    id: "pipe.roundtrip",
    summary: "one byte to another process and back over two pipes",
    timed: "write and read of one byte here, read and write of it there: two switches between \
            processes. `cpu=same`: both on one CPU. `cpu=other`: each on its own, so every \
            hand-over wakes an idle CPU. `cpu=free`: wherever the scheduler puts them, which is \
            a mixture of the two and is measured because programs run so.",
    excluded: "Starting the peer and the first exchange, by which it is known to be up.",
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
        let one = sys::allowed_cpus().is_ok_and(|cpus| cpus.len() < 2);
        if params.get("cpu") == Some("other") && one {
            return Availability::Unavailable {
                reason: "the environment has one CPU only".into(),
                remedy: "give it a second one, or leave `cpu=other` out".into(),
            };
        }
        Availability::Available
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let cpus = match setup.param("cpu")? {
            // Unpinned, it would measure the scheduler's choice under the name of this one.
            "same" => vec![setup.cpu.context("this process cannot be pinned to a CPU")?],
            "other" => vec![setup.cpu.and(setup.other_cpu).context("there is no second CPU")?],
            "free" => {
                sys::pin_to(setup.allowed_cpus).context("taking the pin off this process")?;
                setup.allowed_cpus.to_vec()
            }
            other => bail!("`pipe.roundtrip` has no placement `{other}`"),
        };
        let peer = sys::EchoPeer::start(&cpus).context("starting the peer process")?;
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
