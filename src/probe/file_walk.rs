//! Walks a tree of folders and asks for every file's attributes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileWalk;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.walk",
    summary: "walk a tree of source files, as git status does",
    timed: "One walk of the whole tree: openat, getdents64 until the end and close for each of \
             64 folders (three levels below the root: 3, 12, 48), and newfstatat without \
             following links for each file, by its name in the open folder. The names come from \
             the listing. Where the listing does not tell which entries are folders, each entry \
             is asked, as programs do.",
    excluded: "Making the tree, and the first walk (the discarded sample): everything comes from \
             the caches of the system that serves the target directory. The files are empty, no \
             content is read, nothing is sorted, and the work of git itself and its index are \
             not in it. Trees from a disk or with a history of changes are not covered.",
    unit: "walk",
    source: "the system calls of git status and find over a tree of 1000 files",
    phases: WHOLE,
    params: &[Param::count("files", 1..=100_000)],
    cases: &["files=1000"],
    on_files: true,
};

/// Folders in each folder of the level above, by level.
const FAN: [usize; 3] = [3, 4, 4];
/// Folders in all, with the root.
const FOLDERS: u64 = 1 + 3 + 12 + 48;
/// Size of the buffer for one call's entries, in bytes.
const BUFFER: usize = 32 << 10;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    folders: u64,
    files: u64,
}

struct Walk {
    root: sys::FilePath,
    /// One buffer for each level: the upper levels are still being read when a lower one is.
    buffers: [Vec<u8>; FAN.len() + 1],
    tree: Seen,
}

impl Probe for FileWalk {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let files = setup.count("files")?;
        let root = setup.scratch.folder()?;
        make_tree(root, files)?;
        let buffers = std::array::from_fn(|_| vec![0; BUFFER]);
        let tree = Seen { folders: FOLDERS, files };
        Ok(Box::new(Walk { root: sys::FilePath::new(root)?, buffers, tree }))
    }
}

/// Makes the folders, and the files in all of them in turn.
fn make_tree(root: &Path, files: u64) -> Result<()> {
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut level = 0;
    for fan in FAN {
        let above = level..folders.len();
        level = folders.len();
        for (parent, i) in above.flat_map(|parent| (0..fan).map(move |i| (parent, i))) {
            let folder = folders[parent].join(format!("module_{i}"));
            fs::create_dir(&folder).with_context(|| format!("making `{}`", folder.display()))?;
            folders.push(folder);
        }
    }
    for (i, folder) in (0..files).zip(folders.iter().cycle()) {
        let file = folder.join(format!("source_{i:04}.c"));
        File::create_new(&file).with_context(|| format!("creating `{}`", file.display()))?;
    }
    Ok(())
}

/// Visits everything in the folder and below.
fn walk(folder: sys::Folder, buffers: &mut [Vec<u8>], seen: &mut Seen) -> Result<()> {
    let (buffer, inner) = buffers.split_first_mut().context("deeper than the tree was made")?;
    seen.folders += 1;
    loop {
        let entries = folder.read(buffer)?;
        if entries.bytes() == 0 {
            break;
        }
        for entry in entries {
            if entry.is_folder == Some(true) || folder.is_folder(&entry)? {
                walk(folder.open_inner(&entry)?, inner, seen)?;
            } else {
                seen.files += 1;
            }
        }
    }
    Ok(folder.close()?)
}

impl Workload for Walk {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let mut seen = Seen::default();
            walk(sys::Folder::open(&self.root)?, &mut self.buffers, &mut seen)?;
            ensure!(seen == self.tree, "saw {seen:?} of {:?}", self.tree);
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
    fn the_tree_is_as_described_and_a_change_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("block");
        let scratch = Scratch::at(root.clone());
        let params = Params::new("files=100");
        let mut workload = FileWalk.prepare(&Setup::of(&params, &scratch)).unwrap();
        let mut run = || workload.run(2, &mut Stopwatch::default());
        assert_eq!(run().unwrap(), 2);
        assert!(root.join("source_0064.c").exists(), "the 65th file is in the root again");
        fs::remove_file(root.join("module_2/module_3/module_3/source_0063.c")).unwrap();
        let error = run().unwrap_err().to_string();
        assert_eq!(
            error,
            "saw Seen { folders: 64, files: 99 } of Seen { folders: 64, files: 100 }"
        );
    }
}
