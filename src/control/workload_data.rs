//! The data of the plan's workloads. It is made before any environment starts and removed after the
//! last one has ended.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::resources::{command_of, finish};
use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::model::{DATA_DIR, PlannedCase, TargetDir, WorkloadCase};
use crate::{mount, sys, workload};

/// Makes what a re-enactment needs, in an empty folder.
pub type MakeReenactment<'a> = dyn Fn(&Path) -> Result<()> + 'a;

/// Makes the data of these cases' workloads in a target directory, which is returned. Dropping the
/// stage removes it.
pub fn make_data(
    cases: &[PlannedCase],
    reenactment: Option<&MakeReenactment<'_>>,
    settings: &SessionSettings<'_>,
) -> Result<Option<(TargetDir, HeldStage)>> {
    let commands = cases.iter().filter_map(PlannedCase::command);
    let workloads = commands.filter_map(|command| command.workload());
    let needy: Vec<&WorkloadCase> = workloads.filter(|workload| workload.has_data()).collect();
    if needy.is_empty() {
        return Ok(None);
    }
    let id = format!("{}-{DATA_DIR}", settings.token);
    let stage = HeldStage::make(&id, settings.guard, |_| Ok(Vec::new()))?;
    sys::let_through(stage.path())?;
    let root = stage.path().join(DATA_DIR);
    fs::create_dir(&root)?;
    for case in needy {
        let name = &case.name;
        if let Some(make) = reenactment.filter(|_| case.is_reenactment()) {
            let folder = root.join(name);
            fs::create_dir(&folder)?;
            make(&folder).context("making the stand-in files")?;
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
    let path = root.to_str().context("`TMPDIR` is not UTF-8")?.to_owned();
    let mark = root.join(mount::MARK);
    fs::create_dir(&mark)?;
    sys::let_write(&mark)?;
    Ok(Some((TargetDir { name: DATA_DIR.into(), path, made: DATA_DIR.into() }, stage)))
}
