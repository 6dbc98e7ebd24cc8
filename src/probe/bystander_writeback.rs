//! How long another process is held up while a file is written to its disk.

use std::fs::{File, OpenOptions, remove_file};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::bystander_latency::{FIGURES, OPERATIONS, RATES, Watched};
use super::file_blocks::has_room;
use super::{Param, Probe, ProbeInfo, Setup, incompressible};
use crate::measure::{Stopwatch, Workload};
use crate::model::Extras;

pub struct BystanderWriteback;

static INFO: ProbeInfo = ProbeInfo {
    id: "bystander.writeback",
    summary: "what another process feels while a file is flushed",
    timed: "As `bystander.latency`, with another storm: the worker writes a new file of `n` MiB in \
            the target directory, 1 MiB at a time, each followed by fdatasync. `storm` is its \
            length, divided by `n`; `op=open` opens another file of the same directory.",
    excluded: "Creating and removing the file. Where a disk acknowledges before the data is \
             durable, or the directory is in memory, the storm is short and delays nothing.",
    unit: "MiB",
    source: "none; bystander.latency with a process that writes and syncs as the storm",
    phases: FIGURES,
    params: &[
        Param::one_of("op", OPERATIONS),
        Param::count("n", 1..=256),
        Param::count("rate", RATES),
        Param::one_of("cpu", &["free", "same"]),
    ],
    cases: &["op=wake n=16 rate=1000 cpu=free", "op=open n=16 rate=1000 cpu=free"],
    on_files: true,
};

const MIB: usize = 1 << 20;

struct Flush {
    watched: Watched,
    path: PathBuf,
    file: Option<File>,
    data: Vec<u8>,
    n: u64,
}

impl Probe for BystanderWriteback {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        has_room(setup, setup.count("n")? << 20, "n")?;
        let cpus = setup.peer_cpus()?;
        Ok(Box::new(Flush {
            watched: Watched::start(setup, &cpus)?,
            path: setup.scratch.folder()?.join("flushed"),
            file: None,
            data: incompressible(MIB),
            n: setup.count("n")?,
        }))
    }
}

impl Flush {
    fn name(&self) -> String {
        format!("`{}`", self.path.display())
    }
}

impl Workload for Flush {
    fn before_sample(&mut self, _: u64) -> Result<()> {
        let made = OpenOptions::new().write(true).create_new(true).open(&self.path);
        self.file = Some(made.with_context(|| format!("creating {}", self.name()))?);
        self.watched.calm();
        Ok(())
    }

    fn run(&mut self, _: u64, watch: &mut Stopwatch) -> Result<u64> {
        let (file, data, n) = (&mut self.file, &self.data, self.n);
        self.watched.during(watch, |_| {
            let file = file.as_mut().context("there is no file")?;
            for _ in 0..n {
                file.write_all(data)?;
                file.sync_data()?;
            }
            Ok(())
        })?;
        Ok(n)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.file = None;
        remove_file(&self.path).with_context(|| format!("removing {}", self.name()))?;
        self.watched.keep();
        Ok(())
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.n..=self.n
    }

    fn extras(&mut self) -> Result<Extras> {
        Ok(self.watched.extras())
    }
}
