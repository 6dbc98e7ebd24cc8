//! The first touch of a page.

use std::ops::RangeInclusive;

use anyhow::{Context, Result};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct MemoryFault;

static INFO: ProbeInfo = ProbeInfo {
    id: "memory.fault",
    summary: "first touch of an anonymous page",
    timed: "One write to each page of fresh anonymous memory: the page fault, a zeroed page, and \
            its share of the page tables.",
    excluded: "Mapping and unmapping the memory. Huge pages are kept out by advice.",
    unit: "page",
    source: "lmbench lat_pagefault (which faults on a file instead); \"A rough comparison of the \
             performance of WSL and guest and native Ubuntu\" (2017)",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

/// Most pages touched in one sample: 16 MiB of 4 KiB pages.
const PAGES: u64 = 4096;

#[derive(Default)]
struct Touch {
    region: Option<sys::Region>,
    page: usize,
}

impl Probe for MemoryFault {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Touch { region: None, page: sys::page_size() }))
    }
}

impl Workload for Touch {
    fn before_sample(&mut self, iterations: u64) -> Result<()> {
        let bytes = iterations as usize * self.page;
        self.region = Some(sys::Region::map(bytes).context("mapping memory to touch")?);
        Ok(())
    }

    fn run(&mut self, _: u64, _: &mut Stopwatch) -> Result<u64> {
        Ok(self.region.as_mut().map_or(0, |region| region.touch(self.page)))
    }

    fn after_sample(&mut self) -> Result<()> {
        self.region = None;
        Ok(())
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        1..=PAGES
    }
}
