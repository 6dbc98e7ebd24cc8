//! The agent: it reads a request, has a fresh worker do it, and answers once.
//!
//! It has one thread and is idle between requests. When its input closes (the controller ended or
//! was killed), it ends the worker, removes what the worker left, and exits.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::cleanup::leftovers::{
    fresh_token, remove_leftovers, remove_own, scratch_name, try_folder,
};
use crate::facts;
use crate::inside::command;
use crate::inside::guest;
use crate::inside::program;
use crate::inside::transferred::{KeptOutput, SentFiles};
use crate::measure::{settled_clock, shortest_sample_ns};
use crate::model::{Availability, Case, Facts, Failure};
use crate::probe::{self, PROBES};
use crate::protocol::{
    Answer, Ask, BlockSize, CommandTask, DirAnswer, Hello, MAX_LINE, Request, Response, Task,
    UnavailableCase, VERSION, WorkerOrder, line_of, message_in, no_program,
};
use crate::sys::{self, AgentImage, Ready};

/// The places that an agent can enter by itself.
const PLACES: &str = "`namespace`, `ptrace`, `chroot:DIR`, `seccomp:PROFILE`, `guest:ORDERS`";

/// How this agent was started.
pub struct AgentSettings {
    /// One of [`PLACES`], which the agent enters before anything else.
    pub enter: Option<String>,
    /// The command of the emulator that started this agent and is to start its workers.
    pub via: Vec<String>,
    /// The path of this binary, for environments whose system does not tell a process its path.
    pub own_path: Option<PathBuf>,
    /// The binary was copied here for this run. Remove it and its folder as soon as it is open.
    pub staged: bool,
    /// Share of extra work that is not reported: test builds only.
    pub extra_work: f64,
}

/// Runs until the input ends or the controller tells it to end.
pub fn run(settings: &AgentSettings) -> Result<()> {
    let path = match &settings.own_path {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .context("this environment does not say where the agent is; give `--self PATH`")?,
    };
    let mut image = match settings.via.is_empty() {
        true => AgentImage::Path(path),
        false => emulator_image(&settings.via, path)?,
    };
    if settings.staged {
        image = image.hold_open()?;
        remove_staged(settings.own_path.as_deref());
    }
    let mut known = Facts::new();
    if let Some(place) = &settings.enter {
        image = image.hold_open().context("opening the agent's own binary")?;
        known = enter(place)?;
    }
    sys::leave_first_place().map_err(anyhow::Error::msg)?;
    let agent = Agent {
        image,
        temporary: temporary_folder(),
        known,
        extra_work: settings.extra_work,
        files: SentFiles::default(),
        kept: KeptOutput::default(),
    };
    let hello = Hello {
        version: VERSION,
        envtax: env!("CARGO_PKG_VERSION").to_owned(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        cpus: sys::allowed_cpus().unwrap_or_default(),
        unavailable: unavailable_cases(),
    };
    send(0, Answer::Hello(Box::new(hello)))?;
    agent.serve()
}

/// The emulator will start the workers. An error unless it started this agent too.
fn emulator_image(via: &[String], path: PathBuf) -> Result<AgentImage> {
    let name = via.first().map_or("", String::as_str);
    if sys::emulator().is_none() {
        bail!("this agent does not run in `{name}`, or `{name}` hides it: nothing is measured");
    }
    let path = path.into_os_string().into_string();
    let path = path.map_err(|path| anyhow!("the path {path:?} is not UTF-8"))?;
    Ok(AgentImage::Through(via.iter().cloned().chain([path]).collect()))
}

/// Enters the place. Returns facts about it that it does not show itself.
fn enter(place: &str) -> Result<Facts> {
    let entered = match place.split_once(':') {
        None if place == "namespace" => sys::enter_namespace(),
        None if place == "ptrace" => sys::enter_ptrace(),
        Some(("chroot", dir)) => sys::enter_chroot(Path::new(dir)),
        Some(("seccomp", profile)) => sys::enter_seccomp(profile),
        Some(("guest", orders)) => return guest::enter(Path::new(orders)),
        _ => bail!("`--enter {place}` is none of {PLACES}"),
    };
    let entered = entered.map_err(anyhow::Error::msg);
    entered.map(|()| Facts::new()).with_context(|| format!("entering `{place}`"))
}

/// Removes the copy of this binary that was made for the run, and the folder made for the copy.
fn remove_staged(path: Option<&Path>) {
    let Some(path) = path else { return };
    // Remove only what staging made: the file, and its folder if that is then empty.
    let _ = fs::remove_file(path);
    if let Some(folder) = path.parent() {
        let _ = fs::remove_dir(folder);
    }
}

/// A folder for temporary files that exists. Launchers pass variables on from outside, so `TMPDIR`
/// may name a folder that this environment does not have.
fn temporary_folder() -> PathBuf {
    let usual = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let named = std::env::temp_dir();
    // Nobody has told the agent its run's token yet.
    let token = fresh_token();
    let mut folders = [named.clone()].into_iter().chain(usual);
    folders.find(|folder| try_folder(folder, &token).is_ok()).unwrap_or(named)
}

fn unavailable_cases() -> Vec<UnavailableCase> {
    let mut found = Vec::new();
    for Case { probe, params, .. } in probe::all_cases(&[""]) {
        let known = PROBES.iter().find(|known| known.info().id == probe);
        let availability = known.map(|known| known.availability(&params));
        if let Some(Availability::Unavailable { reason, remedy }) = availability {
            found.push(UnavailableCase { probe, params, reason, remedy });
        }
    }
    found
}

fn send(id: u64, answer: Answer) -> Result<()> {
    let line = line_of(&Response { id, answer })?;
    let mut output = io::stdout().lock();
    output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush())
        .context("the controller is gone")
}

