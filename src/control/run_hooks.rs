//! The user's commands around a whole run: one before any environment starts, and one after all
//! have ended, also after failures.

use anyhow::{Context, Result, ensure};

use super::resources::set_up;
use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::model::CommandRules;
use crate::sys;

/// Runs the set-up commands of the rules. The clean-up commands are written down before. They run
/// when the returned stage is dropped.
pub fn start_run_hooks(
    rules: Option<&CommandRules>,
    settings: &SessionSettings<'_>,
) -> Result<Option<HeldStage>> {
    let Some(rules) = rules.filter(|it| !it.setup.is_empty() || !it.cleanup.is_empty()) else {
        return Ok(None);
    };
    let stage = HeldStage::make(&format!("{}-hooks", settings.token), settings.guard, |_| {
        Ok(rules.cleanup.iter().map(|line| sys::shell(line)).collect())
    })?;
    for line in &rules.setup {
        let done = set_up(line, &stage, settings);
        ensure!(!(settings.interrupted)(), "interrupted before anything was measured");
        done.with_context(|| format!("`--setup '{line}'`"))?;
    }
    Ok(Some(stage))
}
