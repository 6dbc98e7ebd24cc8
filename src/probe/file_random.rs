//! Reads or writes blocks of a file in random order.

use std::path::Path;

use anyhow::{Result, ensure};

use super::aligned::Aligned;
use super::file_blocks::{self as blocks, Extent, Source};
use super::{Param, Probe, ProbeInfo, Setup, WHOLE, file_cold, file_latency};
use crate::measure::{Stopwatch, Workload};
use crate::model::Extras;
use crate::sys::{self, Access};

pub struct FileRandom;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.random",
    summary: "read or write one block at a random place of a file",
    timed: "pread or pwrite of one block at an aligned place of an open file. The places are \
            pseudo-random and the same ones in every environment and block. `cache=direct`: with \
            O_DIRECT.",
    excluded: "Making the file, in pieces of 1 MiB, and reading it once. On ext4 of Linux 6.18 a \
               write of 4 KiB to such a file cost about three times what it cost in one that was \
               written in pieces of 4 KiB (presumably the size of the folios). Nothing is \
               flushed: with `cache=warm`, writes go to pages that were written just before and \
               are not on the disk yet. Latencies of single operations are taken in a pass of \
               their own after the samples, from one reading of the clock to the next; only \
               where one lasts at least 20 readings.",
    unit: "block",
    source: "fio randread and randwrite with iodepth=1 (ioengine=psync)",
    phases: WHOLE,
    params: &[
        Param::one_of("op", &["read", "write"]),
        Param::bytes("size", blocks::BLOCK),
        Param::bytes("total", blocks::TOTAL),
        Param::one_of("cache", &["warm", "direct"]),
    ],
    cases: &[
        "op=read size=4KiB total=16MiB cache=warm",
        "op=write size=4KiB total=16MiB cache=warm",
        "op=read size=4KiB total=16MiB cache=direct",
        "op=write size=4KiB total=16MiB cache=direct",
    ],
    on_files: true,
};

/// The generator of the blocks' places.
struct Places {
    state: u64,
    blocks: u64,
    block: u64,
}

impl Places {
    fn of(extent: Extent) -> Places {
        Places { state: 1, blocks: extent.blocks(), block: extent.block as u64 }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        // Knuth's MMIX generator, of which the upper half is used.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.state) * u128::from(self.blocks)) >> 64) as u64 * self.block
    }
}

struct Read {
    file: sys::ReadFile,
    buffer: Aligned,
    places: Places,
    notes: Vec<String>,
}

struct Write {
    file: sys::WriteFile,
    source: Source,
    places: Places,
    notes: Vec<String>,
}

impl Probe for FileRandom {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let extent = Extent::of(setup)?;
        let mut notes = Vec::new();
        let mut access = Access::Buffered;
        if setup.param("cache")? == "direct" {
            access = Access::Direct;
            if !blocks::try_direct(setup, extent.block)? {
                notes.push(blocks::COPIED.into());
            }
        }
        let path = setup.scratch.folder()?.join("file");
        extent.make_file(&path)?;
        if access == Access::Buffered {
            notes.extend(warm(&path, extent)?.map(str::to_owned));
        }
        let name = sys::FilePath::new(&path)?;
        let places = Places::of(extent);
        if setup.param("op")? == "read" {
            let file = sys::ReadFile::open_as(&name, access)?;
            let buffer = Aligned::new(extent.block);
            return Ok(Box::new(Read { file, buffer, places, notes }));
        }
        let file = sys::WriteFile::open_as(&name, access)?;
        let source = Source::incompressible(extent.block);
        let mut write = Write { file, source, places, notes };
        if access == Access::Buffered {
            // The first write to a clean page costs more, and each block would begin with such
            // writes.
            for block in 0..extent.blocks() {
                write.file.write_at(write.source.next(), block * extent.block as u64)?;
            }
        }
        Ok(Box::new(write))
    }
}

fn warm(path: &Path, extent: Extent) -> Result<Option<&'static str>> {
    let file = sys::ReadFile::open(&sys::FilePath::new(path)?)?;
    let mut buffer = Aligned::new(extent.block);
    file_cold::warm(path, || {
        for block in 0..extent.blocks() {
            file.read_at(&mut buffer, block * extent.block as u64)?;
        }
        Ok(())
    })
}

impl Read {
    #[inline]
    fn one(&mut self) -> Result<()> {
        let place = self.places.next();
        let read = self.file.read_at(&mut self.buffer, place)?;
        ensure!(read == self.buffer.len(), "read {read} bytes of a block at {place}");
        Ok(())
    }
}

impl Write {
    #[inline]
    fn one(&mut self) -> Result<()> {
        let place = self.places.next();
        let block = self.source.next();
        let written = self.file.write_at(block, place)?;
        ensure!(written == block.len(), "wrote {written} bytes of a block at {place}");
        Ok(())
    }
}

impl Workload for Read {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.one()?;
        }
        Ok(iterations)
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut extras = Extras { notes: self.notes.clone(), ..Extras::default() };
        file_latency::one_by_one(&mut extras, "read", || self.one())?;
        Ok(extras)
    }
}

impl Workload for Write {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.one()?;
        }
        Ok(iterations)
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut extras = Extras { notes: self.notes.clone(), ..Extras::default() };
        file_latency::one_by_one(&mut extras, "write", || self.one())?;
        Ok(extras)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_same_everywhere_and_all_over_the_file() {
        let extent = Extent { block: 4096, total: 100 * 4096 };
        let places = |count| {
            let mut places = Places::of(extent);
            (0..count).map(|_| places.next()).collect::<Vec<u64>>()
        };
        assert_eq!(places(5), places(5));
        let mut seen = places(2000);
        assert!(seen.iter().all(|place| place % 4096 == 0 && *place < extent.total));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100);
    }

    #[test]
    fn operations_have_latencies_or_it_is_said_why_not() {
        for op in ["read", "write"] {
            let params = format!("op={op} size=64KiB total=1MiB cache=warm");
            let extras = blocks::measure(&FileRandom, &params).unwrap().extras;
            assert!(extras.latencies.contains_key(op) || !extras.notes.is_empty());
        }
    }
}
