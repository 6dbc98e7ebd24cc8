//! Runs shell scripts: many short programs, pipes and small files.

use std::fmt::Write;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::process_exec::stays_inside;
use super::{Param, Probe, ProbeInfo, Setup, WHOLE, xorshift};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct ScriptShell;

static INFO: ProbeInfo = ProbeInfo {
    id: "script.shell",
    summary: "scripts that sort, dump, search and count a small text",
    timed: "One /bin/sh that starts `jobs` more of them at a time and waits for all. Each sorts a \
            text of 360 lines into a file, dumps that with od into sort into a second file, \
            pipes the lines with `the` from grep through tee, a third file, into wc, and removes \
            two of the files. `cpu=same`: all on one CPU. `cpu=free`: wherever the scheduler \
            puts them, as UnixBench runs it. 60e9 divided by the ns are UnixBench's loops per \
            minute.",
    excluded: "Making the text, comparing both results with what they must be, and removing \
             them. The programs are the environment's own: BusyBox or another version of \
             coreutils does other work. The locale is C and the environment contains only PATH.",
    unit: "run of all jobs",
    source: "UnixBench shell1 and shell8 (tst.sh, with its programs on a text of its size)",
    phases: WHOLE,
    params: &[Param::count("jobs", 1..=64), Param::one_of("cpu", &["same", "free"])],
    cases: &["jobs=1 cpu=same", "jobs=8 cpu=free"],
    on_files: false,
};

const PATH: &str = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
const TOOLS: &[&str] = &["sort", "od", "grep", "tee", "wc", "rm"];

/// Starts `$2` jobs in the folder `$1`. This shell leads their process group. When the worker dies
/// it receives SIGTERM and ends the group.
const ALL: &str = r#"trap 'kill -9 0' TERM
cd "$1" || exit
job=1
while [ "$job" -le "$2" ]; do
    /bin/sh job.sh "$job" &
    job=$((job + 1))
done
wait
"#;

/// The work of each job; the names of its files contain its number.
const JOB: &str = "sort <text >sorted.$1
od sorted.$1 | sort -n -k 1 >dump.$1
grep the sorted.$1 | tee found.$1 | wc >count.$1
rm sorted.$1 found.$1
";

struct Scripts {
    program: sys::Executable,
    /// Of each job: the output of od and of wc.
    results: Vec<(PathBuf, PathBuf)>,
    dump: String,
    count: String,
}

impl Probe for ScriptShell {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, _: &Params) -> Availability {
        if !sys::HAS_UNIX_SHELL {
            return Availability::Unavailable {
                reason: "there is no Unix shell on Windows".into(),
                remedy: "measure it in WSL (`--env wsl:DISTRIBUTION`)".into(),
            };
        }
        let folders = PATH.trim_start_matches("PATH=");
        let found = |tool: &str| folders.split(':').any(|dir| Path::new(dir).join(tool).exists());
        let tools = TOOLS.iter().filter(|tool| !found(tool)).copied();
        // The shell gives the null device to programs that run in the background.
        let fixed = ["/bin/sh", "/dev/null"].into_iter().filter(|path| !Path::new(path).exists());
        let missing: Vec<&str> = fixed.chain(tools).collect();
        if missing.is_empty() {
            return stays_inside("/bin/sh");
        }
        Availability::Unavailable {
            reason: format!("there is no {} in this environment", missing.join(", no ")),
            remedy: match missing[0] {
                "/dev/null" => "give the environment a `/dev`".into(),
                _ => format!("install what is missing (programs into one of {folders})"),
            },
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        match setup.param("cpu")? {
            "same" => drop(setup.cpu.context("this process cannot be pinned to a CPU")?),
            "free" => {
                sys::pin_to(setup.allowed_cpus).context("taking the pin off this process")?;
            }
            other => bail!("`script.shell` has no placement `{other}`"),
        }
        let folder = setup.scratch.folder()?;
        let text = text();
        for (name, content) in [("text", text.as_str()), ("all.sh", ALL), ("job.sh", JOB)] {
            let path = folder.join(name);
            fs::write(&path, content).with_context(|| format!("writing `{}`", path.display()))?;
        }
        let place = folder.to_str().context("the scratch folder's path is not UTF-8")?;
        let all = format!("{place}/all.sh");
        let jobs = setup.count("jobs")?;
        let words = ["/bin/sh", &all, place, &jobs.to_string()];
        let result = |job: u64, name: &str| folder.join(format!("{name}.{job}"));
        Ok(Box::new(Scripts {
            program: sys::Executable::new(&words)?.with_environment(&[PATH])?,
            results: (1..=jobs).map(|job| (result(job, "dump"), result(job, "count"))).collect(),
            dump: dump(sorted(&text).as_bytes()),
            count: count(&text),
        }))
    }
}

impl Workload for Scripts {
    fn run(&mut self, _: u64, _: &mut Stopwatch) -> Result<u64> {
        let status = sys::reap(sys::fork_exec_group(&self.program)?)?;
        ensure!(status == 0, "`{}` ended with status {status}", self.program.words());
        Ok(1)
    }

