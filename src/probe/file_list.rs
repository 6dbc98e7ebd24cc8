//! Listing a folder.

use std::fs::File;

use anyhow::{Context, Result, ensure};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileList;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.list",
    summary: "list a folder of many files",
    timed: "One listing of all entries: openat of the folder, getdents64 into 32 KiB (as readdir \
             of glibc does) until nothing more comes, close. Divide by `entries` for the cost of \
             one; opening and closing are a small part of it.",
    excluded: "Making the folder and a first listing. The entries are empty files with names of \
             12 bytes. The records are not read, nothing is sorted, and no file is asked for its \
             attributes (that is file.walk). Listings that must come from a disk, and folders \
             that grew and shrank over time, are not covered. The folder is made anew for every \
             block; with many entries that takes far longer than the measuring.",
    unit: "listing",
    source: "the getdents64 calls of ls -f",
    phases: WHOLE,
    params: &[Param::count("entries", 1..=100_000)],
    cases: &["entries=1000", "entries=10000"],
    on_files: true,
};

/// Size of the buffer for one call's entries, in bytes.
const BUFFER: usize = 32 << 10;

struct List {
    folder: sys::FilePath,
    buffer: Vec<u8>,
    /// Bytes of all records of a whole listing.
    bytes: usize,
}

impl Probe for FileList {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let entries = setup.count("entries")?;
        let path = setup.scratch.folder()?;
        for i in 0..entries {
            let file = path.join(format!("entry_{i:06}"));
            File::create_new(&file).with_context(|| format!("creating `{}`", file.display()))?;
        }
        let folder = sys::FilePath::new(path)?;
        let mut list = List { folder, buffer: vec![0; BUFFER], bytes: 0 };
        let mut found = 0;
        list.bytes = list.pass(|records| found += records.count())?;
        ensure!(found as u64 == entries, "a folder of {entries} files lists {found}");
        Ok(Box::new(list))
    }
}

impl List {
    /// Lists the folder once, passes what each call brings to `look`, and returns how many bytes
    /// came.
    #[inline]
    fn pass(&mut self, mut look: impl FnMut(sys::Entries<'_>)) -> Result<usize> {
        let folder = sys::Folder::open(&self.folder)?;
        let mut bytes = 0;
        loop {
            let records = folder.read(&mut self.buffer)?;
            if records.bytes() == 0 {
                break;
            }
            bytes += records.bytes();
            look(records);
        }
        folder.close()?;
        Ok(bytes)
    }
}

impl Workload for List {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let bytes = self.pass(|_| ())?;
            ensure!(bytes == self.bytes, "{bytes} bytes of entries, and {} before", self.bytes);
        }
        Ok(iterations)
    }
}
