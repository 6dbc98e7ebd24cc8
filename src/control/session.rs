//! A session with one agent in one environment: starts it, reads its greeting, asks it, and always
//! ends it.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::agent_process::Process;
use super::answer_limits;
use super::liveness::LivenessCheck;
use super::resources::{HelperProcess, LaunchResources};
use super::settings::{AgentError, SessionSettings};
use crate::launch::{self, Launch, LauncherInfo, Site};
use crate::model::{Availability, EnvSpec, Failure, TargetDir};
use crate::protocol::{Answer, Ask, Hello, Request, VERSION, line_of};
use crate::runfile::Outside;
use crate::sys;

/// How much longer than others an answer about programs and inputs may take, as a factor: the agent
/// reads every byte of them.
const INSPECTION_FACTOR: u32 = 10;
/// How much longer than others the answer about the clock may take: the agent waits for the clock.
const CLOCK_EXTRA: Duration = Duration::from_secs(2);

/// An agent that greeted.
pub struct Session {
    pub hello: Hello,
    /// The time from starting the command until the greeting arrived.
    pub started_in: Duration,
    /// CPU time that its processes on this machine had used at that moment.
    pub outside: Outside,
    /// Its processes on this machine at that moment, including launcher and helpers.
    descendants: Vec<u32>,
    /// Checks these processes while the controller waits for an answer.
    liveness: LivenessCheck,
    // Fields are dropped in this order: first the agent, then what it needs.
    process: Process,
    _helpers: Vec<HelperProcess>,
    _resources: Option<Rc<LaunchResources>>,
    launcher_serves_calls: bool,
    launcher_traces_guest: bool,
    next_id: u64,
}