    /// Compares the results and removes them, so that the next run has to make them again.
    fn after_sample(&mut self) -> Result<()> {
        for (dump, count) in &self.results {
            let found = taken(dump)?;
            ensure!(found == self.dump, "od and sort made {} other bytes", found.len());
            let found = taken(count)?;
            let words: Vec<&str> = found.split_whitespace().collect();
            ensure!(words.join(" ") == self.count, "grep and wc counted `{}`", found.trim());
        }
        Ok(())
    }

    /// Every run is checked.
    fn iterations(&self) -> RangeInclusive<u64> {
        1..=1
    }
}

/// Reads the file and removes it.
fn taken(path: &Path) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(path)
        .with_context(|| format!("a job of the script did not make its file `{name}`"))?;
    fs::remove_file(path)?;
    Ok(text)
}

const LINES: usize = 360;
const WORDS: &[&str] = &[
    "echo", "for", "loop", "done", "count", "test", "file", "shift", "date", "read", "start",
    "esac", "name", "tmp", "bin", "case", "exit", "run", "#", "=", "-f", "$1", "|", "&&",
];

/// The text the jobs work on: 360 lines of one to eight short words, 8 KiB, `the` in one of ten.
fn text() -> String {
    let mut random = xorshift();
    let mut below = |bound: usize| (random() >> 33) as usize % bound;
    let mut text = String::new();
    for line in 0..LINES {
        for _ in 0..=below(8) {
            text.push_str(WORDS[below(WORDS.len())]);
            text.push(' ');
        }
        let last = if line % 10 == 0 { "the" } else { "x" };
        // The number makes all lines different, and the lines of a dump as well.
        let _ = writeln!(text, "{last}{line}");
    }
    text
}

/// What `sort` makes of it in the C locale.
fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.sort_unstable();
    lines.concat()
}

/// What `od` prints of it: offsets and two-byte words, octal, sixteen bytes a line.
fn dump(bytes: &[u8]) -> String {
    let mut dump = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let _ = write!(dump, "{:07o}", line * 16);
        for word in bytes.chunks(2) {
            let word = u16::from_ne_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
            let _ = write!(dump, " {word:06o}");
        }
        dump.push('\n');
    }
    let _ = writeln!(dump, "{:07o}", bytes.len());
    dump
}

/// What `grep the | wc` counts: lines, words and bytes.
fn count(text: &str) -> String {
    let found: Vec<&str> = text.split_inclusive('\n').filter(|line| line.contains("the")).collect();
    let found = found.concat();
    let (lines, words) = (found.lines().count(), found.split_whitespace().count());
    format!("{lines} {words} {}", found.len())
}

#[cfg(test)]
mod tests {
    use super::super::Scratch;
    use super::*;

    /// Runs the scripts once in the folder, after `change` did something to it.
    fn run_once(jobs: u64, change: impl Fn(&Path)) -> Result<()> {
        let temporary = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(temporary.path().join("with a space"));
        let cpus = sys::allowed_cpus().unwrap();
        let params = Params::new(&format!("jobs={jobs} cpu=free"));
        let (cpu, other_cpu) = (None, None);
        let setup =
            Setup { params: &params, scratch: &scratch, cpu, other_cpu, allowed_cpus: &cpus };
        let mut workload = ScriptShell.prepare(&setup).unwrap();
        change(scratch.folder().unwrap());
        workload.run(1, &mut Stopwatch::default())?;
        workload.after_sample()?;
        let mut left: Vec<_> = fs::read_dir(scratch.folder().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["all.sh", "job.sh", "text"]);
        Ok(())
    }

    #[test]
    fn jobs_make_what_was_computed_and_leave_nothing() {
        run_once(1, |_| {}).unwrap();
        run_once(3, |_| {}).unwrap();
    }

    #[test]
    fn other_results_are_errors() {
        let append = |folder: &Path, name: &str, more: &str| {
            let before = fs::read_to_string(folder.join(name)).unwrap();
            fs::write(folder.join(name), before + more).unwrap();
        };
        let error = run_once(2, |folder| append(folder, "text", "more\n")).unwrap_err();
        assert!(error.to_string().contains("other bytes"), "{error:#}");
        let error = run_once(2, |folder| append(folder, "job.sh", "rm count.2\n")).unwrap_err();
        assert!(error.to_string().contains("did not make its file `count.2`"), "{error:#}");
        let error = run_once(2, |folder| append(folder, "all.sh", "exit 3\n")).unwrap_err();
        assert!(error.to_string().contains("status 3"), "{error:#}");
    }

    #[test]
    fn the_text_is_as_described() {
        let text = text();
        assert_eq!(text.lines().count(), LINES);
        assert!((8000..9000).contains(&text.len()), "{}", text.len());
        let found = text.lines().filter(|line| line.contains("the")).count();
        assert!((30..80).contains(&found), "{found}");
    }
}
