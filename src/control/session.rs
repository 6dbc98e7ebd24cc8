//! One agent in one environment: started, greeted, asked, and taken down whatever happens.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::liveness::LivenessCheck;
use super::resources::{HelperProcess, LaunchResources};
use crate::cleanup::child;
use crate::cleanup::guard::{Guard, Watch};
use crate::launch::{self, Launch, LauncherInfo, Site};
use crate::model::{Availability, EnvSpec, TargetDir, visible_json, visible_line};
use crate::protocol::{
    Answer, Ask, Hello, MAX_LINE, Request, Response, VERSION, line_of, message_in,
};
use crate::runfile::Outside;
use crate::sys;

/// How long an agent may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);
/// So many times as long as other questions may take that of what programs and inputs are.
const INSPECTION: u32 = 10;
/// How much longer than others the answer may take for which an agent waits itself.
const CLOCK: Duration = Duration::from_secs(2);
/// How long the last lines of an ended agent are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How often a wait looks whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(25);
/// Lines of noise kept to be quoted.
const NOISE_LINES: usize = 8;

/// What every session of a run has in common.
pub struct SessionSettings<'a> {
    /// Path of the binary that is started inside.
    pub agent: PathBuf,
    /// Longest wait for the greeting or one answer.
    pub answer_limit: Duration,
    /// Says whether the user asked to stop.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Ends what is left when this process is killed.
    pub guard: &'a Guard,
    /// Marks everything that is left behind until it is removed.
    pub token: String,
    /// How many launches there were: each has a number of its own.
    pub launches: Cell<u32>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum AgentError {
    /// The user asked to stop.
    Interrupted,
    /// Nothing came in time. The agent was ended.
    TimedOut(anyhow::Error),
    /// The agent is of no more use; the text says why.
    Dead(anyhow::Error),
}

impl From<anyhow::Error> for AgentError {
    fn from(error: anyhow::Error) -> Self {
        AgentError::Dead(error)
    }
}

enum Heard {
    Message(String),
    TooLong,
    Closed,
}

type Noise = Arc<Mutex<VecDeque<String>>>;

/// An agent that greeted.
pub struct Session {
    pub hello: Hello,
    /// From starting the command until the greeting was here.
    pub started_in: Duration,
    /// What it had taken on this side by then.
    pub outside: Outside,
    /// Its processes on this side as they were then, launcher and helpers included.
    descendants: Vec<u32>,
    /// Over them, while an answer is waited for.
    liveness: LivenessCheck,
    // Dropped in this order: the agent first, then what it stood on.
    process: Process,
    _helpers: Vec<HelperProcess>,
    _resources: Option<Rc<LaunchResources>>,
    launcher_serves_calls: bool,
    launcher_traces_guest: bool,
    next_id: u64,
}

