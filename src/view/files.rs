//! The run files of one folder: a list with what their beginnings tell, and the files themselves.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};

use super::kept::{Kept, Stamp};
use crate::import;
use crate::model::visible;
use crate::runfile::{self, Record, RunFile};

/// Most bytes of a file's first line, which is all that the list reads of it.
const BEGINNING: u64 = 256 << 10;
/// Most entries of the folder that the list looks at.
pub const ENTRIES: usize = 20_000;

/// The files of a folder, not of folders in it.
pub struct Files {
    folder: PathBuf,
    /// By name: the summary, or why it is no run file.
    summaries: Kept<String, Result<Arc<Summary>, String>>,
}

/// What the beginning of a run file tells.
pub struct Summary {
    /// The name in the folder.
    pub name: String,
    pub started: String,
    pub version: String,
    pub environments: Vec<String>,
    pub cases: usize,
    /// Ids of the probes.
    pub probes: BTreeSet<String>,
    pub bytes: u64,
    pub stamp: Stamp,
    /// Name and value of some facts of the machine.
    pub facts: Vec<(&'static str, String)>,
}

/// Every run file, and why others with that ending are none.
#[derive(Default)]
pub struct Listing {
    pub files: Vec<Arc<Summary>>,
    /// Names with reasons.
    pub damaged: Vec<(String, String)>,
    /// The folder has more entries than are looked at.
    pub cut: bool,
}

impl Files {
    pub fn of(folder: PathBuf) -> Result<Files> {
        let about = fs::metadata(&folder);
        let about = about.with_context(|| format!("reading `{}`", folder.display()))?;
        ensure!(about.is_dir(), "`{}` is no folder: give the one with run files", folder.display());
        Ok(Files { folder, summaries: Kept::new(ENTRIES, |_| 1) })
    }

    /// The run files, the newest first.
    pub fn list(&self) -> Result<Listing> {
        let entries = fs::read_dir(&self.folder)
            .with_context(|| format!("reading `{}`", self.folder.display()))?;
        let mut listing = Listing::default();
        for (at, entry) in entries.enumerate() {
            if at == ENTRIES {
                listing.cut = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if !name.ends_with(".jsonl") || !is_file {
                continue;
            }
            let Ok(about) = entry.metadata() else { continue };
            let stamp = Stamp::of(&about);
            let read = || match self.summary(&name, stamp) {
                Ok(summary) => Ok(Arc::new(summary)),
                Err(error) => Err(format!("{error:#}")),
            };
            match &*self.summaries.of(name.clone(), stamp, read) {
                Ok(summary) => listing.files.push(summary.clone()),
                Err(why) => listing.damaged.push((name, why.clone())),
            }
        }
        listing.files.sort_by(|a, b| (&b.started, &a.name).cmp(&(&a.started, &b.name)));
        listing.damaged.sort();
        Ok(listing)
    }

    fn summary(&self, name: &str, stamp: Stamp) -> Result<Summary> {
        let file = File::open(self.folder.join(name)).context("opening it")?;
        let bytes = file.metadata().context("reading it")?.len();
        let mut first = Vec::new();
        let mut beginning = BufReader::new(file.take(BEGINNING));
        beginning.read_until(b'\n', &mut first).context("reading it")?;
        let record = serde_json::from_slice(&crate::model::visible_json(&first));
        let Ok(Record::Header(header)) = record else {
            bail!("is no run file, or one of another version")
        };
        let wanted = ["distribution", "kernel", "cpu", "environment"];
        let fact = |name: &'static str| Some((name, header.host.get(name)?.clone()));
        let plan = &header.plan;
        Ok(Summary {
            name: name.to_owned(),
            facts: wanted.into_iter().filter_map(fact).collect(),
            environments: plan.environments.iter().map(|spec| spec.name.clone()).collect(),
            cases: plan.cases.len(),
            probes: plan.cases.iter().map(|it| it.case.probe.clone()).collect(),
            started: header.started,
            version: header.envtax,
            bytes,
            stamp,
        })
    }

    /// The run file of exactly that name in the list, as it is or as it is shown.
    pub fn read(&self, name: &str) -> Result<RunFile> {
        let shown = visible(name);
        let entries = fs::read_dir(&self.folder)
            .with_context(|| format!("reading `{}`", self.folder.display()))?;
        let mut own = entries.filter_map(Result::ok);
        let found = own.find(|entry| {
            let file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let own = entry.file_name();
            let same = own.to_str().is_some_and(|own| own == name || visible(own) == name);
            file && name.ends_with(".jsonl") && same
        });
        let entry = found.with_context(|| format!("the folder has no run file `{shown}`"))?;
        read(&entry.path())
    }

    /// The run file of a summary, without looking for its name in the folder again.
    pub fn read_listed(&self, summary: &Summary) -> Result<RunFile> {
        read(&self.folder.join(&summary.name))
    }
}

fn read(path: &Path) -> Result<RunFile> {
    match import::read(path)? {
        Some(run) => Ok(run),
        None => runfile::read(path),
    }
}
