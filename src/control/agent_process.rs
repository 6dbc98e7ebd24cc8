//! The command that runs an agent: its input, its outputs, and how it is ended.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::answer_limits::has_many_values;
use super::liveness::LivenessCheck;
use super::settings::{AgentError, SessionSettings};
use crate::cleanup::child;
use crate::cleanup::guard::Watch;
use crate::launch::Launch;
use crate::model::{Failure, visible_json, visible_line};
use crate::protocol::{Ask, MAX_LINE, Request, Response, line_of, message_in};
use crate::sys;

/// How long an agent may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait for the last output of an ended agent.
const FINAL_OUTPUT: Duration = Duration::from_millis(200);
/// How often a wait checks whether the user wants to stop.
const POLL: Duration = Duration::from_millis(25);
/// How many messages may wait to be read; each can have a megabyte.
const UNREAD: usize = 1;
/// How many lines of other output are kept for quoting.
const NOISE_LINES: usize = 8;

/// What the reader of the agent's output found.
enum Received {
    Message(String),
    /// A line longer than [`MAX_LINE`]. Nothing is read after it.
    TooLong,
    /// The end of the output.
    Closed,
}

/// The last lines of output that are not messages.
type Noise = Arc<Mutex<VecDeque<String>>>;

/// The input of the agent. A separate thread writes to it, so that a command that does not read can
/// block neither the user nor the time limit.
struct Input {
    /// Dropping this sender closes the input.
    lines: Sender<String>,
    /// One result for each line.
    written: Receiver<io::Result<()>>,
}

impl Input {
    /// Writes the binary, if there is one, and then every line that is sent.
    fn new(mut input: ChildStdin, binary: Option<File>) -> io::Result<Input> {
        let (lines, next) = channel::<String>();
        let (results, written) = channel();
        thread::Builder::new().spawn(move || {
            // A command that ended early explains the reason on its error output, which is quoted.
            let mut result = match binary {
                Some(mut binary) => io::copy(&mut binary, &mut input).map(drop),
                None => Ok(()),
            };
            for line in next {
                result = result.and_then(|()| input.write_all(line.as_bytes()));
                let told = std::mem::replace(&mut result, Ok(()));
                if results.send(told).is_err() {
                    return;
                }
            }
        })?;
        Ok(Input { lines, written })
    }
}

/// The reason why a line was not written.
enum SendError {
    Interrupted,
    TimedOut,
    Broken,
}

