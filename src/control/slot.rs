//! The environments of a run: they are started at the beginning, and again when their agent dies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::session::Session;
use super::settings::{AgentError, SessionSettings};
use super::tool_version;
use super::watcher::Watcher;
use crate::model::{
    ClockFacts, DATA_DIR, Details, EnvSpec, Facts, Failure, Plan, PlannedCase, TargetDir,
};
use crate::protocol::transfer::{PIECE, Piece, hex_of};
use crate::protocol::{Answer, Ask, DirAnswer};
use crate::runfile::{self, Launch, Record};
use crate::{launch, mount, sys};

/// An environment whose agent died more often than this is not started again.
const RELAUNCHES: u32 = 3;

/// The user asked envtax to stop.
pub(super) struct Interrupted;

/// One environment's place in the run.
pub(super) struct Slot {
    pub(super) spec: EnvSpec,
    /// None when the environment did not start or was given up.
    pub(super) session: Option<Session>,
    relaunches: u32,
    /// The reason why there is no session.
    pub(super) error: Option<Failure>,
    /// Target directories that this environment cannot use, with the reason.
    pub(super) bad_dirs: BTreeMap<String, String>,
    /// Paths in the environment of inputs that were sent there, by their paths on this machine.
    pub(super) staged: BTreeMap<String, String>,
    /// The clock's facts after the first start, once the clock had settled.
    clock: Option<ClockFacts>,
    /// Shortest sample in ns that this clock can time.
    pub(super) sample_ns: f64,
    /// How long the first start took, until the clock had settled.
    pub(super) started_in: Duration,
}

/// Starts every environment of the plan. An environment that does not start keeps its slot, with
/// the reason. It is an error if the reference does not start, because nothing could be compared.
pub(super) fn open_slots(
    plan: &Plan,
    settings: &SessionSettings<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Vec<Slot>, AgentError> {
    let mut slots = Vec::new();
    let mut records = Vec::new();
    for spec in &plan.environments {
        let mut slot = Slot {
            spec: spec.clone(),
            session: None,
            relaunches: 0,
            error: None,
            bad_dirs: BTreeMap::new(),
            staged: BTreeMap::new(),
            clock: None,
            sample_ns: 0.0,
            started_in: Duration::ZERO,
        };
        let started = Session::start(spec, &plan.dirs_in(spec), settings)
            .and_then(|session| admit(&mut slot, session, plan, settings, watcher));
        let (error, record) = match started {
            Ok(mut record) => {
                let tool = tool_version::version(launch::find(&spec.kind)?.info().version_command);
                record.facts.extend(tool.map(|version| ("launcher".to_owned(), version)));
                if plan.load > 0 {
                    let text = format!("{} busy processes", plan.load);
                    record.facts.insert("load_beside".into(), text);
                }
                (None, record)
            }
            Err(AgentError::Interrupted) => return Err(AgentError::Interrupted),
            Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
                let name = &spec.name;
                let failure = Failure::from(error)
                    .within(format!("environment `{name}` ({}) did not start", spec.spec()))
                    .or_remedy(launch::find(&spec.kind)?.info().remedy);
                (Some(failure.clone()), not_started(name, failure))
            }
        };
        if let Some(failure) = &error {
            if spec.name == plan.reference {
                return Err(AgentError::Dead(failure.clone().into()));
            }
            watcher.warn(failure);
        }
        slot.error = error;
        slots.push(slot);
        records.push(record);
    }
    refuse_bad_dirs(plan, &slots)?;
    refuse_one(plan, &slots)?;
    for record in records {
        watcher.record(Record::Environment(record))?;
    }
    for launch in slots.iter().filter_map(|slot| slot.launch(0, false)) {
        watcher.record(Record::Launch(launch))?;
    }
    Ok(slots)
}

/// A whole command that is left with one of several columns has nothing to be compared with, and
/// takes long. A re-enactment is told of each environment by itself, also why it did not start.
fn refuse_one(plan: &Plan, slots: &[Slot]) -> Result<()> {
    let (started, failed): (Vec<&Slot>, Vec<&Slot>) =
        slots.iter().partition(|slot| slot.session.is_some());
    if let [one] = started[..]
        && plan.commands.is_some()
        && !plan.cases.iter().any(is_reenacted)
        && !failed.is_empty()
    {
        let names: Vec<String> =
            failed.iter().map(|slot| format!("`{}`", slot.spec.name)).collect();
        bail!(
            "nothing was measured: {} did not start, for the reason above, so there is nothing to \
             compare `{}` with; leave it out to time `{}` alone",
            names.join(" and "),
            one.spec.name,
            one.spec.name
        );
    }
    Ok(())
}

fn is_reenacted(case: &PlannedCase) -> bool {
    let workload = case.command().and_then(|command| command.workload());
    workload.is_some_and(|workload| workload.is_reenactment())
}

