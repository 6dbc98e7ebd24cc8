//! Makes a recording: runs a command without a recorder and with one, and turns what the tracer
//! tells into events, paths and the files that were there before.
//!
//! May use `model`, `recording` and `sys`. Must not print, and must not keep contents of files,
//! arguments or variables.

mod arguments;
mod descriptors;
mod listener;
mod mappings;
mod memory;
mod merge;
mod names;
mod paths;
mod small;
mod translate;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::model::Usage;
use crate::recording::{About, Costs, FORMAT, Recording};
use crate::sys::{self, CommandOrder, Killed, TraceOrder};

pub use names::replace_names;

/// The most bytes that a command may write while it is recorded.
const OUTPUT_LIMIT: u64 = 1 << 33;

/// How a command is recorded.
pub struct Order<'a> {
    /// Program and arguments; `{out}` in them is a file in `folder`.
    pub words: &'a [String],
    /// A private folder for what the runs write.
    pub folder: &'a Path,
    /// Number of runs that are traced.
    pub recordings: u32,
    /// Number of runs without a tracer, after a first one that does not count.
    pub alone: u32,
    pub limit: Duration,
    /// Runs that fail are recorded, too.
    pub ignore_failure: bool,
}

/// Runs the command without a recorder, and with it. The recording has real names.
pub fn record(order: &Order<'_>) -> Result<Recording> {
    let mut alone = Costs::default();
    for number in 0..=order.alone {
        // What does not end in time has no times of its own, and one recording.
        let Some((wall, usage)) = run_alone(order)? else { break };
        if number > 0 {
            alone.add(wall, &usage);
        }
    }
    let mut traced = Costs::default();
    let mut runs = Vec::new();
    for _ in 0..order.recordings.max(1) {
        let begin = sys::now_ns();
        let mut run = run_traced(order)?;
        traced.wall.push(sys::now_ns() - begin);
        let late = run.about.partial;
        run.about.machine = std::env::consts::ARCH.to_owned();
        runs.push(run);
        if late {
            break;
        }
    }
    let mut recording = merge::merged(runs);
    merge::without_stops(&mut recording);
    let About { envtax, recording: format, method, .. } = &mut recording.about;
    (*format, *envtax) = (FORMAT, env!("CARGO_PKG_VERSION").to_owned());
    *method = "ptrace with a seccomp filter".to_owned();
    recording.about.alone = alone;
    recording.about.recorded_runs = traced;
    Ok(recording)
}

/// The words, with `{out}` replaced by a file that does not exist yet.
fn words_of(order: &Order<'_>) -> Vec<String> {
    let out = order.folder.join("out");
    let _ = std::fs::remove_file(&out);
    order.words.iter().map(|word| word.replace("{out}", &out.display().to_string())).collect()
}

/// Wall time in ns of one run without a recorder, and what it used; none if it was ended at the
/// time limit.
fn run_alone(order: &Order<'_>) -> Result<Option<(u64, Usage)>> {
    let words = words_of(order);
    let errors = order.folder.join("stderr");
    let never = sys::no_input().context("a pipe")?;
    let end = sys::run_command(
        &CommandOrder {
            words: &words,
            stdin: None,
            stdout: None,
            stderr: Some(&errors),
            limit_ns: order.limit.as_nanos() as u64,
            output_limit: OUTPUT_LIMIT,
        },
        &never,
    )
    .with_context(|| format!("starting `{}`", words[0]))?;
    match end.killed {
        Some(Killed::TimedOut) => return Ok(None),
        Some(Killed::Interrupted) => bail!("interrupted before anything was recorded"),
        Some(Killed::Flooded) => {
            bail!("`{}` wrote more than {} GiB: record less of it", words[0], OUTPUT_LIMIT >> 30)
        }
        None => {}
    }
    let fine = end.status.success() || order.ignore_failure;
    ensure!(fine, "{}", failed(&words[0], &end.status.to_string(), &errors));
    Ok(Some((end.end_ns - end.start_ns, end.usage)))
}

fn failed(program: &str, how: &str, errors: &Path) -> String {
    let bytes = std::fs::read(errors).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(500)..]).into_owned();
    let said = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let said = if said.is_empty() { String::new() } else { format!("; it printed `{said}`") };
    format!(
        "`{program}` ended with {how} (input and output are empty here){said}; record it \
         nevertheless with `--ignore-failure`"
    )
}

fn run_traced(order: &Order<'_>) -> Result<Recording> {
    let words = words_of(order);
    let errors = order.folder.join("stderr");
    let mut listener = listener::Recorder::new(order.folder);
    let traced = TraceOrder { words: &words, stderr: &errors, limit: order.limit };
    let end =
        sys::trace(&traced, &mut listener).with_context(|| format!("recording `{}`", words[0]))?;
    let status = end.status.with_context(|| format!("`{}` was never seen to end", words[0]))?;
    let mut recording = listener.finish()?;
    recording.about.partial = end.late;
    recording.about.status = status;
    let left_out = &mut recording.about.left_out;
    let mut count = |name: &str, count: u64| {
        if count > 0 {
            left_out.entry(name.to_owned()).or_default().0 += count;
        }
    };
    count("signals", end.signals);
    count("calls of programs for another architecture", end.foreign_calls);
    count("another program, executed by a thread", u64::from(end.exec_by_thread));
    Ok(recording)
}
