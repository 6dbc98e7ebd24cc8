//! The user's own commands around a whole run: once before any environment starts, and once after
//! all have ended, however they did.

use anyhow::{Context, Result, ensure};

use super::resources::set_up;
use super::session::SessionSettings;
use crate::cleanup::guard::Watch;
use crate::cleanup::stage::Stage;
use crate::model::Plan;

/// What was set up, there as long as this value lives.
pub struct RunHooks {
    _stage: Stage,
    _watch: Watch,
}

/// Runs the set-up commands of the plan, having written down what cleans up after them.
pub fn start_run_hooks(plan: &Plan, settings: &SessionSettings<'_>) -> Result<Option<RunHooks>> {
    let rules = plan.commands.as_ref();
    let Some(rules) = rules.filter(|it| !it.setup.is_empty() || !it.cleanup.is_empty()) else {
        return Ok(None);
    };
    let stage = Stage::make(&format!("{}-around", settings.token))
        .context("making a folder for `--setup`")?;
    let shell = |line: &String| ["sh", "-c", line].map(str::to_owned).to_vec();
    let undo: Vec<_> = rules.cleanup.iter().map(shell).collect();
    stage.write_undo(&undo).context("writing down `--cleanup`")?;
    let watch = settings.guard.watch_stage(stage.path());
    let around = RunHooks { _stage: stage, _watch: watch };
    for line in &rules.setup {
        let done = set_up(line, &around._stage, settings);
        ensure!(!(settings.interrupted)(), "interrupted before anything was measured");
        done.with_context(|| format!("`--setup '{line}'`"))?;
    }
    Ok(Some(around))
}
