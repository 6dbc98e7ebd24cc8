//! Makes, reads and removes symbolic links; the three steps are timed apart.

use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{CannotMeasure, Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;

pub struct FileSymlink;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.symlink",
    summary: "make a symbolic link, read it, remove it",
    timed: "Three phases over the sample's links: `create` makes all of them by symlinkat, `read` \
            reads the text of each by readlinkat, `unlink` removes them.",
    excluded: "Following the links. Their text has six bytes, which most filesystems store \
             without a block of data. The folder is new for every block and holds at most 64 \
             links: the costs of its history or size are not covered.",
    unit: "link",
    source: "none; installers and version control make links by the thousand",
    phases: &[Phase::timed("create"), Phase::timed("read"), Phase::timed("unlink")],
    params: &[],
    cases: &[""],
    on_files: true,
};

/// Links that exist at a time.
const LINKS: usize = 64;
/// The text of the links: a name that does not exist.
const TARGET: &str = "target";

struct Life {
    target: sys::FilePath,
    paths: Vec<sys::FilePath>,
}

impl Probe for FileSymlink {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let folder = setup.scratch.folder()?;
        let path = |i: usize| sys::FilePath::new(&folder.join(format!("l{i}")));
        let paths = (0..LINKS).map(path).collect::<Result<Vec<_>, _>>()?;
        let target = sys::FilePath::new(Path::new(TARGET))?;
        if let Err(error) = paths[0].symlink_to(&target) {
            // EPERM means that the filesystem has no symbolic links: this user may write to the
            // folder.
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) {
                let what = "the target directory's filesystem makes no symbolic links";
                let reason = format!("{what} ({error}); measure a directory on another one");
                return Err(CannotMeasure(reason).into());
            }
            return Err(error).context("making a symbolic link");
        }
        paths[0].unlink().context("removing a symbolic link")?;
        Ok(Box::new(Life { target, paths }))
    }
}

impl Workload for Life {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        ensure!(iterations <= LINKS as u64, "at most {LINKS} links a sample");
        let paths = &self.paths[..iterations as usize];
        for path in paths {
            path.symlink_to(&self.target)?;
        }
        watch.lap(0);
        for path in paths {
            let mut text = [0; 2 * TARGET.len()];
            let length = path.read_link(&mut text)?;
            ensure!(length == TARGET.len(), "a link of {length} bytes");
        }
        watch.lap(1);
        for path in paths {
            path.unlink()?;
        }
        watch.lap(2);
        Ok(iterations)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        1..=LINKS as u64
    }
}
