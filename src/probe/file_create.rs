//! Creates, writes, closes and removes small files; the four steps are timed apart.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};

use super::{Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;

pub struct FileCreate;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.create",
    summary: "create a file, write one byte, close it, remove it",
    timed: "Four phases over the sample's files: `create` opens all of them with O_CREAT|O_EXCL, \
            `write` writes one byte to each, `close` closes them, `unlink` removes them.",
    excluded: "Nothing is flushed to a disk. The folder is new for every block and holds at most \
             64 files: on ext4, minutes of creating and deleting in one folder change such \
             figures tenfold.",
    unit: "file",
    source: "osbench create_files (which creates 65,534 files a pass)",
    phases: &[
        Phase::timed("create"),
        Phase::timed("write"),
        Phase::timed("close"),
        Phase::timed("unlink"),
    ],
    params: &[],
    cases: &[""],
    on_files: true,
};

/// Files that exist at a time: few enough for any limit on open descriptors.
const FILES: usize = 64;

struct Life {
    paths: Vec<sys::FilePath>,
    open: Vec<sys::WriteFile>,
}

impl Probe for FileCreate {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let folder = setup.scratch.folder()?;
        let path = |i: usize| sys::FilePath::new(&folder.join(format!("f{i}")));
        let paths = (0..FILES).map(path).collect::<Result<_, _>>()?;
        Ok(Box::new(Life { paths, open: Vec::with_capacity(FILES) }))
    }
}

impl Workload for Life {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        ensure!(iterations <= FILES as u64, "at most {FILES} files a sample");
        let paths = &self.paths[..iterations as usize];
        for path in paths {
            self.open.push(sys::WriteFile::create(path)?);
        }
        watch.lap(0);
        for file in &self.open {
            file.write_byte()?;
        }
        watch.lap(1);
        for file in self.open.drain(..) {
            file.close()?;
        }
        watch.lap(2);
        for path in paths {
            path.unlink()?;
        }
        watch.lap(3);
        Ok(iterations)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        1..=FILES as u64
    }
}
