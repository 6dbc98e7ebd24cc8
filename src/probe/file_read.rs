//! Reads blocks of a file that is in the page cache.

use std::fs::{self, File};

use anyhow::{Context, Result, ensure};

use super::aligned::Aligned;
use super::file_blocks::has_room;
use super::{Param, Probe, ProbeInfo, Setup, WHOLE, incompressible};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileRead;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.read",
    summary: "read one block of a file that is in the page cache",
    timed: "pread of one block into the same page-aligned buffer, block after block through the \
            file and again from its start. The file has 256 KiB, or four blocks if that is more.",
    excluded: "Creating, opening and a first pass over the file. Before the clock starts, every \
             page of the file is checked to be in the cache, where the system can tell. Some \
             FUSE filesystems keep no page: there the figure is what a reader gets without the \
             cache.",
    unit: "block",
    source: "\"A rough comparison of the performance of WSL and guest and native Ubuntu\" (2017) \
             and Shioda, \"A look at the performance of WSL 2\" (2020): dd from the page cache; \
             lmbench bw_file_rd",
    phases: WHOLE,
    params: &[Param::bytes("size", 512..=MOST)],
    cases: &["size=4KiB", "size=1MiB"],
    on_files: true,
};

/// Fewest bytes of the file, and fewest blocks.
const SMALL_FILE: usize = 256 << 10;
const BLOCKS: usize = 4;
/// Largest block: the file is four times as large, and is made anew for every round.
const MOST: u64 = 64 << 20;

struct Read {
    file: sys::ReadFile,
    buffer: Aligned,
    block: usize,
    file_bytes: u64,
    offset: u64,
}

impl Probe for FileRead {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let block = setup.bytes("size")? as usize;
        let file_bytes = (SMALL_FILE / block).max(BLOCKS) * block;
        has_room(setup, file_bytes as u64, "size")?;
        let path = setup.scratch.folder()?.join("file");
        let written = fs::write(&path, incompressible(file_bytes));
        written.with_context(|| format!("creating `{}`", path.display()))?;
        let mut read = Read {
            file: sys::ReadFile::open(&sys::FilePath::new(&path)?)?,
            buffer: Aligned::new(block),
            block,
            file_bytes: file_bytes as u64,
            offset: 0,
        };
        read.pass()?;
        // The system may have evicted pages that were read a minute ago (proactive reclaim): look
        // now.
        let residency = File::open(&path).and_then(|file| sys::map_residency(&file));
        if residency.is_ok_and(|(resident, pages)| resident < pages) {
            read.pass()?;
        }
        Ok(Box::new(read))
    }
}

impl Read {
    /// Reads the whole file once.
    fn pass(&mut self) -> Result<()> {
        for _ in 0..self.file_bytes / self.block as u64 {
            self.next()?;
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<()> {
        let read = self.file.read_at(&mut self.buffer, self.offset)?;
        ensure!(read == self.block, "read {read} bytes of a block at {}", self.offset);
        self.offset += read as u64;
        if self.offset == self.file_bytes {
            self.offset = 0;
        }
        Ok(())
    }
}

impl Workload for Read {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.next()?;
        }
        Ok(iterations)
    }
}