fn not_started(name: &str, failure: Failure) -> runfile::Environment {
    runfile::Environment {
        name: name.to_owned(),
        error: Some(failure.what),
        details: failure.details,
        facts: Facts::new(),
        clock: Default::default(),
        cpus: Vec::new(),
        started_in_ms: 0.0,
        dirs: BTreeMap::new(),
    }
}

/// Puts a started session into its slot and examines the target directories there.
fn admit(
    slot: &mut Slot,
    mut session: Session,
    plan: &Plan,
    settings: &SessionSettings<'_>,
    watcher: &mut dyn Watcher,
) -> Result<runfile::Environment, AgentError> {
    let greeted = Instant::now();
    slot.settle_clock(&mut session, settings)?;
    slot.started_in = session.started_in + greeted.elapsed();
    let mut facts = match session.ask(Ask::Facts, settings)? {
        Answer::Facts(facts) => facts,
        _ => Facts::new(),
    };
    let target_dirs = plan.dirs_in(&slot.spec);
    let marks = marks(&target_dirs, &slot.spec)?;
    let paths = target_dirs.iter().map(|dir| &dir.path).chain(marks.values()).cloned().collect();
    let ask = Ask::Dirs { paths, token: settings.token.clone() };
    let (answers, removed): (Vec<DirAnswer>, _) = match session.ask(ask, settings)? {
        Answer::Dirs { dirs, removed } => (dirs, removed),
        _ => Default::default(),
    };
    if !removed.is_empty() {
        let (name, removed) = (&slot.spec.name, removed.join(", "));
        watcher.warn(&format!("`{name}`: removed what a killed run left: {removed}").into());
    }
    let mut dirs = BTreeMap::new();
    let mut answers = answers.into_iter();
    for (dir, mut answer) in target_dirs.iter().zip(answers.by_ref()) {
        if !dir.made.is_empty() {
            answer.facts.insert("made".into(), dir.made.clone());
        }
        dirs.insert(dir.name.clone(), answer.facts);
        if let Some(error) = answer.error {
            slot.bad_dirs.insert(dir.name.clone(), error);
        }
    }
    for (dir, answer) in marks.into_keys().zip(answers) {
        if answer.error.is_some() {
            let name = &slot.spec.name;
            let of_workloads = dir.starts_with(DATA_DIR) && plan.commands.is_some();
            let error = match of_workloads {
                true => format!(
                    "`{name}` does not see the data of workloads, which lies below TMPDIR on this \
                     machine"
                ),
                false => {
                    format!("`{name}` does not see the filesystem that was made for `--dir {dir}`")
                }
            };
            slot.bad_dirs.insert(dir, error);
        }
    }
    slot.staged = send_inputs(plan, &mut session, settings)?;
    let hello = &session.hello;
    facts.insert("target".into(), hello.target.clone());
    let record = runfile::Environment {
        name: slot.spec.name.clone(),
        error: None,
        details: Details::default(),
        facts,
        clock: slot.clock.clone().unwrap_or_default(),
        cpus: hello.cpus.clone(),
        started_in_ms: session.started_in.as_secs_f64() * 1e3,
        dirs,
    };
    runfile::check_environment(&record).context("the agent's answer")?;
    slot.session = Some(session);
    Ok(record)
}

/// Sends the inputs of commands into the environment, if the user wants that. Returns their paths
/// there.
fn send_inputs(
    plan: &Plan,
    session: &mut Session,
    settings: &SessionSettings<'_>,
) -> Result<BTreeMap<String, String>, AgentError> {
    let mut places = BTreeMap::new();
    let launch = settings.launches.get();
    let Some(rules) = plan.commands.as_ref().filter(|rules| rules.stage) else {
        return Ok(places);
    };
    let cases = plan.cases.iter().filter_map(|case| case.command()?.input.as_ref());
    let stdin = rules.stdin.iter().filter(|path| !path.contains("{}"));
    let paths: BTreeSet<&String> = cases.chain(stdin).collect();
    for (number, path) in paths.into_iter().enumerate() {
        let mut file = File::open(path).with_context(|| format!("opening `{path}`"))?;
        let mode = file.metadata().ok().and_then(|about| sys::mode_of(&about));
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        // An empty file needs one piece, too.
        let mut length = PIECE;
        while length == PIECE {
            let mut bytes = Vec::new();
            length = file
                .by_ref()
                .take(PIECE as u64)
                .read_to_end(&mut bytes)
                .with_context(|| format!("reading `{path}`"))?;
            let ask = Ask::Put {
                launch,
                number,
                name: name.clone().into_owned(),
                token: settings.token.clone(),
                piece: Piece { hex: hex_of(&bytes), mode },
            };
            let place = match session.ask(ask, settings)? {
                Answer::Put { path } => path,
                Answer::Failed(failure) => {
                    let failure = failure.within(format!("sending `{path}` there"));
                    return Err(AgentError::Dead(failure.into()));
                }
                _ => return Err(AgentError::Dead(anyhow!("the agent there accepts no files"))),
            };
            places.insert(path.clone(), place);
        }
    }
    Ok(places)
}

