//! Installs a signal handler.

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct SignalInstall;

static INFO: ProbeInfo = ProbeInfo {
    id: "signal.install",
    summary: "install a signal handler",
    timed: "rt_sigaction by its number. It installs the handler of SIGUSR1 that is installed \
             already, and returns the former one.",
    excluded: "What the sigaction of a C library adds: it converts the action in both directions.",
    unit: "call",
    source: "lmbench lat_sig install",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

struct Install(sys::SignalHandler);

impl Probe for SignalInstall {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Install(sys::SignalHandler::install()?)))
    }
}

impl Workload for Install {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.install_again()?;
        }
        Ok(iterations)
    }
}
