//! Shared by podman and docker: container engines with their own images.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::{name, target_dirs, without_colon};
use crate::cleanup::child;
use crate::launch::Site;
use crate::sys;

/// The agent's path inside: engines put a writable layer over every root.
pub(in crate::launch) const AGENT: &str = "/.envtax";

/// How long an engine may take to answer a question.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The options of `run` that both engines share. Nothing is downloaded. The container's output is
/// the protocol, so the engine must not log it.
pub(in crate::launch) fn run_words(site: &Site<'_>) -> Result<Vec<String>> {
    let name = name(site);
    let words = ["run", "--rm", "-i", "--name", &name, "--network", "none", "--pull", "never"];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.extend(["--log-driver", "none"].map(str::to_owned));
    let agent = format!("{}:{AGENT}:ro", without_colon(site.agent)?);
    words.extend(["-v".to_owned(), agent]);
    for dir in target_dirs(site) {
        let dir = without_colon(dir)?;
        words.extend(["-v".to_owned(), format!("{dir}:{dir}")]);
    }
    Ok(words)
}

/// The options for the filter of system calls, if it is not the engine's own.
pub(in crate::launch) fn filter_words(profile: Option<&str>) -> Vec<String> {
    let other = profile.filter(|profile| *profile != "default");
    let words = other.map(|profile| ["--security-opt".into(), format!("seccomp={profile}")]);
    words.into_iter().flatten().collect()
}

/// Runs a command to its end. Returns its last line of error output if it fails.
pub(in crate::launch) fn error_of(site: &Site<'_>, words: &[String]) -> Result<Option<String>> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let log = site.stage.join("engine.log");
    let output = File::create(&log).context("writing into the launch's stage")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    // In a session without a terminal, the command cannot ask for a password.
    sys::new_session(&mut command);
    let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
    let status = child::ended_or_killed(&mut child, TIME_LIMIT)?.with_context(|| {
        format!("no answer within {} s: {}", TIME_LIMIT.as_secs(), shell_words::join(words))
    })?;
    if status.success() {
        return Ok(None);
    }
    let text = fs::read_to_string(log).unwrap_or_default();
    Ok(Some(text.trim().lines().last().unwrap_or_default().to_owned()))
}
