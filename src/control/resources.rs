//! The resources of one launch on this machine: its stage, the user's set-up and clean-up commands,
//! and the helper processes of its environment.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result};

use super::settings::{AgentError, SessionSettings};
use crate::cleanup::child;
use crate::cleanup::guard::Watch;
use crate::cleanup::held_stage::HeldStage;
use crate::launch::{Helper, Launcher, Site};
use crate::model::{EnvSpec, Failure};
use crate::sys;

/// How long one set-up command may take, and how long a helper may take until it is ready.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How many lines at the beginning of a helper's output are quoted.
const HEAD: usize = 2;
const TAIL: usize = 4;

/// What a launch needs on this machine. It is undone when this value is dropped.
pub(super) struct LaunchResources {
    stage: HeldStage,
}

impl LaunchResources {
    /// Makes the stage of the launch, runs the set-up commands, and lets the launcher prepare its
    /// files.
    pub(super) fn prepare(
        spec: &EnvSpec,
        launcher: &dyn Launcher,
        site: &Site<'_>,
        settings: &SessionSettings<'_>,
    ) -> Result<LaunchResources, AgentError> {
        let stage = HeldStage::make(site.id, settings.guard, |stage| {
            let mut undo = launcher.undo(&Site { stage, ..*site });
            undo.extend(spec.cleanup.iter().map(|line| sys::shell(line)));
            Ok(undo)
        })?;
        for line in &spec.setup {
            let done = set_up(line, &stage, settings);
            if (settings.interrupted)() {
                return Err(AgentError::Interrupted);
            }
            let failed = |error| {
                let failure = Failure::from(error).within(format!("set-up command `{line}`"));
                failure.or_remedy("run the environment's `setup` by hand")
            };
            done.map_err(failed).map_err(Error::new)?;
        }
        // The argument may name something that the set-up commands make.
        launcher.check(site.argument)?;
        launcher.prepare(&Site { stage: stage.path(), ..*site })?;
        Ok(LaunchResources { stage })
    }

    /// The launch's own folder.
    pub(super) fn stage(&self) -> &Path {
        self.stage.path()
    }

    /// Starts a helper and waits until it is ready.
    pub(super) fn start(
        &self,
        helper: &Helper,
        settings: &SessionSettings<'_>,
    ) -> Result<HelperProcess> {
        let name = helper.words.first().map_or("", String::as_str);
        let log = self.stage.path().join(format!("helper-{}.log", name.replace('/', "_")));
        HelperProcess::start(command_of(&helper.words, &log)?, helper, &log, settings)
    }
}

/// A helper process beside an environment. It ends when this value is dropped.
pub(super) struct HelperProcess {
    child: Child,
    _watch: Watch,
}

impl HelperProcess {
    /// Starts the helper by that command and waits until it is ready.
    pub(super) fn start(
        mut command: Command,
        helper: &Helper,
        log: &Path,
        settings: &SessionSettings<'_>,
    ) -> Result<HelperProcess> {
        let name = helper.words.first().map_or("", String::as_str);
        let child = command.spawn().with_context(|| format!("starting the helper `{name}`"))?;
        let watch = settings.guard.watch(child.id());
        let mut helper_process = HelperProcess { child, _watch: watch };
        let until = Instant::now() + TIME_LIMIT.min(settings.answer_limit);
        while !helper.ready.exists() {
            let by_hand = shell_words::join(&helper.words);
            if let Some(status) = helper_process.child.try_wait()? {
                let what = format!("the helper ended ({status})");
                return Err(Failure::new(what).printed(tail(log)).by_hand(by_hand).into());
            }
            if Instant::now() >= until || (settings.interrupted)() {
                let failure = Failure::new("the helper is not ready");
                return Err(failure.printed(tail(log)).by_hand(by_hand).into());
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(helper_process)
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        sys::ask_group_to_end(self.child.id());
        child::ends_within(&self.child, Duration::from_millis(500));
        sys::end_group(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a set-up command to its end. The guard watches it: if the controller dies, the command is
/// ended before the clean-up, so that it makes nothing after it.
pub(super) fn set_up(line: &str, stage: &HeldStage, settings: &SessionSettings<'_>) -> Result<()> {
    let log = stage.path().join("set-up.log");
    finish(command_of(&sys::shell(line), &log)?, &log, settings)
}

/// Runs a command to its end. Its output goes to `log`.
pub(super) fn finish(
    mut command: Command,
    log: &Path,
    settings: &SessionSettings<'_>,
) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
    let _watch = settings.guard.watch(child.id());
    match child::ended_within(&mut child, TIME_LIMIT, settings.interrupted)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(Failure::new(format!("ended with {status}")).printed(tail(log)).into()),
        None => {
            sys::end_group(child.id());
            let _ = child.wait();
            let what = format!("not finished after {} s", TIME_LIMIT.as_secs());
            Err(Failure::new(what).printed(tail(log)).into())
        }
    }
}

/// The command in a session of its own. Its output goes to a file.
pub(super) fn command_of(words: &[String], log: &Path) -> Result<Command> {
    let mut command = sys::command_of(words).context("an empty command")?;
    let output = File::create(log).with_context(|| format!("creating `{}`", log.display()))?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    sys::new_session(&mut command);
    Ok(command)
}

/// The first and the last lines of an output: programs say what is wrong either before they explain
/// their usage, or at the end of their work.
fn tail(log: &Path) -> Vec<String> {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = &lines[..lines.len().min(HEAD)];
    let last = &lines[lines.len().saturating_sub(TAIL).max(first.len())..];
    first.iter().chain(last).map(|line| (*line).to_owned()).collect()
}
