//! The data of the plan's workloads. It is made before any environment starts and removed after the
//! last one has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::resources::{command_of, finish};
use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::model::{DATA_DIR, PlannedCase, TargetDir, WorkloadCase};
use crate::{mount, sys, workload};

/// What makes the stand-in files of re-enactments.
pub struct Reenactment<'a> {
    /// The folders in which they are made, by the names of target directories; others are made in
    /// that for temporary files.
    pub folders: BTreeMap<String, PathBuf>,
    /// Makes those of the workload of that name in an empty folder.
    pub make: &'a dyn Fn(&str, &Path) -> Result<()>,
}

/// Makes the data of these cases' workloads in target directories, which are returned. Dropping the
/// stages removes them.
pub fn make_data(
    cases: &[PlannedCase],
    reenactment: Option<&Reenactment<'_>>,
    settings: &SessionSettings<'_>,
) -> Result<Vec<(TargetDir, HeldStage)>> {
    let commands = cases.iter().filter_map(PlannedCase::command);
    let workloads = commands.filter_map(|command| command.workload());
    let needy: Vec<&WorkloadCase> = workloads.filter(|workload| workload.has_data()).collect();
    let names: BTreeSet<&str> = needy.iter().map(|workload| workload.dir()).collect();
    let made = names.into_iter().map(|name| {
        let here: Vec<_> = needy.iter().copied().filter(|it| it.dir() == name).collect();
        make_dir(name, &here, reenactment, settings)
    });
    made.collect()
}

/// Makes the data of these workloads in the target directory of that name.
fn make_dir(
    dir: &str,
    needy: &[&WorkloadCase],
    reenactment: Option<&Reenactment<'_>>,
    settings: &SessionSettings<'_>,
) -> Result<(TargetDir, HeldStage)> {
    let id = format!("{}-{dir}", settings.token);
    let elsewhere =
        reenactment.and_then(|it| it.folders.get(dir)).map(|folder| folder.join(format!(".{id}")));
    let removal = elsewhere.iter().map(|path| removal(path)).collect();
    let stage = HeldStage::make(&id, settings.guard, |_| removal)?;
    if let Some(path) = &elsewhere {
        let made = sys::make_private_folder(path);
        made.with_context(|| format!("making `{}` for the stand-in files", path.display()))?;
    }
    let home = elsewhere.as_deref().unwrap_or(stage.path());
    sys::let_through(home)?;
    let root = home.join(DATA_DIR);
    fs::create_dir(&root)?;
    for case in needy {
        let name = &case.name;
        if let Some(Reenactment { make, .. }) = reenactment.filter(|_| case.is_reenactment()) {
            let folder = root.join(name);
            fs::create_dir(&folder)?;
            make(name, &folder).context("making the stand-in files")?;
            sys::let_write(&folder)?;
            continue;
        }
        let workload = workload::find(name)?;
        let folder = root.join(name);
        let made = fs::create_dir(&folder).and_then(|()| (workload.make)(&folder));
        made.with_context(|| format!("making the data of `--workload {name}`"))?;
        if !workload.script.is_empty() {
            let script = format!("set -eu\ncd \"$1\"\n{}", workload.script);
            let words = ["sh", "-c", &script, "sh", &folder.to_string_lossy()].map(str::to_owned);
            let log = stage.path().join("log");
            let done = finish(command_of(&words, &log)?, &log, settings);
            ensure!(!(settings.interrupted)(), "interrupted before anything was measured");
            done.with_context(|| format!("completing the data of `--workload {name}`"))?;
        }
    }
    sys::let_write(&root)?;
    let path =
        root.to_str().with_context(|| format!("`{}` is not UTF-8", root.display()))?.to_owned();
    let mark = root.join(mount::MARK);
    fs::create_dir(&mark)?;
    sys::let_write(&mark)?;
    Ok((TargetDir { name: dir.into(), path, made: DATA_DIR.into() }, stage))
}

/// The undo command that removes a folder of this run outside its stage.
fn removal(folder: &Path) -> Result<Vec<String>> {
    let path = folder.to_str().with_context(|| format!("`{}` is not UTF-8", folder.display()))?;
    Ok(["rm", "-rf", "--", path].map(str::to_owned).to_vec())
}
