//! Asking for a file's attributes.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileStat;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.stat",
    summary: "stat of one existing file",
    timed: "stat by absolute path, again and again of the same file: path walk and attributes, \
             from the caches of the system that serves the target directory.",
    excluded: "Creating the file. Attributes that must come from a disk.",
    unit: "call",
    source: "lmbench lat_syscall stat",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: true,
};

const SIZE: u64 = 5;

struct Stat {
    path: sys::FilePath,
}

impl Probe for FileStat {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let path = setup.scratch.folder()?.join("file");
        fs::write(&path, [0; SIZE as usize])
            .with_context(|| format!("creating `{}`", path.display()))?;
        Ok(Box::new(Stat { path: sys::FilePath::new(&path)? }))
    }
}

impl Workload for Stat {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let size = sys::stat_size(&self.path)?;
            ensure!(size == SIZE, "stat says {size} bytes of a file of {SIZE}");
        }
        Ok(iterations)
    }
}