/// The mark of each made directory that this environment should see, by the directory's name. A
/// runtime with mounts of its own may see the folder below the mount instead, which is another
/// filesystem.
fn marks(dirs: &[TargetDir], spec: &EnvSpec) -> Result<BTreeMap<String, String>> {
    if launch::find(&spec.kind)?.info().own_kernel {
        return Ok(BTreeMap::new());
    }
    let made = dirs.iter().filter(|dir| !dir.made.is_empty());
    Ok(made.map(|dir| (dir.name.clone(), format!("{}/{}", dir.path, mount::MARK))).collect())
}

/// An error if no environment can use a target directory: then the command line is wrong.
fn refuse_bad_dirs(plan: &Plan, slots: &[Slot]) -> Result<()> {
    for dir in &plan.dirs {
        let started = slots.iter().filter(|slot| slot.session.is_some());
        let errors: Option<Vec<&String>> =
            started.map(|slot| slot.bad_dirs.get(&dir.name)).collect();
        if let Some(first) = errors.unwrap_or_default().first() {
            bail!("target directory `{}`: {first}", dir.name);
        }
    }
    Ok(())
}

/// The CPUs that every started environment allows. If one does not tell, rounds are not pinned.
pub(super) fn common_cpus(slots: &[Slot]) -> Vec<usize> {
    let mut sessions = slots.iter().filter_map(|slot| slot.session.as_ref());
    let Some(first) = sessions.next() else { return Vec::new() };
    let mut cpus = first.hello.cpus.clone();
    for session in sessions {
        cpus.retain(|cpu| session.hello.cpus.contains(cpu));
    }
    cpus
}

impl Slot {
    /// Waits until the environment's clock has settled, and keeps its facts of the first time.
    fn settle_clock(
        &mut self,
        session: &mut Session,
        settings: &SessionSettings<'_>,
    ) -> Result<(), AgentError> {
        let known_ns = self.clock.as_ref().map(|clock| clock.cost_ns);
        match session.ask(Ask::Clock { known_ns }, settings)? {
            Answer::Clock { clock, sample_ns } if self.clock.is_none() => {
                (self.clock, self.sample_ns) = (Some(clock), sample_ns);
                Ok(())
            }
            Answer::Clock { .. } => Ok(()),
            _ => Err(AgentError::Dead(anyhow!("the agent there tells nothing about its clock"))),
        }
    }

    /// The record of the session's start for the run file.
    pub(super) fn launch(&self, launch: u32, cold: bool) -> Option<Launch> {
        let session = self.session.as_ref()?;
        Some(Launch {
            env: self.spec.name.clone(),
            launch,
            cold,
            started_in_ms: session.started_in.as_secs_f64() * 1e3,
            outside: session.outside.clone(),
        })
    }

    /// Starts the environment again after its agent died; the new agent removes what the dead one
    /// left. Afterwards the slot has a session, or the reason why it has none any more.
    pub(super) fn relaunch(
        &mut self,
        plan: &Plan,
        settings: &SessionSettings<'_>,
    ) -> Result<(), Interrupted> {
        self.session = None;
        self.relaunches += 1;
        if self.relaunches > RELAUNCHES {
            let name = &self.spec.name;
            let deaths = self.relaunches;
            let what = format!("environment `{name}`: its agent died {deaths} times");
            self.error = Some(Failure::new(what));
            return Ok(());
        }
        self.start_again(plan, settings)
    }

    /// Ends the environment and starts it again, which begins another launch.
    pub(super) fn start_again(
        &mut self,
        plan: &Plan,
        settings: &SessionSettings<'_>,
    ) -> Result<(), Interrupted> {
        self.session = None;
        let dirs = plan.dirs_in(&self.spec);
        let paths = dirs.iter().map(|dir| dir.path.clone()).collect();
        let clean = Ask::Clean { paths, token: settings.token.clone() };
        let started = Session::start(&self.spec, &dirs, settings)
            .and_then(|mut session| session.ask(clean, settings).map(|_| session))
            .and_then(|mut session| self.settle_clock(&mut session, settings).map(|()| session))
            .and_then(|mut session| Ok((send_inputs(plan, &mut session, settings)?, session)));
        match started {
            Ok((staged, session)) => {
                self.staged = staged;
                self.session = Some(session);
                self.error = None;
            }
            Err(AgentError::Interrupted) => return Err(Interrupted),
            Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
                let name = &self.spec.name;
                let context = format!("environment `{name}` did not start again");
                self.error = Some(Failure::from(error).within(context));
            }
        }
        Ok(())
    }
}