impl Session {
    /// Starts the environment's agent by the first of its commands that works.
    pub fn start(
        spec: &EnvSpec,
        dirs: &[TargetDir],
        settings: &SessionSettings<'_>,
    ) -> Result<Session, AgentError> {
        let agent = settings.agent.to_str().context("the path of envtax is not UTF-8")?;
        let launcher = launch::find(&spec.kind)?;
        if let Availability::Unavailable { reason, .. } = launcher.detect() {
            return Err(AgentError::Dead(anyhow!(reason)));
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
        let launches = launcher.commands(&Site { stage, ..site })?;
        let mut failures = Vec::new();
        for launch in launches {
            match Session::try_start(&launch, &id, launcher.info(), &resources, settings) {
                // What ends before it greets may have lacked the binary: the next way sends it.
                Err(AgentError::Dead(error)) if !program_is_missing(&error) => failures.push(error),
                other => return other,
            }
        }
        let ways: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
        let mut text = ways.join("\n  then, sending the agent there: ");
        if let Some(explanation) = launch::explanation(&text) {
            text.push_str(&format!("\n  {explanation}"));
        }
        Err(AgentError::Dead(anyhow!(text)))
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

    /// Puts the launcher's process on this CPU, or on any, if it works for every call of the agent;
    /// and those that stand for the agent's where nothing inside does. Where that is refused they
    /// stay where they are, and costs vary more.
    pub fn place_launcher(&self, cpu: Option<usize>) {
        if !self.launcher_serves_calls {
            return;
        }
        let launcher = self.process.child.id();
        // A guest's CPUs are not this machine's.
        let cpus = cpu.map_or_else(|| sys::allowed_cpus().unwrap_or_default(), |cpu| vec![cpu]);
        let _ = sys::pin_process(launcher, &cpus);
        if self.launcher_traces_guest {
            // A worker's is made of the agent's, and runs where that may.
            sys::pin_traced(&self.descendants, launcher, &cpus);
        }
    }

    /// CPU time that the environment's processes have taken on this side so far, in ns.
    pub fn outside_cpu_ns(&self) -> Option<u64> {
        sys::cpu_ns(&self.descendants)
    }

    /// Tells the agent that nothing more comes, so that several can end at the same time.
    pub fn dismiss(&mut self) {
        self.process.close_input();
    }

    /// Sends one question and waits for its answer.
    pub fn ask(&mut self, ask: Ask, settings: &SessionSettings<'_>) -> Result<Answer, AgentError> {
        let id = self.next_id;
        self.next_id += 1;
        // While a command runs, an emulator may well end a process of its own.
        let is_watched = !matches!(ask, Ask::Run { .. } | Ask::Inspect { .. });
        // Whole commands have a time limit of their own.
        let limit = match &ask {
            Ask::Run { task } => {
                let commands = 1 + task.prepare.len() + task.conclude.len();
                let each = Duration::from_millis(task.time_limit_ms);
                settings.answer_limit + each * commands as u32
            }
            // Every byte of programs and inputs is read and hashed, perhaps by an emulator.
            Ask::Inspect { .. } => settings.answer_limit * INSPECTION,
            Ask::Clock { .. } => settings.answer_limit + CLOCK,
            _ => settings.answer_limit,
        };
        let line = line_of(&Request { id, ask }).context("a request")?;
        if self.process.send(line.as_bytes()).is_err() {
            return Err(self.process.gone("the agent stopped listening"));
        }
        let begin = Instant::now();
        loop {
            let liveness = is_watched.then_some(&mut self.liveness);
            let response = self.process.listen(begin, limit, liveness, settings)?;
            if response.id == id {
                self.liveness.answered();
                return Ok(response.answer);
            }
        }
    }
}

/// The way to the agent; requests go there one at a time.
enum Input {
    /// A thread still sends the agent's binary.
    Sending(JoinHandle<ChildStdin>),
    Open(ChildStdin),
    Closed,
}

/// The command that runs the agent, with threads that keep its outputs from filling up.
struct Process {
    command: String,
    /// The launch it is of.
    id: String,
    /// Nothing else was made for the launch, which would have to be undone in its own way.
    is_all: bool,
    child: Child,
    _watch: Watch,
    /// Set once the child was reaped.
    ended: Option<ExitStatus>,
    input: Input,
    /// When the input was closed.
    closed: Option<Instant>,
    heard: Receiver<Heard>,
    noise: Noise,
    errors: Noise,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    fn start(launch: &Launch, id: &str, settings: &SessionSettings<'_>) -> Result<Process> {
        let agent = launch.build.as_ref().unwrap_or(&settings.agent);
        let (program, arguments) = launch.words.split_first().context("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
        command.env(sys::LAUNCH_VARIABLE, id);
        let binary = match launch.send_binary {
            true => fs::read(agent).with_context(|| format!("reading `{}`", agent.display()))?,
            false => Vec::new(),
        };
        if launch.send_binary {
            command.arg(binary.len().to_string());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sys::new_session(&mut command);
        let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
        let watch = settings.guard.watch(child.id());
        let (sender, heard) = sync_channel(16);
        let (noise, errors) = (Noise::default(), Noise::default());
        let (output, error_output) = (child.stdout.take(), child.stderr.take());
        let mut readers = Vec::new();
        if let Some(output) = output {
            let noise = noise.clone();
            readers.push(thread::spawn(move || read_messages(output, &sender, &noise)));
        }
        if let Some(output) = error_output {
            let errors = errors.clone();
            readers.push(thread::spawn(move || read_noise(output, &errors)));
        }
        let mut input = child.stdin.take().context("the command has no input")?;
        // By a thread of its own: a command that never reads must not stop us from giving up on it.
        let sending = thread::spawn(move || {
            // A command that ended early says why on its error output, which is quoted.
            let _ = input.write_all(&binary);
            input
        });
        let command = launch.by_hand(&agent.to_string_lossy());
        let input = Input::Sending(sending);
        Ok(Process {
            command,
            id: id.to_owned(),
            is_all: false,
            child,
            _watch: watch,
            ended: None,
            input,
            closed: None,
            heard,
            noise,
            errors,
            readers,
        })
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input = match std::mem::replace(&mut self.input, Input::Closed) {
            Input::Sending(sending) => {
                Input::Open(sending.join().map_err(|_| io::ErrorKind::BrokenPipe)?)
            }
            other => other,
        };
        match &mut self.input {
            Input::Open(input) => input.write_all(bytes).and_then(|()| input.flush()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// The next message within the time limit from `begin` on, or why there is none.
    fn listen(
        &mut self,
        begin: Instant,
        limit: Duration,
        mut liveness: Option<&mut LivenessCheck>,
        settings: &SessionSettings<'_>,
    ) -> Result<Response, AgentError> {
        let until = begin + limit;
        loop {
            if (settings.interrupted)() {
                return Err(AgentError::Interrupted);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(GLANCE)) {
                // A terminal in between echoes what it is sent: our own request is no answer.
                Ok(Heard::Message(text)) if serde_json::from_str::<Request>(&text).is_ok() => {}
                Ok(Heard::Message(text)) => {
                    return serde_json::from_str(&text).map_err(|error| {
                        let shown: String = text.chars().take(200).collect();
                        self.dead(&format!("the agent answers garbage ({error}): {shown}"))
                    });
                }
                Ok(Heard::TooLong) => {
                    return Err(self.dead(&format!("a line of more than {MAX_LINE} bytes came")));
                }
                Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.gone("the agent closed its output"));
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let seconds = limit.as_secs_f64();
                    let what = format!(
                        "no answer within {seconds} s; does it ask for a password, or still boot?"
                    );
                    return Err(AgentError::TimedOut(self.last_words(&what)));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if liveness.as_mut().is_some_and(|liveness| liveness.is_lost()) {
                        return Err(self.dead("a process of it ended, and no answer comes"));
                    }
                }
            }
        }
    }

    /// It hears or says nothing any more: how it ended, or what it looks like if it did not.
    fn gone(&mut self, otherwise: &str) -> AgentError {
        // Behind a launcher that lost its output, an agent still waits for requests.
        self.close_input();
        let how = self.wait_briefly().map(|status| format!("the agent ended ({status})"));
        self.dead(how.as_deref().unwrap_or(otherwise))
    }

    fn dead(&mut self, what: &str) -> AgentError {
        AgentError::Dead(self.last_words(what))
    }

    /// Ends the agent; what happened, what it printed, and what to run by hand.
    fn last_words(&mut self, what: &str) -> anyhow::Error {
        self.end(Duration::ZERO);
        self.hear_the_end();
        let mut text = what.to_owned();
        for (name, lines) in [("stderr", &self.errors), ("stdout", &self.noise)] {
            let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            for line in lines.iter() {
                text.push_str(&format!("\n  {name}: {line}"));
            }
        }
        text.push_str(&format!("\n  by hand: {}", self.command));
        anyhow!(text)
    }

    /// Gives the readers a moment to take what was printed last.
    fn hear_the_end(&self) {
        let until = Instant::now() + LAST_WORDS;
        while Instant::now() < until && !self.readers.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How the command ended, if it ends soon.
    fn wait_briefly(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() && child::ends_within(&self.child, Duration::from_millis(500)) {
            self.finish();
        }
        self.ended
    }

    /// A thread that still sends the binary closes the input when it is done or the command ends.
    /// That nothing more comes is also said in words: a terminal in between hands no end on.
    fn close_input(&mut self) {
        if let Ok(line) = line_of(&Request { id: 0, ask: Ask::Quit })
            && let Input::Open(input) = &mut self.input
        {
            let _ = input.write_all(line.as_bytes());
        }
        self.input = Input::Closed;
        self.closed.get_or_insert_with(Instant::now);
    }

    /// Closes the agent's input, gives it `grace` from then on to clean up and leave, then ends
    /// its session.
    fn end(&mut self, grace: Duration) {
        self.close_input();
        if self.ended.is_none() {
            let waited = self.closed.map_or(Duration::ZERO, |closed| closed.elapsed());
            if !child::ends_within(&self.child, grace.saturating_sub(waited)) {
                // Shells remove what they have made so far before they go.
                sys::ask_group_to_end(self.child.id());
                child::ends_within(&self.child, LAST_WORDS);
            }
            self.finish();
        }
    }

    /// Kills what is left of the session and reaps its leader; in this order, because the id of a
    /// reaped process may be anybody's.
    fn finish(&mut self) {
        sys::end_group(self.child.id());
        let _ = self.child.kill();
        self.ended = self.child.wait().ok();
        // An agent that was killed has not ended what its command had put into sessions of its own.
        if self.is_all && !self.ended.is_some_and(|status| status.success()) {
            sys::end_launched(|launch| launch == self.id);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The readers are left to themselves: they end when the outputs close, which a process that
        // the launcher put into the background may delay for as long as it likes.
        self.end(GRACE);
    }
}

/// Whether the command's own program could not be started: then no other way can work.
fn program_is_missing(error: &anyhow::Error) -> bool {
    error.root_cause().is::<io::Error>()
}

/// Hands messages over and keeps the last of everything else as noise.
fn read_messages(output: impl Read, sender: &SyncSender<Heard>, noise: &Noise) {
    let mut output = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let heard = match output.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => Heard::Closed,
            Ok(read) if read > MAX_LINE => Heard::TooLong,
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes);
                match message_in(&line) {
                    Some(message) => Heard::Message(harmless(message)),
                    None => {
                        keep(noise, &line);
                        continue;
                    }
                }
            }
        };
        let last = !matches!(heard, Heard::Message(_));
        if sender.send(heard).is_err() || last {
            return;
        }
    }
}

/// The message without characters that a terminal would act on: whatever an agent says may end up
/// in a table.
fn harmless(message: &str) -> String {
    String::from_utf8_lossy(&visible_json(message.as_bytes())).into_owned()
}

fn read_noise(output: impl Read, noise: &Noise) {
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    while let Ok(1..) = output.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut bytes) {
        keep(noise, &String::from_utf8_lossy(&bytes));
        bytes.clear();
    }
}

fn keep(noise: &Noise, line: &str) {
    let line: String = visible_line(line.trim_end()).chars().take(300).collect();
    if line.is_empty() {
        return;
    }
    let mut lines = noise.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.len() == NOISE_LINES {
        // What a kernel says it panics of comes before some twenty lines about where.
        let oldest = lines.iter().position(|line| !line.contains("panic")).unwrap_or(0);
        lines.remove(oldest);
    }
    lines.push_back(line);
}
