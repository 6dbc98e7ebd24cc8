//! `--repeat` and `--every`: when each of several runs begins, and what its file is called.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::RepeatArgs;
use crate::runfile::RunFile;

/// How often a wait looks whether the user wants to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The run file of each run: `NAME.jsonl` alone, or `NAME-1.jsonl` and so on. All numbers have as
/// many digits as the largest.
pub(super) fn paths(output: &Path, runs: u32) -> Vec<PathBuf> {
    if runs == 1 {
        return vec![output.to_owned()];
    }
    let digits = runs.to_string().len();
    let part = |part: Option<&std::ffi::OsStr>| {
        part.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (stem, extension) = (part(output.file_stem()), part(output.extension()));
    let name = |number: u32| {
        let name = PathBuf::from(format!("{stem}-{number:0digits$}"));
        if extension.is_empty() {
            name
        } else {
            PathBuf::from(format!("{}.{extension}", name.display()))
        }
    };
    (1..=runs).map(|number| output.with_file_name(name(number))).collect()
}

/// A run file: its name, what is in it, and which of its environments is meant.
type Source<R> = (String, R, Option<String>);

/// The runs of each environment, by its name, the reference first.
pub(super) fn by_environment<'a>(
    runs: &'a [Source<RunFile>],
    reference: &str,
) -> Vec<(&'a str, Vec<Source<&'a RunFile>>)> {
    let specs = runs.first().map_or(&[][..], |(_, run, _)| &run.header.plan.environments);
    let mut names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    names.sort_by_key(|name| *name != reference);
    let source = |name: &str, (file, run, _): &'a Source<RunFile>| {
        (file.clone(), run, Some(name.to_owned()))
    };
    let of = |name| (name, runs.iter().map(|it| source(name, it)).collect());
    names.into_iter().map(of).collect()
}

/// Waits until the run with that index is to begin; the first one began at `first`. Returns at once
/// if the run before took longer. False if the user wants to stop.
pub(super) fn wait(
    index: usize,
    first: Instant,
    args: &RepeatArgs,
    interrupted: &dyn Fn() -> bool,
) -> bool {
    let begin = first + args.every.unwrap_or_default() * index as u32;
    while !interrupted() {
        match begin.saturating_duration_since(Instant::now()) {
            left if left.is_zero() => return true,
            left => thread::sleep(left.min(POLL_INTERVAL)),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_before_their_ending() {
        let names = |output: &str, runs| -> Vec<String> {
            paths(Path::new(output), runs).iter().map(|it| it.display().to_string()).collect()
        };
        assert_eq!(names("d/name.jsonl", 1), ["d/name.jsonl"]);
        assert_eq!(names("d/a.b.jsonl", 2), ["d/a.b-1.jsonl", "d/a.b-2.jsonl"]);
        assert_eq!(names("name", 2), ["name-1", "name-2"]);
        assert_eq!(names("n.jsonl", 10)[8..], ["n-09.jsonl", "n-10.jsonl"]);
    }

    #[test]
    fn runs_begin_by_the_clock_and_not_after_an_interrupt() {
        let every = Some(Duration::from_millis(120));
        let args = RepeatArgs { repeat: 3, every };
        let first = Instant::now();
        assert!(wait(1, first, &args, &|| false));
        assert!(first.elapsed() >= Duration::from_millis(120));
        assert!(!wait(1000, first, &args, &|| true), "at once");
    }
}
