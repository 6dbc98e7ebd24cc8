//! What is re-enacted: recordings of files or of the catalogue, each as it is and with the changes
//! that are tried.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::planned;
use crate::cli::ExplainArgs;
use crate::cmd::record::read;
use crate::explain::{CHANGE, CHANGED};
use crate::model::{DATA_DIR, Executed, PlannedCase, REENACTMENT, WorkloadCase, suggest};
use crate::recording::catalogue::{self, CATALOGUE};
use crate::recording::{Class, Recording};
use crate::reenact::{self, Change, Options};
use crate::{sys, units};

/// A recording that is explained.
pub(super) struct Subject {
    pub(super) recording: Recording,
    /// Name of its re-enactment in the run file.
    pub(super) workload: String,
    /// It came with envtax: the program need not be here.
    pub(super) absent: bool,
    /// Calls that are recorded and not re-enacted, once that is known.
    pub(super) dropped: RefCell<Vec<(&'static str, u64)>>,
}

/// One re-enactment.
pub(super) struct Act {
    pub(super) workload: String,
    pub(super) recording: Recording,
    pub(super) options: Options,
    /// Name and path of the folder for its stand-in files, if it is not that of all.
    pub(super) dir: Option<(String, PathBuf)>,
    /// It changes its stand-in files.
    pub(super) restores: bool,
    params: String,
}

/// What the arguments name.
pub(super) fn subjects(args: &ExplainArgs) -> Result<Vec<Subject>> {
    if args.programs.is_some() {
        let of = |entry: &catalogue::Entry| {
            let workload = format!("{REENACTMENT}-{}", entry.name);
            Ok(Subject::new(entry.read()?, workload, true))
        };
        return CATALOGUE.iter().map(of).collect();
    }
    let name = args.recording.as_deref().context("no recording is named")?;
    let entry = name.to_str().filter(|_| !name.exists()).and_then(catalogue::find);
    let (recording, absent) = match entry {
        Some(entry) => (entry.read()?, true),
        None if !name.exists()
            && name.extension().is_none()
            && name.parent() == Some(Path::new("")) =>
        {
            let known: Vec<_> = CATALOGUE.iter().map(|it| (it.name, it.summary)).collect();
            let unknown = suggest::unknown("recording", &name.to_string_lossy(), &known);
            bail!("{unknown} (there is no file of that name either)")
        }
        None => (read(name)?, false),
    };
    Ok(vec![Subject::new(recording, REENACTMENT.to_owned(), absent)])
}

impl Subject {
    fn new(recording: Recording, workload: String, absent: bool) -> Subject {
        Subject { recording, workload, absent, dropped: RefCell::default() }
    }
}

/// The re-enactments of all subjects, each first as it is.
pub(super) fn acts(args: &ExplainArgs, subjects: &[Subject]) -> Result<Vec<Act>> {
    let steps_per_ns = sys::spin_rate();
    let without = classes(args.without.iter().map(String::as_str))?;
    let mut acts = Vec::new();
    for subject in subjects {
        let recording = &subject.recording;
        let machine = &recording.about.machine;
        ensure!(
            machine == std::env::consts::ARCH,
            "the program was recorded on {machine}, and this machine is {}: record it again here",
            std::env::consts::ARCH
        );
        let options = Options { steps_per_ns, without: without.clone(), ..Options::default() };
        let compiled = reenact::compile(recording, &options);
        subject.dropped.replace(compiled.dropped.into_iter().collect());
        let one = || Act {
            workload: subject.workload.clone(),
            recording: recording.clone(),
            options: options.clone(),
            dir: None,
            restores: compiled.changes_tree,
            params: match args.programs {
                Some(_) => format!("program={}", recording.about.name),
                None => "program=re-enacted".to_owned(),
            },
        };
        acts.push(one());
        for (number, text) in (1..).zip(&args.changes) {
            let mut act = one();
            act.workload += &format!("{CHANGED}{number}");
            act.params += &format!(" {CHANGE}={text}");
            act.change(text, number)?;
            acts.push(act);
        }
    }
    Ok(acts)
}

impl Act {
    /// Applies a change as the user wrote it.
    fn change(&mut self, text: &str, number: usize) -> Result<()> {
        let known = "write dir=PATH, reads=SIZE, writes=SIZE or without=CLASS";
        let Some((what, value)) = text.split_once('=') else { bail!("`--try {text}`: {known}") };
        ensure!(!text.contains(' '), "`--try {text}`: a value has no spaces");
        let size = || {
            // A stand-in process moves no more in one call.
            let size = units::parse_bytes(value).filter(|size| (1..=256 << 10).contains(size));
            size.with_context(|| format!("`--try {text}`: write a size up to 256K, such as 64K"))
        };
        let change = match what {
            "dir" => {
                self.dir = Some((format!("{DATA_DIR}{number}"), PathBuf::from(value)));
                return Ok(());
            }
            "reads" => Change::Reads(size()?),
            "writes" => Change::Writes(size()?),
            "without" => Change::Without(classes(value.split(','))?),
            _ => bail!("`--try {text}`: {known}"),
        };
        self.recording = reenact::changed(&self.recording, &change);
        if let Change::Without(classes) = change {
            self.options.without.extend(classes);
        }
        Ok(())
    }

    /// Name of the target directory of its stand-in files.
    pub(super) fn dir_name(&self) -> &str {
        self.dir.as_ref().map_or(DATA_DIR, |(name, _)| name)
    }

    /// The case that runs it.
    pub(super) fn case(&self) -> PlannedCase {
        let folder = |name: &str| format!("{{data}}/{name}");
        let words = [
            folder(reenact::PROGRAM),
            "reenact".to_owned(),
            folder(reenact::SCRIPT),
            folder(reenact::TREE),
            "{out}".to_owned(),
        ];
        let workload = WorkloadCase {
            name: self.workload.clone(),
            command: words.to_vec(),
            needs: Vec::new(),
            elsewhere: self.dir.as_ref().map(|(name, _)| name.clone()),
        };
        planned(&self.params, Executed::Workload(workload))
    }
}

fn classes<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<Class>> {
    let of = |name: &str| {
        let found = Class::ALL.iter().find(|(class, ..)| class.name() == name);
        let known: Vec<_> = Class::ALL.iter().map(|(_, name, words)| (*name, *words)).collect();
        found.map(|it| it.0).with_context(|| suggest::unknown("class", name, &known))
    };
    names.map(of).collect()
}
