//! Sends a signal to this process and runs its handler.

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct SignalDeliver;

static INFO: ProbeInfo = ProbeInfo {
    id: "signal.deliver",
    summary: "a signal to this process, its handler, and the way back",
    timed: "kill(self, SIGUSR1) by its number until it returns, by which time the handler has run: \
            sending, delivery, a handler that counts, and sigreturn. After each it is checked \
            that the handler ran.",
    excluded: "Installing the handler. lmbench subtracts what kill(self, 0) costs; here sending \
               is part of the figure.",
    unit: "signal",
    source: "lmbench lat_sig catch (before its subtraction)",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

struct Deliver(sys::SignalHandler);

impl Probe for SignalDeliver {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Deliver(sys::SignalHandler::install()?)))
    }
}

impl Workload for Deliver {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.deliver()?;
        }
        Ok(iterations)
    }
}