struct Agent {
    image: AgentImage,
    /// The folder for temporary files, for probes that measure no files.
    temporary: PathBuf,
    /// Facts about the place that it does not show itself.
    known: Facts,
    extra_work: f64,
    files: SentFiles,
    kept: KeptOutput,
}

impl Agent {
    fn serve(&self) -> Result<()> {
        let mut input = BufReader::new(sys::input());
        let (mut dirs, mut run) = (Vec::new(), String::new());
        loop {
            let mut line = String::new();
            let read = input.by_ref().take(MAX_LINE as u64).read_line(&mut line);
            if read.context("reading a request")? == 0 {
                break;
            }
            ensure!(line.ends_with('\n'), "a request is longer than {MAX_LINE} bytes or cut off");
            let Some(message) = message_in(&line) else { continue };
            let request: Request =
                serde_json::from_str(message).context("a line is not a request")?;
            let answer = match request.ask {
                Ask::Quit => break,
                ask => {
                    if let Ask::Dirs { paths, token } = &ask {
                        dirs.clone_from(paths);
                        run.clone_from(token);
                    }
                    self.answer(request.id, ask)
                }
            };
            let answer = answer.unwrap_or_else(|error| Answer::Failed(Failure::from(error)));
            send(request.id, answer)?;
        }
        // At the agent's start, leftovers of a run killed just before were too young to be removed.
        self.remove_leftovers(&dirs, &run);
        Ok(())
    }

    fn answer(&self, id: u64, ask: Ask) -> Result<Answer> {
        match ask {
            Ask::Clock { known_ns } => {
                let clock = settled_clock(known_ns);
                Ok(Answer::Clock { sample_ns: shortest_sample_ns(&clock), clock })
            }
            Ask::Facts => {
                let known = self.known.clone();
                Ok(Answer::Facts(facts::environment().into_iter().chain(known).collect()))
            }
            Ask::Dirs { paths, token } => {
                let answer = |path: &String| dir_answer(self.folder(path), &token);
                let dirs = paths.iter().map(answer).collect();
                Ok(Answer::Dirs { dirs, removed: self.remove_leftovers(&paths, &token) })
            }
            Ask::Tune { task, sample_ns } => self.in_worker(id, task, sample_ns, None),
            Ask::Block { task, size } => self.in_worker(id, task, 0.0, Some(size)),
            Ask::Run { task } => self.run_command(id, &task),
            Ask::Inspect { programs, files } => Ok(Answer::Inspected {
                programs: programs.iter().map(|word| program::program(word)).collect(),
                files: files.iter().map(|path| program::file(Path::new(path))).collect(),
            }),
            Ask::Put { launch, number, name, token, piece } => {
                let path =
                    self.files.put(&self.temporary, (&token, launch), (number, &name), &piece)?;
                Ok(Answer::Put { path })
            }
            Ask::Take { name, offset } => Ok(Answer::Piece(self.kept.piece(&name, offset)?)),
            Ask::Clean { paths, token } => {
                self.kept.let_go();
                paths.iter().for_each(|path| remove_own(Path::new(path), &token));
                remove_own(&self.temporary, &token);
                Ok(Answer::Cleaned)
            }
            Ask::Quit => unreachable!("handled by the loop"),
        }
    }

    /// Removes what ended runs left in these folders and in the one for temporary files. Returns
    /// the paths of what was removed.
    fn remove_leftovers(&self, paths: &[String], token: &str) -> Vec<String> {
        let mut folders: Vec<&Path> = paths.iter().map(|path| self.folder(path)).collect();
        folders.push(&self.temporary);
        folders.sort_unstable();
        folders.dedup();
        let of = |folder: &Path| {
            let path = |name: String| folder.join(name).display().to_string();
            remove_leftovers(folder, token).into_iter().map(path).collect::<Vec<_>>()
        };
        folders.into_iter().flat_map(of).collect()
    }

    /// The folder of that path; if the path is empty, the environment's own folder for temporary
    /// files.
    fn folder<'a>(&'a self, path: &'a str) -> &'a Path {
        if path.is_empty() { &self.temporary } else { Path::new(path) }
    }

