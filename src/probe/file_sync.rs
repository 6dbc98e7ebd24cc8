//! Overwrites one block after the other and makes each durable.

use anyhow::{Context, Result, bail, ensure};

use super::file_blocks::{self as blocks, Extent, Source};
use super::file_durable::Durable;
use super::{Param, Probe, ProbeInfo, Setup, WHOLE, file_latency};
use crate::measure::{Stopwatch, Workload};
use crate::model::Extras;
use crate::sys::{self, Access};

pub struct FileSync;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.sync",
    summary: "overwrite one block of a file and have it durable",
    timed: "pwrite of one block, then fdatasync or fsync; `how=dsync`: the pwrite alone, of a \
            file opened with O_DSYNC. Block after block through the file and again from its \
            start, as the log of a database is written.",
    excluded: "Making the file, all of which is on its disk before: a file that grows also has \
             to record its new length. Whether the device's answer is true is not checked. \
             `device_bytes` and `device_flushes` count what the device was asked for, by anyone, \
             during the `syncs`, in which `claimed_bytes` were said to be durable. Latencies of \
             single operations are taken in a separate pass after the samples.",
    unit: "sync",
    source: "fio with fdatasync=1 and overwrite=1; the fsync test of PostgreSQL (pg_test_fsync)",
    phases: WHOLE,
    params: &[
        Param::bytes("size", blocks::BLOCK),
        Param::one_of("how", &["fdatasync", "fsync", "dsync"]),
    ],
    cases: &["size=4KiB how=fdatasync", "size=4KiB how=fsync", "size=4KiB how=dsync"],
    on_files: true,
};

/// Fewest bytes of the file, and fewest blocks.
const SMALL_FILE: u64 = 1 << 20;
const BLOCKS: u64 = 4;

#[derive(Clone, Copy)]
enum How {
    Data,
    All,
    ByWrite,
}

struct Sync {
    file: sys::WriteFile,
    source: Source,
    extent: Extent,
    offset: u64,
    how: How,
    durable: Durable,
    syncs: u64,
}

impl Probe for FileSync {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let block = setup.bytes("size")?;
        let extent =
            Extent::with_room(setup, block, (SMALL_FILE / block).max(BLOCKS) * block, "size")?;
        let (access, how) = match setup.param("how")? {
            "fdatasync" => (Access::Buffered, How::Data),
            "fsync" => (Access::Buffered, How::All),
            "dsync" => (Access::Durable, How::ByWrite),
            other => bail!("`file.sync` knows no `how={other}`"),
        };
        let folder = setup.scratch.folder()?;
        let path = folder.join("file");
        extent.make_file(&path)?;
        let mut sync = Sync {
            file: sys::WriteFile::open_as(&sys::FilePath::new(&path)?, access)?,
            source: Source::incompressible(extent.block),
            extent,
            offset: 0,
            how,
            durable: Durable::under(folder)?,
            syncs: 0,
        };
        // Other data than what is there: some storage does nothing when the same data is written
        // again.
        sync.source.next();
        sync.one()?;
        Ok(Box::new(sync))
    }
}

impl Sync {
    #[inline]
    fn one(&mut self) -> Result<()> {
        let block = self.source.next();
        let written = self.file.write_at(block, self.offset)?;
        ensure!(written == block.len(), "wrote {written} bytes of a block at {}", self.offset);
        match self.how {
            How::Data => self.file.sync_data().context("fdatasync")?,
            How::All => self.file.sync_all().context("fsync")?,
            How::ByWrite => {}
        }
        self.offset += written as u64;
        if self.offset == self.extent.total {
            self.offset = 0;
        }
        Ok(())
    }
}

impl Workload for Sync {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        self.durable.begin()?;
        watch.skip();
        for _ in 0..iterations {
            self.one()?;
        }
        watch.lap(0);
        self.durable.end(iterations * self.extent.block as u64)?;
        self.syncs += iterations;
        watch.skip();
        Ok(iterations)
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut extras = Extras::default();
        self.durable.report(&mut extras);
        extras.counters.insert("syncs".into(), self.syncs);
        file_latency::one_by_one(&mut extras, "sync", || self.one())?;
        Ok(extras)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sync_is_counted_and_its_latency_seen() {
        for how in ["fdatasync", "fsync", "dsync"] {
            let block = blocks::measure(&FileSync, &format!("size=4KiB how={how}")).unwrap();
            let counters = &block.extras.counters;
            assert_eq!((counters["syncs"], counters["claimed_bytes"]), (3, 3 * 4096), "{how}");
            if let Some(bytes) = counters.get("device_bytes") {
                assert!(*bytes >= 3 * 4096, "{how}: {bytes}");
                let seen = block.extras.latencies.get("sync").is_some_and(|it| !it.is_empty());
                assert!(seen || !block.extras.notes.is_empty(), "{how}: too short, and not said");
            }
        }
    }
}
