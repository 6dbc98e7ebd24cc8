//! One run of a whole command inside an environment: its preparation, the run itself, what it took,
//! and what it wrote.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::model::{Extras, SampleSet};
use crate::program::hash_of;
use crate::protocol::CommandTask;
use crate::sys::{self, CommandEnd, CommandOrder, Killed};

/// Output that is kept to be checked may be so long.
const OUTPUT_LIMIT: u64 = 4 << 30;
/// How long a command beside the timed one may take.
const ASIDE_LIMIT_NS: u64 = 600_000_000_000;
/// What stands for the file that a run is to write.
const OUT: &str = "{out}";

/// Runs the command once, in `folder`, which is the run's own.
pub fn run(task: &CommandTask, folder: &Path) -> Result<SampleSet> {
    fs::create_dir(folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let out = folder.join("out");
    let with_out = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.replace(OUT, &out.display().to_string())).collect()
    };
    for words in &task.prepare {
        aside(&with_out(words), folder).context("--prepare")?;
    }
    for path in &task.cold {
        make_cold(Path::new(path))?;
    }
    let words = with_out(&task.words);
    let stdout = task.check_output.then(|| folder.join("stdout"));
    let end = sys::run_command(
        &CommandOrder {
            words: &words,
            stdin: task.stdin.as_deref().map(Path::new),
            stdout: stdout.as_deref(),
            limit_ns: task.time_limit_ms * 1_000_000,
            output_limit: OUTPUT_LIMIT,
        },
        &io::stdin(),
    )
    .map_err(|error| not_started(&words, task, error))?;
    judge(&end, &words, task)?;
    let mut set = figures(&end);
    if task.settle {
        let begin = Instant::now();
        sys::sync_all();
        set.samples.push(vec![begin.elapsed().as_nanos() as u64]);
    }
    set.extras = remarks(&end, stdout.as_deref(), &out, task)?;
    for words in &task.conclude {
        aside(&with_out(words), folder).context("--conclude")?;
    }
    Ok(set)
}

/// A figure for each of the command's phases, in their order.
fn figures(end: &CommandEnd) -> SampleSet {
    let usage = &end.usage;
    let (read, written) = end.storage.unwrap_or_default();
    let figures = [
        end.end_ns - end.start_ns,
        usage.user_ns,
        usage.system_ns,
        end.peak_bytes,
        usage.minor_faults + usage.major_faults,
        usage.voluntary_switches + usage.involuntary_switches,
        read,
        written,
    ];
    SampleSet {
        iterations: 1,
        samples: figures.map(|figure| vec![figure]).to_vec(),
        start_ns: end.start_ns,
        end_ns: end.end_ns,
        pinned: true,
        usage: usage.clone(),
        extras: Extras::default(),
    }
}

fn remarks(
    end: &CommandEnd,
    stdout: Option<&Path>,
    out: &Path,
    task: &CommandTask,
) -> Result<Extras> {
    let mut extras = Extras { floor_bytes: end.floor_bytes, ..Extras::default() };
    if end.left > 0 {
        let text = "the command left processes behind, which were ended after it".to_owned();
        extras.notes.push(text);
    }
    if !end.status.success() {
        extras.notes.push(format!("the command ended with {}", end.status));
    }
    if let Some(stdout) = stdout {
        let mut hash = hash_of(stdout)?;
        if out.exists() {
            hash = format!("{hash} {}", hash_of(out)?);
        }
        extras.output = Some(hash);
    }
    if task.words.iter().any(|word| word.contains(OUT)) && !out.exists() {
        extras.notes.push("the command wrote no file at {out}".to_owned());
    }
    Ok(extras)
}

fn judge(end: &CommandEnd, words: &[String], task: &CommandTask) -> Result<()> {
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
    ensure!(
        end.status.success() || task.ignore_failure,
        "`{command}` ended with {}; run it by hand to see why, or time it all the same with \
         `--ignore-failure`",
        end.status
    );
    Ok(())
}

fn not_started(words: &[String], task: &CommandTask, error: io::Error) -> anyhow::Error {
    let program = words.first().map_or("", String::as_str);
    let missing = error.kind() == io::ErrorKind::NotFound;
    if let Some(stdin) = task.stdin.as_ref().filter(|path| missing && !Path::new(path).exists()) {
        return anyhow::anyhow!("the input `{stdin}` is not there in this environment");
    }
    match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow::anyhow!("there is no program `{program}` in this environment")
        }
        io::ErrorKind::PermissionDenied => {
            anyhow::anyhow!("`{program}` may not be executed in this environment: {error}")
        }
        _ => anyhow::Error::new(error).context(format!("starting `{program}`")),
    }
}

/// Runs a command that is not timed and must succeed.
fn aside(words: &[String], folder: &Path) -> Result<()> {
    let output = folder.join("aside");
    let order = CommandOrder {
        words,
        stdin: None,
        stdout: Some(&output),
        limit_ns: ASIDE_LIMIT_NS,
        output_limit: OUTPUT_LIMIT,
    };
    let command = shell_words::join(words);
    let end = sys::run_command(&order, &io::stdin()).with_context(|| format!("`{command}`"))?;
    ensure!(end.killed.is_none(), "`{command}` did not end in time");
    ensure!(end.status.success(), "`{command}` ended with {}", end.status);
    Ok(())
}

/// Has the caches forget the file; an error when that cannot be seen to have happened.
fn make_cold(path: &Path) -> Result<()> {
    let file = File::open(path).with_context(|| format!("opening `{}`", path.display()))?;
    sys::evict(&file).with_context(|| format!("evicting `{}`", path.display()))?;
    let (resident, pages) = sys::map_residency(&file).unwrap_or((1, 1));
    ensure!(
        resident == 0,
        "`{}` cannot be made cold here: {resident} of {pages} pages stayed in memory",
        path.display()
    );
    Ok(())
}
