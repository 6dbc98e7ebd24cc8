//! Reading a file from start to end.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::aligned::Aligned;
use super::file_blocks::{self as blocks, Extent, Source};
use super::file_cold::{self, Cold};
use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::Extras;
use crate::sys::{self, Access};

pub struct FileScan;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.scan",
    summary: "read a file from start to end, block by block",
    timed: "open, one read call a block into the same page-aligned buffer, close.",
    excluded: "Making the file, which is new and on its disk for every block of samples. \
               `cache=warm`: it is read until all its pages are in the page cache, where the \
               system can tell. `cache=cold`: before every sample it is evicted (fdatasync, \
               posix_fadvise), and looked for by a means that was seen to tell a file just read \
               from one just evicted; `cold_verified` of `cold_checked` samples had at most 1 % \
               of the pages in the cache. `cache=dropped`: as cold, by dropping the caches of the \
               whole system, which slows everything else down. `cache=direct`: O_DIRECT. `data`: \
               what the file is made of, as for file.write. `by=stdio` reads through the C \
               library: fopen, one fread a block, fclose, with the library's own buffer. A device \
               or a host may have a cache of its own, of which nothing here knows.",
    unit: "block",
    source: "\"On the performance of virtualised applications, writing and reading files\" \
             (2012); \"A rough comparison of the performance of WSL and guest and native \
             Ubuntu\" (2017): dd after drop_caches; Shioda, \"A look at the performance of WSL \
             2\" (2020): dd with 512 bytes a read",
    phases: WHOLE,
    params: &[
        Param::bytes("size", blocks::BLOCK),
        Param::bytes("total", blocks::TOTAL),
        Param::one_of("cache", &["warm", "cold", "dropped", "direct"]),
        Param::one_of("data", blocks::DATA).silent("random"),
        Param::one_of("by", blocks::BY).silent("call"),
    ],
    cases: &[
        "size=1MiB total=16MiB cache=warm",
        "size=4KiB total=16MiB cache=warm",
        "size=512B total=16MiB cache=warm",
        "size=1MiB total=16MiB cache=cold",
        "size=1MiB total=16MiB cache=direct",
    ],
    on_files: true,
};

/// What is done before every sample.
enum Cache {
    Warm,
    Cold(Cold),
    Dropped(Cold),
    Direct,
}

struct Scan {
    path: sys::FilePath,
    /// The same file, for everything outside the timed part.
    file: File,
    full_path: PathBuf,
    extent: Extent,
    access: Access,
    buffer: Aligned,
    cache: Cache,
    by_stdio: bool,
    note: Option<String>,
    checked: u64,
    verified: u64,
}

impl Probe for FileScan {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let extent = Extent::of(setup)?;
        let folder = setup.scratch.folder()?;
        let mut access = Access::Buffered;
        let mut note = None;
        let cache = match setup.param("cache")? {
            "cold" => Cache::Cold(Cold::by_trial(folder, extent.total)?),
            "dropped" => {
                if let Err(error) = sys::may_drop_caches() {
                    return blocks::cannot(format!(
                        "the system's caches may not be dropped here ({}: {error}); `cache=cold` \
                         evicts the one file without asking for that",
                        sys::DROP_CACHES
                    ));
                }
                Cache::Dropped(Cold::by_trial(folder, extent.total)?)
            }
            "direct" => {
                access = Access::Direct;
                note = (!blocks::try_direct(setup, extent.block)?).then(|| blocks::COPIED.into());
                Cache::Direct
            }
            _ => Cache::Warm,
        };
        if let Cache::Cold(cold) | Cache::Dropped(cold) = &cache {
            note = Some(cold.note.clone());
        }
        let by_stdio = setup.option("by", "call") == "stdio";
        if by_stdio && access == Access::Direct {
            return blocks::cannot("the C library (`by=stdio`) has no direct access".into());
        }
        let full_path = folder.join("file");
        let piece = extent.total.min(1 << 20) as usize;
        extent.make_file_of(&full_path, Source::of(setup.option("data", "random"), piece))?;
        let mut scan = Scan {
            path: sys::FilePath::new(&full_path)?,
            file: File::open(&full_path)?,
            full_path,
            extent,
            access,
            buffer: Aligned::new(extent.block),
            cache,
            by_stdio,
            note,
            checked: 0,
            verified: 0,
        };
        match scan.cache {
            Cache::Warm => scan.warm()?,
            // Direct reads would otherwise first look for pages that are still in the cache.
            Cache::Direct => sys::evict(&scan.file).context("evicting the file")?,
            Cache::Cold(_) | Cache::Dropped(_) => {}
        }
        Ok(Box::new(scan))
    }
}

