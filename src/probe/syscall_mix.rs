//! The five system calls of UnixBench's system call test.

use std::hint::black_box;

use anyhow::Result;

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct SyscallMix;

static INFO: ProbeInfo = ProbeInfo {
    id: "syscall.mix",
    summary: "five cheap system calls: dup, close, getpid, getuid, umask",
    timed: "dup of the reading end of a pipe, close of the duplicate, getpid, getuid and \
            umask(022), each by its number.",
    excluded: "The wrappers of a C library, through which UnixBench makes all of them but getpid.",
    unit: "round of five calls",
    source: "UnixBench syscall (mix)",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

/// The mask that UnixBench sets: only the owner may write.
const MASK: u16 = 0o022;

struct Mix {
    descriptor: sys::IdleDescriptor,
    mask: sys::FileMask,
}

impl Probe for SyscallMix {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let descriptor = sys::IdleDescriptor::open()?;
        Ok(Box::new(Mix { descriptor, mask: sys::FileMask::set(MASK)? }))
    }
}

impl Workload for Mix {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.descriptor.duplicate_and_close()?;
            black_box(sys::own_ids()?);
            self.mask.set_again()?;
        }
        Ok(iterations)
    }
}
