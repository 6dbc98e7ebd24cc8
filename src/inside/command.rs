//! One run of a whole command inside an environment: its preparation, the run, its usage, and its
//! output.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{self, Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::cleanup::leftovers::hold;
use crate::inside::program::hash_of;
use crate::model::{CommandPhase, Extras, Failure, SampleSet};
use crate::protocol::transfer::{OUTPUT_LIMIT, STDERR, STDOUT, WRITTEN};
use crate::protocol::{CommandTask, no_program};
use crate::recording;
use crate::sys::{self, CommandEnd, CommandOrder, Killed};

/// How many bytes from the end of an error output are quoted.
const QUOTED: u64 = 2000;
/// In a command, this stands for the file that a run is to write.
const OUT: &str = "{out}";

/// Runs the command once in `folder`, which is made for this run.
pub fn run(task: &CommandTask, folder: &Path) -> Result<SampleSet> {
    sys::make_private_folder(folder).with_context(|| format!("creating `{}`", folder.display()))?;
    // Hold the folder, so that other runs do not take it for a leftover.
    let _held = hold(folder);
    let out = folder.join(WRITTEN);
    let with_out = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.replace(OUT, &out.display().to_string())).collect()
    };
    for words in &task.prepare {
        run_untimed(&with_out(words), folder, task).context("--prepare")?;
    }
    let before = input_states(task)?;
    for path in &task.cold {
        make_cold(Path::new(path))?;
    }
    let words = with_out(&task.words);
    let keeps = task.keep_output;
    let stdout = (keeps || task.check_output).then(|| folder.join(STDOUT));
    let stderr = (keeps || task.keep_errors).then(|| folder.join(STDERR));
    let end = sys::run_command(
        &CommandOrder {
            words: &words,
            stdin: task.stdin.as_deref().map(Path::new),
            stdout: stdout.as_deref(),
            stderr: stderr.as_deref(),
            limit_ns: task.time_limit_ms * 1_000_000,
            output_limit: OUTPUT_LIMIT,
        },
        &sys::input(),
    )
    .map_err(|error| not_started(&words, error))?;
    judge(&end, &words, stderr.as_deref(), task)?;
    let mut set = figures(&end);
    set.extras.hidden = hidden(&end).map(str::to_owned).collect();
    if task.settle {
        settle(&mut set);
    }
    set.extras.notes.extend(notes(&end, &out, &before, task)?);
    if task.reports {
        let mut report = recording::report::read(&out)?;
        report.add_ends(end.start_ns, end.end_ns);
        (set.extras.classes, set.extras.unlike) = (report.classes, report.unlike);
        set.extras.groups = report.groups;
        set.extras.identity = Some(report.identity);
    }
    let hashed = stdout.filter(|_| task.check_output);
    set.extras.output = hashed.map(|stdout| hash_of_outputs(&stdout, &out)).transpose()?;
    for words in &task.conclude {
        run_untimed(&with_out(words), folder, task).context("--conclude")?;
    }
    Ok(set)
}

/// The first of these programs that is not on the search path, if any.
pub fn missing(programs: &[String]) -> Option<&String> {
    programs.iter().find(|program| sys::find_program(program).is_none())
}

/// Adds the time until the output is durable, or the reason why this time is unknown.
fn settle(set: &mut SampleSet) {
    let begin = Instant::now();
    let synced = sys::sync_all();
    let taken = begin.elapsed().as_nanos() as u64;
    set.samples.push(vec![if synced.is_ok() { taken } else { 0 }]);
    if let Err(error) = synced {
        set.extras.hidden.push(CommandPhase::Settle.name().to_owned());
        let note = format!("the time until the output was durable is unknown: {error}");
        set.extras.notes.push(note);
    }
}

