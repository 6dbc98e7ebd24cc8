//! Giving files another name.

use std::fs;

use anyhow::{Context, Result};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileRename;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.rename",
    summary: "rename a file within its folder to a name that is free",
    timed: "renameat by absolute paths. The folder's files are renamed in turn, all of them to a \
            second name, then all of them back.",
    excluded: "Creating the files. Nothing is replaced (that costs more where the replaced file \
             has to be freed), nothing moves between folders, nothing is flushed. The folder is \
             new for every block and holds 64 files of one byte: the costs of its history, of \
             its size or of a full journal are not covered.",
    unit: "rename",
    source: "none; the last step by which programs replace a file",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: true,
};

/// Files in the folder.
const FILES: usize = 64;

struct Rename {
    /// Each file's present name and its other one.
    names: Vec<(sys::FilePath, sys::FilePath)>,
    next: usize,
}

impl Probe for FileRename {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let folder = setup.scratch.folder()?;
        let mut names = Vec::with_capacity(FILES);
        for i in 0..FILES {
            let path = folder.join(format!("a{i}"));
            fs::write(&path, b"x").with_context(|| format!("creating `{}`", path.display()))?;
            let other = folder.join(format!("b{i}"));
            names.push((sys::FilePath::new(&path)?, sys::FilePath::new(&other)?));
        }
        Ok(Box::new(Rename { names, next: 0 }))
    }
}

impl Workload for Rename {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let (present, other) = &mut self.names[self.next];
            present.rename_to(other)?;
            std::mem::swap(present, other);
            self.next = (self.next + 1) % FILES;
        }
        Ok(iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Params;
    use crate::probe::Scratch;

    #[test]
    fn files_go_to_their_other_names_and_back() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(dir.path().join("block"));
        let params = Params::default();
        let setup = Setup::of(&params, &scratch);
        let mut workload = FileRename.prepare(&setup).unwrap();
        let names = || {
            let entries = fs::read_dir(dir.path().join("block")).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let (a, b): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with('a'));
            (a.len(), b.len())
        };
        let mut run = |iterations| {
            assert_eq!(workload.run(iterations, &mut Stopwatch::default()).unwrap(), iterations);
            names()
        };
        assert_eq!(run(10), (FILES - 10, 10));
        assert_eq!(run(FILES as u64 - 10), (0, FILES));
        assert_eq!(run(3), (3, FILES - 3));
    }
}