/// The command that runs the agent, with threads that read its outputs so that they never fill up.
pub(super) struct Process {
    /// The command as a user would type it.
    command: String,
    /// Identifier of the launch that it belongs to.
    id: String,
    /// The launch consists of this command alone: it has no stage whose undo commands would end its
    /// processes.
    pub(super) is_all: bool,
    pub(super) child: Child,
    _watch: Watch,
    /// Set once the child was reaped.
    ended: Option<ExitStatus>,
    input: Option<Input>,
    /// When the input was closed.
    closed: Option<Instant>,
    received: Receiver<Received>,
    noise: Noise,
    errors: Noise,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    pub(super) fn start(
        launch: &Launch,
        id: &str,
        settings: &SessionSettings<'_>,
    ) -> Result<Process> {
        let agent = launch.build.as_ref().unwrap_or(&settings.agent);
        let (program, arguments) = launch.words.split_first().context("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
        command.env(sys::LAUNCH_VARIABLE, id);
        let mut binary = None;
        if launch.send_binary {
            let reading = || format!("reading `{}`", agent.display());
            let file = File::open(agent).with_context(reading)?;
            command.arg(file.metadata().with_context(reading)?.len().to_string());
            binary = Some(file);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sys::new_session(&mut command);
        let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
        let watch = settings.guard.watch(child.id());
        let (sender, received) = sync_channel(UNREAD);
        let (noise, errors) = (Noise::default(), Noise::default());
        let threads = start_threads(&mut child, binary, sender, (&noise, &errors));
        let (input, readers) = threads.context("starting a thread").inspect_err(|_| {
            sys::end_group(child.id());
            let _ = child.wait();
        })?;
        let command = launch.by_hand(&agent.to_string_lossy());
        Ok(Process {
            command,
            id: id.to_owned(),
            is_all: false,
            child,
            _watch: watch,
            ended: None,
            input: Some(input),
            closed: None,
            received,
            noise,
            errors,
            readers,
        })
    }

    /// Sends a line, within the time limit for answers. After an error, nothing more can be sent.
    pub(super) fn send(
        &mut self,
        line: String,
        settings: &SessionSettings<'_>,
    ) -> Result<(), AgentError> {
        match self.write(line, settings) {
            Ok(()) => Ok(()),
            Err(SendError::Interrupted) => Err(AgentError::Interrupted),
            Err(SendError::TimedOut) => {
                let seconds = settings.answer_limit.as_secs_f64();
                let what = format!("the agent did not read what it was sent within {seconds} s");
                Err(AgentError::TimedOut(self.failure(&what).into()))
            }
            Err(SendError::Broken) => Err(self.gone("the agent stopped listening")),
        }
    }

    fn write(&self, line: String, settings: &SessionSettings<'_>) -> Result<(), SendError> {
        let input = self.input.as_ref().ok_or(SendError::Broken)?;
        input.lines.send(line).map_err(|_| SendError::Broken)?;
        let until = Instant::now() + settings.answer_limit;
        loop {
            match input.written.recv_timeout(POLL) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(SendError::Broken),
                Err(RecvTimeoutError::Timeout) if (settings.interrupted)() => {
                    return Err(SendError::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    return Err(SendError::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The next message, or the reason why there is none. The time limit counts from `begin`.
    pub(super) fn listen(
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
            match self.received.recv_timeout(left.min(POLL)) {
                Ok(Received::Message(text)) if has_many_values(&text) => {
                    return Err(self.dead("the agent answers with more values than any answer has"));
                }
                // A terminal in between echoes our own request, which is not an answer.
                Ok(Received::Message(text)) if serde_json::from_str::<Request>(&text).is_ok() => {}
                Ok(Received::Message(text)) => {
                    let text = harmless(&text);
                    return serde_json::from_str(&text).map_err(|error| {
                        let shown: String = text.chars().take(200).collect();
                        let shown = visible_line(&shown);
                        self.dead(&format!("the agent answers garbage ({error}): {shown}"))
                    });
                }
                Ok(Received::TooLong) => {
                    return Err(self.dead(&format!("a line of more than {MAX_LINE} bytes came")));
                }
                Ok(Received::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.gone("the agent closed its output"));
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let seconds = limit.as_secs_f64();
                    let what = format!(
                        "no answer within {seconds} s; does it ask for a password, or still boot?"
                    );
                    return Err(AgentError::TimedOut(self.failure(&what).into()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if liveness.as_mut().is_some_and(|liveness| liveness.is_lost()) {
                        return Err(self.dead("a process of it ended, and no answer comes"));
                    }
                }
            }
        }
    }

    /// The error for an agent that does not read or write any more: how it ended, or `otherwise` if
    /// it still runs.
    fn gone(&mut self, otherwise: &str) -> AgentError {
        // If only the launcher lost its output, the agent still waits for requests.
        self.close_input();
        let how = self.wait_briefly().map(|status| format!("the agent ended ({status})"));
        self.dead(how.as_deref().unwrap_or(otherwise))
    }

    pub(super) fn dead(&mut self, what: &str) -> AgentError {
        AgentError::Dead(self.failure(what).into())
    }

    /// Ends the agent. The failure tells what happened, what was printed, and the command.
    fn failure(&mut self, what: &str) -> Failure {
        self.end(Duration::ZERO);
        self.await_readers();
        // The error output tells more than other output, and its last line is quoted.
        let outputs = [&self.noise, &self.errors].map(|lines| {
            lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect::<Vec<_>>()
        });
        Failure::new(what).printed(outputs.concat()).by_hand(&self.command)
    }

    /// Gives the readers a moment to read the last output.
    fn await_readers(&self) {
        let until = Instant::now() + FINAL_OUTPUT;
        while Instant::now() < until && !self.readers.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How the command ended, if it ends within half a second.
    fn wait_briefly(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() && child::ends_within(&self.child, Duration::from_millis(500)) {
            self.finish();
        }
        self.ended
    }

    /// Tells the agent that no more requests come. A message says it, too, because a terminal in
    /// between does not pass on the end of the input. The writing thread closes the input when it
    /// is done or when the command ends.
    pub(super) fn close_input(&mut self) {
        if let Some(input) = self.input.take()
            && let Ok(line) = line_of(&Request { id: 0, ask: Ask::Quit })
        {
            let _ = input.lines.send(line);
        }
        self.closed.get_or_insert_with(Instant::now);
    }

    /// Closes the agent's input and gives the agent the time `grace` from then on to clean up and
    /// exit. Then ends its session.
    fn end(&mut self, grace: Duration) {
        self.close_input();
        if self.ended.is_none() {
            let waited = self.closed.map_or(Duration::ZERO, |closed| closed.elapsed());
            if !child::ends_within(&self.child, grace.saturating_sub(waited)) {
                // A shell gets the chance to remove what it made.
                sys::ask_group_to_end(self.child.id());
                child::ends_within(&self.child, FINAL_OUTPUT);
            }
            self.finish();
        }
    }

    /// Kills what is left of the session, then reaps its leader. The order matters: after the
    /// reaping, the leader's id may belong to another process.
    fn finish(&mut self) {
        sys::end_group(self.child.id());
        let _ = self.child.kill();
        self.ended = self.child.wait().ok();
        // An agent that was killed could not end processes that its command put into sessions of
        // their own.
        if self.is_all && !self.ended.is_some_and(|status| status.success()) {
            sys::end_launched(|launch| launch == self.id);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody waits for the readers: they end when the outputs close, and a process that the
        // launcher put into the background may delay that without limit.
        self.end(GRACE);
    }
}

/// Starts the threads that write the command's input and read its outputs.
fn start_threads(
    child: &mut Child,
    binary: Option<File>,
    sender: SyncSender<Received>,
    (noise, errors): (&Noise, &Noise),
) -> io::Result<(Input, Vec<JoinHandle<()>>)> {
    let (Some(input), Some(output), Some(error_output)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let input = Input::new(input, binary)?;
    let (noise, errors) = (noise.clone(), errors.clone());
    let messages = move || read_messages(output, &sender, &noise);
    let messages = thread::Builder::new().spawn(messages)?;
    let errors = thread::Builder::new().spawn(move || read_noise(error_output, &errors))?;
    Ok((input, vec![messages, errors]))
}

/// Passes messages on and keeps the last lines of all other output.
fn read_messages(output: impl Read, sender: &SyncSender<Received>, noise: &Noise) {
    let mut output = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let received = match output.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes)
        {
            Ok(0) | Err(_) => Received::Closed,
            Ok(read) if read > MAX_LINE => Received::TooLong,
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes);
                match message_in(&line) {
                    Some(message) => Received::Message(message.to_owned()),
                    None => {
                        keep(noise, &line);
                        continue;
                    }
                }
            }
        };
        drop(bytes);
        let last = !matches!(received, Received::Message(_));
        if sender.send(received).is_err() || last {
            return;
        }
    }
}

/// The message without characters on which a terminal would act: an agent's text may end up in a
/// table.
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
    // A character becomes as many as eight.
    let begin: String = line.trim_end().chars().take(300).collect();
    let line: String = visible_line(&begin).chars().take(300).collect();
    if line.is_empty() {
        return;
    }
    let mut lines = noise.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.len() == NOISE_LINES {
        // A kernel prints the reason of its panic before some twenty lines of registers and stack.
        let oldest = lines.iter().position(|line| !line.contains("panic")).unwrap_or(0);
        lines.remove(oldest);
    }
    lines.push_back(line);
}