/// The program of this command, or of the interpreter in its first line, if the kernel would run it
/// outside the emulator that runs this process.
pub fn beside_emulator(words: &[String]) -> Option<PathBuf> {
    let mut path = sys::find_program(words.first()?)?;
    // Linux follows at most this many scripts whose interpreters are scripts.
    for _ in 0..5 {
        let header = sys::header_of(&path);
        if sys::leaves_emulator(&header) {
            return Some(path);
        }
        let line = header.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        path = PathBuf::from(String::from_utf8_lossy(line).split_whitespace().next()?);
    }
    None
}

/// A figure for each of the command's phases, in their order.
fn figures(end: &CommandEnd) -> SampleSet {
    let usage = &end.usage;
    let (read, written) = end.storage.unwrap_or_default();
    let figure = |phase: CommandPhase| {
        Some(match phase {
            CommandPhase::Wall => end.end_ns - end.start_ns,
            CommandPhase::User => usage.user_ns,
            CommandPhase::System => usage.system_ns,
            CommandPhase::Memory => end.peak_bytes,
            CommandPhase::Faults => usage.minor_faults + usage.major_faults,
            CommandPhase::Switches => usage.voluntary_switches + usage.involuntary_switches,
            CommandPhase::Read => read,
            CommandPhase::Written => written,
            CommandPhase::Cpu => usage.user_ns + usage.system_ns,
            // Added after the run.
            CommandPhase::Settle => return None,
        })
    };
    SampleSet {
        iterations: 1,
        samples: CommandPhase::ALL.into_iter().filter_map(figure).map(|it| vec![it]).collect(),
        start_ns: end.start_ns,
        end_ns: end.end_ns,
        pinned: true,
        usage: usage.clone(),
        extras: Extras { floor_bytes: end.floor_bytes, ..Extras::default() },
    }
}

/// Figures that are zero because the system does not count them: figures that the system itself
/// names as uncounted, and memory and page faults, of which every program has some.
fn hidden(end: &CommandEnd) -> impl Iterator<Item = &'static str> {
    let usage = &end.usage;
    let faults = usage.minor_faults + usage.major_faults;
    let switches = usage.voluntary_switches + usage.involuntary_switches;
    let all = [
        (CommandPhase::Memory, end.peak_bytes == 0),
        (CommandPhase::Faults, faults == 0),
        // A program may run without a context switch, on a system that counts them.
        (CommandPhase::Switches, faults + switches == 0),
        (CommandPhase::Read, end.storage.is_none()),
        (CommandPhase::Written, end.storage.is_none()),
    ];
    let zeroes = all.into_iter().filter_map(|(phase, unknown)| unknown.then_some(phase.name()));
    zeroes.filter(|name| !end.uncounted.contains(name)).chain(end.uncounted.iter().copied())
}

fn notes(
    end: &CommandEnd,
    out: &Path,
    before: &[FileState],
    task: &CommandTask,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    if end.left > 0 {
        notes.push("the command left processes behind, which were ended after it".to_owned());
    }
    if !end.status.success() {
        notes.push(format!("the command ended with {}", end.status));
    }
    if task.words.iter().any(|word| word.contains(OUT)) && !out.exists() {
        notes.push("the command wrote no file at {out}".to_owned());
    }
    // The preparation may make inputs anew that the run uses up.
    if task.prepare.is_empty() {
        for (path, before) in task.inputs.iter().zip(before) {
            match file_state(Path::new(path)) {
                Err(_) => bail!(
                    "the command removes its input `{path}`: have it made anew before each run, \
                     with `--prepare`"
                ),
                Ok(after) if after != *before => notes.push(format!(
                    "the command changes its input `{path}`: each run has other work than the one \
                     before, unless `--prepare` makes it anew"
                )),
                Ok(_) => {}
            }
        }
    }
    Ok(notes)
}

/// Size and time of change, which tell that a file has changed without reading it.
type FileState = (u64, Option<SystemTime>);

fn file_state(path: &Path) -> io::Result<FileState> {
    let about = fs::metadata(path)?;
    Ok((about.len(), about.modified().ok()))
}

