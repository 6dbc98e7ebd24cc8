//! Opening and closing a file.

use std::fs;

use anyhow::{Context, Result};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileOpen;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.open",
    summary: "open an existing file for reading and close it",
    timed: "openat by absolute path and close, as one figure, always of the same file.",
    excluded: "Creating the file. Nothing is read.",
    unit: "open and close",
    source: "lmbench lat_syscall open",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: true,
};

struct OpenClose {
    path: sys::FilePath,
}

impl Probe for FileOpen {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let path = setup.scratch.folder()?.join("file");
        fs::write(&path, b"x").with_context(|| format!("creating `{}`", path.display()))?;
        Ok(Box::new(OpenClose { path: sys::FilePath::new(&path)? }))
    }
}

impl Workload for OpenClose {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            sys::ReadFile::open(&self.path)?.close()?;
        }
        Ok(iterations)
    }
}
