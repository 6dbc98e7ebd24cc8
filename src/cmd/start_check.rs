//! Starts an environment only to see whether it starts, for `doctor` and for `--env auto`.

use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::control::{AgentError, MountPoints, Session, SessionSettings};
use crate::launch::{self, Launcher, Site};
use crate::model::{Availability, EnvSpec, Failure, TargetDir};
use crate::protocol::{Answer, Ask, UnavailableCase};

/// How an environment's start went.
pub(super) enum StartCheck {
    Started {
        after: Duration,
        /// Cases that cannot be measured there and target directories that cannot be used.
        without: Vec<(String, Failure)>,
    },
    Failed(Failure),
    /// Not started: its requirements seem to be met, but starting it would boot a machine.
    Ready,
    Interrupted,
}

/// Checks the environment's requirements. If starting it boots a machine, this is all; otherwise it
/// is started.
pub(super) fn in_short(spec: &EnvSpec, settings: &SessionSettings<'_>) -> StartCheck {
    let launcher = match found(spec) {
        Ok(launcher) if launcher.info().own_kernel => launcher,
        _ => return of(spec, settings),
    };
    let (agent, stage) = (settings.agent.to_string_lossy(), std::env::temp_dir());
    let (argument, id) = (&spec.argument, &settings.token);
    let site = Site { argument, agent: &agent, dirs: &[], id, stage: &stage };
    match launcher.commands(&site) {
        // The set-up commands have not made their files yet.
        Err(error) if spec.setup.is_empty() => {
            StartCheck::Failed(Failure::from(error).or_remedy(launcher.info().remedy))
        }
        _ => StartCheck::Ready,
    }
}

/// The environment's launcher if its requirements are installed, or the reason why not.
fn found(spec: &EnvSpec) -> Result<&'static dyn Launcher, Failure> {
    let launcher = launch::find(&spec.kind)?;
    match launch::availability(launcher) {
        Availability::Available => Ok(launcher),
        Availability::Unavailable { reason, remedy } => Err(Failure::new(reason).or_remedy(remedy)),
    }
}

/// Starts the environment for real, examines its target directories, and ends it.
pub(super) fn of(spec: &EnvSpec, settings: &SessionSettings<'_>) -> StartCheck {
    let launcher = match found(spec) {
        Ok(launcher) => launcher,
        Err(why) => return StartCheck::Failed(why),
    };
    let own = |(name, path): (&String, &String)| TargetDir {
        name: name.clone(),
        path: path.clone(),
        ..TargetDir::default()
    };
    let dirs: Vec<TargetDir> = spec.dirs.iter().map(own).collect();
    let mut points = MountPoints::default();
    if let Err(error) = points.add(spec, &dirs, settings) {
        return StartCheck::Failed(error.into());
    }
    let started = Session::start(spec, &dirs, settings).and_then(|mut session| {
        let after = session.started_in;
        let mut without = unavailable(&session);
        if !dirs.is_empty() {
            let paths = dirs.iter().map(|dir| dir.path.clone()).collect();
            let ask = Ask::Dirs { paths, token: settings.token.clone() };
            if let Answer::Dirs { dirs: answers, .. } = session.ask(ask, settings)? {
                let errors = dirs.iter().zip(answers).filter_map(|(dir, answer)| {
                    Some((format!("target directory {}", dir.name), answer.error?.into()))
                });
                without.extend(errors);
            }
        }
        Ok((after, without))
    });
    match started {
        Ok((after, without)) => StartCheck::Started { after, without },
        Err(AgentError::Interrupted) => StartCheck::Interrupted,
        Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
            StartCheck::Failed(Failure::from(error).or_remedy(launcher.info().remedy))
        }
    }
}

fn unavailable(session: &Session) -> Vec<(String, Failure)> {
    let cases = session.hello.unavailable.iter();
    let text = |case: &UnavailableCase| {
        let name = format!("{} {}", case.probe, case.params.as_str());
        (name.trim().to_owned(), Failure::new(&case.reason).or_remedy(&case.remedy))
    };
    cases.map(text).collect()
}

/// Tells on stderr what is being tried, if that is a terminal.
pub(super) fn progress(tries: usize) -> Result<ProgressBar> {
    let bar = ProgressBar::new(tries as u64);
    bar.set_style(ProgressStyle::with_template("{pos}/{len} {wide_msg}")?);
    Ok(bar)
}