    fn in_worker(
        &self,
        id: u64,
        task: Task,
        sample_ns: f64,
        size: Option<BlockSize>,
    ) -> Result<Answer> {
        let folder = self.folder(task.dir_path.as_deref().unwrap_or_default());
        let scratch = folder.join(scratch_name(&task.token, id));
        let limit = Duration::from_millis(task.time_limit_ms);
        let order = WorkerOrder {
            task,
            size,
            scratch: scratch.to_str().context("the folder's path is not UTF-8")?.to_owned(),
            sample_ns,
            extra_work: self.extra_work,
            emulator: sys::emulator(),
        };
        let answer = self.worker_answer(&order, limit);
        if scratch.exists() {
            fs::remove_dir_all(&scratch)
                .with_context(|| format!("removing `{}`", scratch.display()))?;
        }
        answer
    }

    /// Runs a whole command in a scratch folder of its own.
    fn run_command(&self, id: u64, task: &CommandTask) -> Result<Answer> {
        if let Some(program) = command::missing(&task.needs) {
            let what = no_program(program);
            return Ok(Answer::CannotMeasure(Failure::new(what)));
        }
        if let (Some(emulator), Some(program)) =
            (sys::emulator(), command::beside_emulator(&task.words))
        {
            let (emulator, program) = (emulator.display(), program.display());
            let what = format!(
                "the kernel, and not the emulator, would run `{program}`: it leaves the emulator"
            );
            let remedy = format!("time `{emulator} {program}` in `native` instead");
            return Ok(Answer::CannotMeasure(Failure::new(what).or_remedy(remedy)));
        }
        let scratch = self.temporary.join(scratch_name(&task.token, id));
        let set = command::run(task, &scratch);
        if task.keep_output && scratch.exists() {
            self.kept.keep(scratch);
        } else if scratch.exists() {
            fs::remove_dir_all(&scratch)
                .with_context(|| format!("removing `{}`", scratch.display()))?;
        }
        set.map(|set| Answer::Block(Box::new(set)))
    }

    fn worker_answer(&self, order: &WorkerOrder, limit: Duration) -> Result<Answer> {
        let mut command = self.image.command("worker")?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut worker = Running(command.spawn().context("starting a worker")?);
        let order = serde_json::to_string(order)?;
        let input = worker.0.stdin.take().context("the worker has no input")?;
        // A worker that has died already shows that in its answer, which says more than a broken
        // pipe.
        let _ = { input }.write_all(order.as_bytes());
        let text = worker.read_answer(limit)?;
        let status = worker.0.wait().context("waiting for the worker")?;
        match serde_json::from_str(&text) {
            Ok(answer) if status.success() => Ok(answer),
            _ => {
                let what = format!("the worker ended with {status}");
                Err(Failure::new(what).printed(worker.printed()).into())
            }
        }
    }
}

/// A worker that is killed and reaped when this value is dropped.
struct Running(Child);

impl Running {
    /// What the worker prints until it closes its output. An error at the time limit, when the
    /// controller sends something, and when the controller is gone.
    fn read_answer(&mut self, limit: Duration) -> Result<String> {
        let mut output = self.0.stdout.take().context("the worker has no output")?;
        let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now()).as_millis() as u64;
            match sys::wait_for_answer(&output, &sys::input(), left)? {
                Ready::Answer => {}
                Ready::TimedOut => {
                    let what = format!("not finished after {} s", limit.as_secs_f64());
                    let remedy = "allow more with `--answer-timeout`";
                    return Err(Failure::new(what).or_remedy(remedy).into());
                }
                Ready::Interrupted => bail!("cancelled by the controller"),
            }
            match output.read(&mut chunk)? {
                0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                read => text.extend_from_slice(&chunk[..read]),
            }
            ensure!(text.len() < MAX_LINE, "the worker answers more than {MAX_LINE} bytes");
        }
    }

    /// The first lines that the worker wrote to standard error.
    fn printed(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        if let Some(errors) = self.0.stderr.take() {
            let _ = errors.take(2000).read_to_end(&mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Examines a folder, and tries whether files can be made in it.
fn dir_answer(folder: &Path, token: &str) -> DirAnswer {
    let tried = try_folder(folder, token);
    let path = folder.display().to_string();
    let error = tried.err().map(|error| format!("files cannot be made in `{path}`: {error}"));
    let mut facts = facts::filesystem(folder);
    facts.insert("path".into(), path);
    DirAnswer { facts, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_used_says_why() {
        let missing = dir_answer(Path::new("/no/such/folder"), "0000aaaa").error.unwrap();
        assert!(missing.contains("`/no/such/folder`"), "{missing}");
        let file = dir_answer(Path::new("/proc/version"), "0000aaaa").error.unwrap();
        assert!(file.contains("not a directory"), "{file}");
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(dir_answer(dir.path(), "0000aaaa").error, None);
    }
}
