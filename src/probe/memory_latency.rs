//! A chain of loads, in which each needs the result of the one before.

use std::hint::black_box;

use anyhow::{Context, Result};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE, held};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct MemoryLatency;

static INFO: ProbeInfo = ProbeInfo {
    id: "memory.latency",
    summary: "a load whose address is the result of the one before",
    timed: "One load of a chain that visits every 64-byte line of the memory once, in random \
             order, before it returns to the first: no prefetcher can guess the next line. The \
             size selects the cache that answers; the largest sizes add the walk of the page \
             tables, which costs most in a virtual machine.",
    excluded: "Mapping the memory and making the chain, which is new for every block. Pages are \
             base pages by advice: with huge pages there would be nearly no page walk.",
    unit: "load",
    source: "lmbench lat_mem_rd -t",
    phases: WHOLE,
    params: &[Param::bytes("size", 4096..=super::MOST_MEMORY)],
    cases: &["size=16KiB", "size=1MiB", "size=64MiB"],
    on_files: false,
};

/// Words of eight bytes in one line.
const LINE: usize = 8;

struct Chase {
    region: sys::Region,
    /// The word that is loaded next.
    at: usize,
}

impl Probe for MemoryLatency {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let bytes = setup.bytes("size")? as usize;
        // The shuffle takes four bytes for each line of 64.
        held::fits_in_memory(bytes as u64 / 16 * 17, "ask for a smaller `size`")?;
        let mut region = sys::Region::map(bytes).context("mapping the memory to load from")?;
        link(region.words());
        Ok(Box::new(Chase { region, at: 0 }))
    }
}

/// Writes into the first word of each line the place of another line, so that all lines form one
/// cycle.
fn link(words: &mut [u64]) {
    let mut next: Vec<u32> = (0..(words.len() / LINE) as u32).collect();
    let mut random = super::xorshift();
    for last in (1..next.len()).rev() {
        // Sattolo's shuffle (1986): no element stays in its own place, so there is a single cycle.
        // The upper half of a product is a random number below `last`, without a division.
        let share = (u64::from((random() >> 32) as u32) * last as u64) >> 32;
        next.swap(last, share as usize);
    }
    for (line, next) in next.iter().enumerate() {
        words[line * LINE] = u64::from(*next) * LINE as u64;
    }
}

impl Workload for Chase {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        let words = self.region.words();
        let mut at = self.at;
        for _ in 0..iterations {
            at = words[at] as usize;
        }
        self.at = black_box(at);
        Ok(iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_visits_every_line_once() {
        for lines in [64, 1000] {
            let mut words = vec![0; lines * LINE];
            link(&mut words);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!std::mem::replace(&mut seen[at / LINE], true));
                at = words[at] as usize;
            }
            assert_eq!(at, 0);
            let near = (0..lines).filter(|line| words[line * LINE] == (line * LINE + LINE) as u64);
            assert!(near.count() < 10, "in order");
        }
    }
}
