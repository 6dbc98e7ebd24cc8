//! Maps address space and unmaps it, untouched.

use anyhow::Result;

use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct MemoryMap;

static INFO: ProbeInfo = ProbeInfo {
    id: "memory.map",
    summary: "map anonymous memory and unmap it, untouched",
    timed: "mmap of private anonymous memory for reading and writing, and munmap of it. No page \
            is touched, so none is made: the first touch is memory.fault.",
    excluded: "Most of the search for a place: the mapping fills a hole between two guards, so \
             that neither its neighbours nor the number of other mappings affect the figure. \
             Elsewhere it costs a third to a half more. mmap and munmap go through the C \
             library; musl's are 4 to 5 % slower than glibc's.",
    unit: "mapping",
    source: "lmbench lat_mmap (which maps a file and touches a page in each 16 KiB of a tenth)",
    phases: WHOLE,
    params: &[Param::bytes("size", 4096..=MOST)],
    cases: &["size=4KiB", "size=64KiB"],
    on_files: false,
};

const MOST: u64 = 1 << 30;

struct Map(sys::MapPlace);

impl Probe for MemoryMap {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Map(sys::MapPlace::find(setup.bytes("size")? as usize)?)))
    }
}

impl Workload for Map {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.0.map_and_unmap()?;
        }
        Ok(iterations)
    }
}
