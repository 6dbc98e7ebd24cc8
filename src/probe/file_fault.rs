//! The first touch of a page of a mapped file.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result};

use super::{CannotMeasure, Probe, ProbeInfo, Setup, incompressible};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Extras, Phase};
use crate::sys;

pub struct FileFault;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.fault",
    summary: "first touch of a page of a mapped, cached file",
    timed: "Two phases over a fresh MAP_SHARED, PROT_READ mapping of a file of 16 MiB. `touch`: \
             one byte is read in every page, in random order. `unmap`: munmap, which removes \
             what the faults built. No madvise, as in lmbench: Linux then maps up to 16 cached \
             pages around a fault, so a page costs a small part of a fault. The counters say how \
             many faults there were.",
    excluded: "Creating the file, opening and mapping it. The file is in the page cache: it was \
             just written, 8 KiB at a time as by lmdd, and was touched through a mapping once. \
             Files that were written or read ahead in larger pieces can cost less, because one \
             fault then maps a larger piece of the cache.",
    unit: "page",
    source: "lmbench lat_pagefault, which is touch + unmap in one figure, less an idle munmap",
    phases: &[Phase::timed("touch"), Phase::timed("unmap")],
    params: &[],
    cases: &[""],
    on_files: true,
};

const FILE_BYTES: usize = 16 << 20;
/// Bytes of one write.
const PIECE: usize = 8 << 10;

struct Fault {
    file: File,
    /// Offsets of the pages, in the order in which they are touched.
    order: Vec<usize>,
    mapping: Option<sys::MappedFile>,
    /// Page faults of this process when the sample began, and their sum over all samples.
    before: u64,
    faults: u64,
    pages: u64,
}

impl Probe for FileFault {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let path = setup.scratch.folder()?.join("file");
        write_in_pieces(&path).with_context(|| format!("creating `{}`", path.display()))?;
        let opened = File::open(&path);
        let file = opened.with_context(|| format!("opening `{}`", path.display()))?;
        let order = shuffled(FILE_BYTES / sys::page_size(), sys::page_size());
        match sys::MappedFile::map(&file) {
            Ok(mapping) => {
                mapping.touch(&order);
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let what = "the target directory's filesystem cannot map files into memory";
                let reason = format!("{what} ({error}); measure a directory on another one");
                return Err(CannotMeasure(reason).into());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("mapping `{}`", path.display()));
            }
        }
        Ok(Box::new(Fault { file, order, mapping: None, before: 0, faults: 0, pages: 0 }))
    }
}

/// Writes the file as lmbench's lmdd does, 8 KiB at a time. Where a filesystem caches a large write
/// as one large piece, one fault maps all of that piece.
fn write_in_pieces(path: &Path) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    incompressible(FILE_BYTES).chunks(PIECE).try_for_each(|piece| file.write_all(piece))
}

/// The offsets of `pages` pages, each once, in an order that is the same in every run
/// (Fisher-Yates).
fn shuffled(pages: usize, page: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pages).map(|i| i * page).collect();
    let random = incompressible(8 * pages);
    for (i, bytes) in (1..pages).rev().zip(random.chunks_exact(8)) {
        let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        order.swap(i, (number % (i as u64 + 1)) as usize);
    }
    order
}

impl Workload for Fault {
    fn before_sample(&mut self, _: u64) -> Result<()> {
        self.mapping = Some(sys::MappedFile::map(&self.file).context("mapping the file again")?);
        self.before = sys::usage().minor_faults;
        Ok(())
    }

    fn run(&mut self, _: u64, watch: &mut Stopwatch) -> Result<u64> {
        let mapping = self.mapping.take().context("nothing is mapped")?;
        let touched = mapping.touch(&self.order);
        watch.lap(0);
        mapping.unmap()?;
        watch.lap(1);
        Ok(touched)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.faults += sys::usage().minor_faults - self.before;
        self.pages += self.order.len() as u64;
        Ok(())
    }

    /// The whole mapping: with fewer pages, those that one fault maps together would weigh less.
    fn iterations(&self) -> RangeInclusive<u64> {
        let pages = self.order.len() as u64;
        pages..=pages
    }

    fn extras(&mut self) -> Result<Extras> {
        let counters = [("pages touched", self.pages), ("page faults", self.faults)];
        let counters = counters.map(|(name, count)| (name.to_owned(), count)).into();
        Ok(Extras { counters, ..Extras::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_touched_once_and_out_of_order() {
        let order = shuffled(4096, 4096);
        assert!(!order.is_sorted());
        let mut pages = order;
        pages.sort_unstable();
        assert!(pages.into_iter().eq((0..4096).map(|i| i * 4096)));
        assert_eq!(shuffled(1, 4096), [0]);
    }
}
