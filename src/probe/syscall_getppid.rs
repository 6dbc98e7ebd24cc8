//! One getppid: into the kernel and back.

use std::hint::black_box;

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct SyscallGetppid;

static INFO: ProbeInfo = ProbeInfo {
    id: "syscall.getppid",
    summary: "one getppid system call: entering and leaving the kernel",
    timed: "The system call by its number; no C library can answer from its memory.",
    excluded: "Nothing.",
    unit: "call",
    source: "lmbench lat_syscall null; perf bench syscall basic",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for SyscallGetppid {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, _: &Params) -> Availability {
        match sys::getppid() {
            0.. => Availability::Available,
            _ => Availability::Unavailable {
                reason: "this system has no such call".into(),
                remedy: "leave this probe out".into(),
            },
        }
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(SyscallGetppid))
    }
}

impl Workload for SyscallGetppid {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            black_box(sys::getppid());
        }
        Ok(iterations)
    }
}