/// Size and time of every input. Inputs must exist.
fn input_states(task: &CommandTask) -> Result<Vec<FileState>> {
    let file_state = |path: &String| {
        file_state(Path::new(path)).with_context(|| {
            format!(
                "the input `{path}` is not there in this environment; if it is where envtax was \
                 started, `--stage` sends it there"
            )
        })
    };
    task.inputs.iter().map(file_state).collect()
}

fn hash_of_outputs(stdout: &Path, out: &Path) -> Result<String> {
    let mut hash = hash_of(stdout)?;
    if out.exists() {
        hash = format!("{hash} {}", hash_of(out)?);
    }
    Ok(hash)
}

fn judge(
    end: &CommandEnd,
    words: &[String],
    stderr: Option<&Path>,
    task: &CommandTask,
) -> Result<()> {
    let command = shell_words::join(words);
    match end.killed {
        Some(Killed::TimedOut) => bail!(
            "`{command}` was not finished after {} s and was killed; allow more with `--timeout`",
            task.time_limit_ms as f64 / 1e3
        ),
        Some(Killed::Interrupted) => bail!("cancelled by the controller"),
        Some(Killed::Flooded) => {
            bail!("`{command}` wrote more than {} GiB and was killed", OUTPUT_LIMIT >> 30)
        }
        None => {}
    }
    if end.status.success() || task.ignore_failure {
        return Ok(());
    }
    Err(Failure::new(format!("`{command}` ended with {}", end.status))
        .printed(stderr.map(last_lines).unwrap_or_default())
        .or_remedy("run it by hand to see why, or time it nevertheless with `--ignore-failure`")
        .into())
}

/// The last lines of standard error.
fn last_lines(path: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let _ = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(QUOTED)))?;
        file.take(QUOTED).read_to_end(&mut bytes)
    });
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].iter().map(|line| (*line).to_owned()).collect()
}

fn not_started(words: &[String], error: io::Error) -> anyhow::Error {
    let program = words.first().map_or("", String::as_str);
    let there = program.contains(path::is_separator) && Path::new(program).exists();
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound && there {
        return anyhow!(
            "`{program}` exists in this environment, but what runs it does not: the program in \
             its first line, or the loader of its libraries"
        );
    }
    if sys::is_no_program(&error) {
        return anyhow!(
            "`{program}` is no program of this environment: one for another system, or a script \
             without a first line such as `#!/bin/sh`"
        );
    }
    match kind {
        io::ErrorKind::NotFound => anyhow!(no_program(program)),
        io::ErrorKind::PermissionDenied => {
            anyhow!("`{program}` may not be executed in this environment: {error}")
        }
        _ => anyhow::Error::new(error).context(format!("starting `{program}`")),
    }
}

/// Runs a command that is not timed and must succeed.
fn run_untimed(words: &[String], folder: &Path, task: &CommandTask) -> Result<()> {
    let output = folder.join("untimed");
    let order = CommandOrder {
        words,
        stdin: None,
        stdout: None,
        stderr: Some(&output),
        limit_ns: task.time_limit_ms * 1_000_000,
        output_limit: OUTPUT_LIMIT,
    };
    let command = shell_words::join(words);
    let end = sys::run_command(&order, &sys::input()).map_err(|error| not_started(words, error))?;
    ensure!(end.killed.is_none(), "`{command}` was not finished in time and was killed");
    if end.status.success() {
        return Ok(());
    }
    let what = format!("`{command}` ended with {}", end.status);
    Err(Failure::new(what).printed(last_lines(&output)).into())
}

/// Makes the caches drop the file. An error if they are not seen to have dropped it.
fn make_cold(path: &Path) -> Result<()> {
    let file = File::open(path).with_context(|| format!("opening `{}`", path.display()))?;
    sys::evict(&file).with_context(|| format!("evicting `{}`", path.display()))?;
    let (resident, pages) = sys::map_residency(&file)
        .with_context(|| format!("`{}` is not known to be cold", path.display()))?;
    ensure!(
        resident == 0,
        "`{}` cannot be made cold here: {resident} of {pages} pages stayed in memory",
        path.display()
    );
    Ok(())
}