impl Scan {
    fn warm(&mut self) -> Result<()> {
        let path = self.full_path.clone();
        let note = file_cold::warm(&path, || self.pass(self.extent.blocks()))?;
        if let Some(note) = note {
            self.note = Some(note.to_owned());
        }
        Ok(())
    }

    /// As [`Scan::pass`], through the C library.
    #[inline]
    fn pass_by_stdio(&mut self, blocks: u64) -> Result<()> {
        let mut file = sys::StdioFile::open(&self.path)?;
        for block in 0..blocks {
            file.read(&mut self.buffer).with_context(|| format!("reading block {block}"))?;
        }
        Ok(file.close()?)
    }

    /// Reads this number of blocks of the file, from its start.
    #[inline]
    fn pass(&mut self, blocks: u64) -> Result<()> {
        let file = sys::ReadFile::open_as(&self.path, self.access)?;
        for block in 0..blocks {
            let mut filled = 0;
            // One call; some network filesystems return a large block in parts.
            while filled < self.buffer.len() {
                let read = file.read(&mut self.buffer[filled..])?;
                ensure!(read > 0, "the file ends in block {block}");
                filled += read;
            }
        }
        Ok(file.close()?)
    }
}

impl Workload for Scan {
    fn before_sample(&mut self, _: u64) -> Result<()> {
        let gone = match &self.cache {
            Cache::Direct => return Ok(()),
            Cache::Warm => {
                // The system may evict idle pages at any time.
                let missing = file_cold::missing(&self.file).unwrap_or(0);
                return if missing > 0 { self.warm() } else { Ok(()) };
            }
            Cache::Cold(cold) => cold.put_out(&self.file, || sys::evict(&self.file))?,
            Cache::Dropped(cold) => cold.put_out(&self.file, || {
                self.file.sync_data()?;
                sys::drop_caches()
            })?,
        };
        self.checked += 1;
        self.verified += u64::from(gone);
        Ok(())
    }

    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        // Where a slowdown is planted, this is more than the file has.
        let mut left = iterations;
        while left > 0 {
            let blocks = left.min(self.extent.blocks());
            match self.by_stdio {
                true => self.pass_by_stdio(blocks)?,
                false => self.pass(blocks)?,
            }
            left -= blocks;
        }
        Ok(iterations)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.extent.blocks()..=self.extent.blocks()
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut extras = Extras::default();
        extras.notes.extend(self.note.clone());
        if self.checked > 0 {
            extras.counters.insert("cold_checked".into(), self.checked);
            extras.counters.insert("cold_verified".into(), self.verified);
        }
        Ok(extras)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_is_claimed_only_when_it_was_seen() {
        let block = blocks::measure(&FileScan, "size=512B total=1MiB cache=cold").unwrap();
        let count = |name: &str| block.extras.counters[name];
        assert_eq!(count("cold_checked"), 3);
        let told = block.extras.notes[0].starts_with("cold, as");
        assert!(told || block.extras.notes[0].starts_with("requested cold, not verified: "));
        assert!(told || count("cold_verified") == 0);
    }

    #[test]
    fn the_c_library_reads_all_of_it() {
        let text = "size=4KiB total=1MiB cache=warm data=text by=stdio";
        assert_eq!(blocks::measure(&FileScan, text).unwrap().iterations, 256);
    }

    #[test]
    fn a_warm_file_says_nothing_of_cold() {
        let block = blocks::measure(&FileScan, "size=512B total=1MiB cache=warm").unwrap();
        assert_eq!(block.iterations, 2048);
        assert!(block.extras.counters.is_empty());
    }
}
