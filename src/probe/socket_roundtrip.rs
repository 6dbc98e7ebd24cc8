//! One byte to another process and back over a socket.

use anyhow::{Context, Result, bail};

use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, WHOLE, second_cpu};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct SocketRoundtrip;

static INFO: ProbeInfo = ProbeInfo {
    id: "socket.roundtrip",
    summary: "one byte to another process and back over a socket",
    timed: "write and read of one byte here, read and write of it there. `unix`: a pair of Unix \
            stream sockets. `tcp`: a connection on 127.0.0.1 with TCP_NODELAY. `cpu=same`: both \
            processes on one CPU. `cpu=other`: each on its own, so that every hand-over wakes an \
            idle CPU.",
    excluded: "Connecting, starting the peer and the first exchange.",
    unit: "round trip",
    source: "lmbench lat_unix; lmbench lat_tcp (which leaves TCP_NODELAY off)",
    phases: WHOLE,
    params: &[Param::one_of("kind", &["unix", "tcp"]), Param::one_of("cpu", &["same", "other"])],
    cases: &[
        "kind=unix cpu=same",
        "kind=unix cpu=other",
        "kind=tcp cpu=same",
        "kind=tcp cpu=other",
    ],
    on_files: false,
};

struct RoundTrip(sys::EchoPeer);

impl Probe for SocketRoundtrip {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        second_cpu(params)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let cpus = setup.peer_cpus()?;
        let peer = match setup.param("kind")? {
            "unix" => sys::EchoPeer::start_behind_unix_socket(&cpus),
            "tcp" => {
                let connection = sys::TcpPair::connect().map_err(|error| {
                    let text = "no TCP connection to 127.0.0.1 can be made here";
                    CannotMeasure(format!("{text} ({error}); allow a loopback interface and TCP"))
                })?;
                sys::EchoPeer::start_behind_tcp(connection, &cpus)
            }
            other => bail!("`socket.roundtrip` has no kind `{other}`"),
        };
        Ok(Box::new(RoundTrip(peer.context("starting the peer process")?)))
    }
}

impl Workload for RoundTrip {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.round_trip()?;
        }
        Ok(iterations)
    }
}