impl Session {
    /// Starts the environment's agent with the first of its commands that works.
    pub fn start(
        spec: &EnvSpec,
        dirs: &[TargetDir],
        settings: &SessionSettings<'_>,
    ) -> Result<Session, AgentError> {
        let agent = settings.agent.to_str().context("the path of envtax is not UTF-8")?;
        let launcher = launch::find(&spec.kind)?;
        if let Availability::Unavailable { reason, remedy } = launch::availability(launcher) {
            return Err(AgentError::Dead(Failure::new(reason).or_remedy(remedy).into()));
        }
        settings.launches.set(settings.launches.get() + 1);
        let id = format!("{}-{}", settings.token, settings.launches.get());
        let wanted = launcher.info().staged || !spec.setup.is_empty() || !spec.cleanup.is_empty();
        let argument = &spec.argument;
        let site = Site { argument, agent, dirs, id: &id, stage: Path::new("") };
        let resources = match wanted {
            true => Some(Rc::new(LaunchResources::prepare(spec, launcher, &site, settings)?)),
            false => None,
        };
        let stage = resources.as_ref().map_or(site.stage, |resources| resources.stage());
        let site = Site { stage, ..site };
        let launches = launcher.commands(&site)?;
        match Session::start_by_any(&launches, &id, launcher.info(), &resources, settings) {
            Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
                let diagnosed = launcher.diagnose(&site).map(|it| AgentError::Dead(it.into()));
                Err(diagnosed.unwrap_or(AgentError::Dead(error)))
            }
            other => other,
        }
    }

    /// Tries the commands in order.
    fn start_by_any(
        launches: &[Launch],
        id: &str,
        info: &LauncherInfo,
        resources: &Option<Rc<LaunchResources>>,
        settings: &SessionSettings<'_>,
    ) -> Result<Session, AgentError> {
        let mut failures = Vec::new();
        for launch in launches {
            match Session::try_start(launch, id, info, resources, settings) {
                // Perhaps the command ended because it did not find the binary, which the next
                // command sends.
                Err(AgentError::Dead(error)) if !program_is_missing(&error) => {
                    failures.push(Failure::from(error));
                }
                other => return other,
            }
        }
        let remedy = failures.iter().find_map(launch::remedy_for);
        let mut failures = failures.into_iter();
        let mut failure = failures.next().context("a launcher without a command")?;
        failure.details.next_attempts = failures.collect();
        failure.details.remedy = remedy.map(str::to_owned);
        Err(AgentError::Dead(failure.into()))
    }

    fn try_start(
        launch: &Launch,
        id: &str,
        info: &LauncherInfo,
        resources: &Option<Rc<LaunchResources>>,
        settings: &SessionSettings<'_>,
    ) -> Result<Session, AgentError> {
        sys::reap_orphans(&settings.guard.children());
        let before = sys::descendants();
        let begin = Instant::now();
        let mut helpers = Vec::new();
        for helper in &launch.helpers {
            let resources = resources.as_ref().context("a helper needs a stage")?;
            helpers.push(resources.start(helper, settings)?);
        }
        let mut process = Process::start(launch, id, settings)?;
        process.is_all = resources.is_none();
        let boots = settings.answer_limit.max(Duration::from_secs(info.boot_limit_s));
        let limit = launch.boot_limit.unwrap_or(boots);
        let response = process.listen(begin, limit, None, settings)?;
        let started_in = begin.elapsed();
        let Answer::Hello(hello) = response.answer else {
            return Err(process.dead("the agent does not greet first"));
        };
        if hello.version != VERSION {
            let versions = format!(
                "the agent there speaks protocol {} (envtax {}), this one {VERSION}; use the same \
                 version on both sides",
                hello.version, hello.envtax
            );
            return Err(process.dead(&versions));
        }
        let descendants: Vec<u32> = sys::descendants().difference(&before).copied().collect();
        let outside = Outside {
            processes: (!descendants.is_empty()).then_some(descendants.len()),
            memory_bytes: sys::memory_bytes(&descendants),
            cpu_ns: sys::cpu_ns(&descendants),
        };
        Ok(Session {
            hello: *hello,
            started_in,
            outside,
            liveness: LivenessCheck::over(&descendants),
            descendants,
            process,
            _helpers: helpers,
            _resources: resources.clone(),
            launcher_serves_calls: info.serves_calls,
            launcher_traces_guest: info.traces_guest,
            next_id: 1,
        })
    }

    /// Pins the launcher's process to this CPU, or to every allowed CPU, if it takes part in every
    /// call of the agent. Also pins the processes that it traces for a guest. If the system
    /// refuses, the processes stay where they are, and costs vary more.
    pub fn place_launcher(&self, cpu: Option<usize>) {
        if !self.launcher_serves_calls {
            return;
        }
        let launcher = self.process.child.id();
        // The numbers of a guest's CPUs do not apply to this machine.
        let cpus = cpu.map_or_else(|| sys::allowed_cpus().unwrap_or_default(), |cpu| vec![cpu]);
        let _ = sys::pin_process(launcher, &cpus);
        if self.launcher_traces_guest {
            // A worker's process is forked from the agent's process and inherits its CPUs.
            sys::pin_traced(&self.descendants, launcher, &cpus);
        }
    }

    /// CPU time in ns that the environment's processes have used on this machine so far.
    pub fn outside_cpu_ns(&self) -> Option<u64> {
        sys::cpu_ns(&self.descendants)
    }

    /// Tells the agent that no more requests come. It does not wait, so that several agents can end
    /// at the same time.
    pub fn dismiss(&mut self) {
        self.process.close_input();
    }

    /// Sends one question and waits for the answer.
    pub fn ask(&mut self, ask: Ask, settings: &SessionSettings<'_>) -> Result<Answer, AgentError> {
        let id = self.next_id;
        self.next_id += 1;
        // While a command runs, an emulator may end a process of its own.
        let is_watched = !matches!(ask, Ask::Run { .. } | Ask::Inspect { .. });
        // Whole commands have a time limit of their own.
        let limit = match &ask {
            Ask::Run { task } => {
                let commands = 1 + task.prepare.len() + task.conclude.len();
                let each = Duration::from_millis(task.time_limit_ms);
                settings.answer_limit + each * commands as u32
            }
            // The agent reads and hashes every byte of programs and inputs, perhaps in an emulator.
            Ask::Inspect { .. } => settings.answer_limit * INSPECTION_FACTOR,
            Ask::Clock { .. } => settings.answer_limit + CLOCK_EXTRA,
            _ => settings.answer_limit,
        };
        let line = line_of(&Request { id, ask }).context("a request")?;
        self.process.send(line, settings)?;
        let begin = Instant::now();
        loop {
            let liveness = is_watched.then_some(&mut self.liveness);
            let response = self.process.listen(begin, limit, liveness, settings)?;
            if response.id == id {
                self.liveness.answered();
                return Ok(answer_limits::bounded(response.answer));
            }
        }
    }
}

/// Whether the command's own program could not be started. Then no other command can work, either.
fn program_is_missing(error: &anyhow::Error) -> bool {
    error.root_cause().is::<io::Error>()
}
