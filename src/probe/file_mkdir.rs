//! Folders made and removed.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};

use super::{Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;

pub struct FileMkdir;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.mkdir",
    summary: "make a folder and remove it again",
    timed: "Two phases over the sample's folders: `create` makes all of them by mkdirat, `remove` \
            removes them, empty, by unlinkat with AT_REMOVEDIR.",
    excluded: "Nothing is flushed to a disk. The folder that holds them is new for every block \
             and has at most 64 of them: the costs of its history or size are not covered.",
    unit: "folder",
    source: "none; the counterpart of file.create for folders",
    phases: &[Phase::timed("create"), Phase::timed("remove")],
    params: &[],
    cases: &[""],
    on_files: true,
};

/// Folders that exist at a time.
const FOLDERS: usize = 64;

struct Life {
    paths: Vec<sys::FilePath>,
}

impl Probe for FileMkdir {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let folder = setup.scratch.folder()?;
        let path = |i: usize| sys::FilePath::new(&folder.join(format!("d{i}")));
        let paths = (0..FOLDERS).map(path).collect::<Result<_, _>>()?;
        Ok(Box::new(Life { paths }))
    }
}

impl Workload for Life {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        ensure!(iterations <= FOLDERS as u64, "at most {FOLDERS} folders a sample");
        let paths = &self.paths[..iterations as usize];
        for path in paths {
            path.make_folder()?;
        }
        watch.lap(0);
        for path in paths {
            path.remove_folder()?;
        }
        watch.lap(1);
        Ok(iterations)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        1..=FOLDERS as u64
    }
}
