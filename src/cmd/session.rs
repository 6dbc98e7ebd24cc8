//! `envtax session`: gathers sessions of a measurement under labels, and compares two labels.
//!
//! A folder has the sessions of a label, and `arguments.json` beside these folders has what every
//! session measures. All of it is what `run`, `time` and `compare --versus` read and write.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::FromArgMatches;

use super::compare::Files;
use super::{gate, measure, run, show, time};
use crate::cli::{
    Cli, RepeatArgs, RunArgs, SessionAddArgs, SessionCompareArgs, SessionVerb, TimeArgs, Verb,
};
use crate::compare::{ADVISABLE_SESSIONS, Comparison, MIN_SESSIONS, pooled, tax_of};
use crate::exit::Exit;
use crate::model::{COMMAND, CommandPhase, is_name};
use crate::words::{Words, text};

/// What every session of a folder measures: the words after the label of the first one.
const ARGUMENTS: &str = "arguments.json";

pub fn session(verb: &SessionVerb) -> Result<Exit> {
    match verb {
        SessionVerb::Add(args) => add(args),
        SessionVerb::Compare(args) => compare(args),
    }
}

/// Measures one more session, or several, of that label.
fn add(args: &SessionAddArgs) -> Result<Exit> {
    ensure!(
        is_name(&args.label),
        "`{}`: a label consists of letters, digits and `_-.`",
        args.label
    );
    let words = words(args)?;
    let mut measurement = measurement_of(&words)?;
    let folder = args.folder.join(&args.label);
    let output = folder.join(measure::default_path());
    let repeat = RepeatArgs { repeat: args.sessions, every: args.every };
    match &mut measurement {
        Measurement::Run(run) => (run.output.output, run.repeat) = (Some(output), repeat),
        Measurement::Time(time) => {
            (time.output.output, time.repeat) = (Some(output), repeat);
            time.label = Some(args.label.clone());
        }
    }
    fs::create_dir_all(&folder).with_context(|| format!("making `{}`", folder.display()))?;
    let arguments = args.folder.join(ARGUMENTS);
    let text = serde_json::to_string(&words)? + "\n";
    fs::write(&arguments, text).with_context(|| format!("writing `{}`", arguments.display()))?;
    let exit = match &measurement {
        Measurement::Run(args) => run::run(args),
        Measurement::Time(args) => time::run(args),
    };
    let count = files(&args.folder, &args.label).map_or(0, |files| files.len());
    let sessions = if count == 1 { "session" } else { "sessions" };
    // A closed stderr is no reason to fail.
    let _ = writeln!(io::stderr(), "`{}` has {count} {sessions} now", args.label);
    exit
}

/// What is to be measured: as it is given, or as it was for the sessions that are there.
fn words(args: &SessionAddArgs) -> Result<Vec<String>> {
    let path = args.folder.join(ARGUMENTS);
    let kept: Option<Vec<String>> = match fs::read(&path) {
        Ok(bytes) => Some(
            serde_json::from_slice(&bytes)
                .with_context(|| format!("`{}` is damaged; remove it", path.display()))?,
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("reading `{}`", path.display())),
    };
    match (kept, args.words.is_empty()) {
        (Some(kept), true) => Ok(kept),
        (Some(kept), false) if kept != args.words => bail!(
            "the sessions in `{}` measure `{}`; leave the words away to measure the same, or name \
             another folder with `--folder`",
            args.folder.display(),
            shell_words::join(&kept)
        ),
        (None, true) => bail!(
            "what is to be measured? For the first session: `envtax session add {} run …`, or \
             `time …`",
            args.label
        ),
        _ => Ok(args.words.clone()),
    }
}

/// What a session carries out.
enum Measurement {
    Run(Box<RunArgs>),
    Time(Box<TimeArgs>),
}

/// The words as arguments of `run` or `time`, without what each session has by itself.
fn measurement_of(words: &[String]) -> Result<Measurement> {
    let line = ["envtax"].into_iter().chain(words.iter().map(String::as_str));
    // A wrong option is told as in `run` and `time` themselves.
    let matches = super::command().try_get_matches_from(line).unwrap_or_else(|it| it.exit());
    let verb = Cli::from_arg_matches(&matches).unwrap_or_else(|it| it.exit()).verb;
    let measurement = match verb {
        Verb::Run(args) => Measurement::Run(Box::new(args)),
        Verb::Time(args) => Measurement::Time(Box::new(args)),
        _ => bail!("a session is one of `run` or `time`: `envtax session add LABEL run …`"),
    };
    let (output, repeat, label) = match &measurement {
        Measurement::Run(args) => (&args.output, &args.repeat, None),
        Measurement::Time(args) => (&args.output, &args.repeat, args.label.as_ref()),
    };
    ensure!(output.output.is_none(), "`-o` is chosen by `envtax session add`; leave it away");
    ensure!(repeat.repeat == 1, "write `--sessions N` before the label instead of `--repeat N`");
    ensure!(label.is_none(), "`--label` is chosen by `envtax session add`; leave it away");
    Ok(measurement)
}

/// Compares the sessions of two labels.
fn compare(args: &SessionCompareArgs) -> Result<Exit> {
    show::check(&args.show)?;
    let rules = gate::rules(&args.gate)?;
    let labels = [&args.before, &args.after];
    ensure!(labels[0] != labels[1], "`{}` is given twice", labels[0]);
    let mut read = Files::default();
    let mut sides = Vec::new();
    for label in labels {
        let paths = files(&args.folder, label)?;
        let source = |path: PathBuf| match &args.env {
            Some(env) => format!("{}:{env}", path.display()),
            None => path.display().to_string(),
        };
        let sources: Vec<String> = paths.into_iter().map(source).collect();
        sides.push((label, read.sources(&sources)?));
    }
    let sides: Vec<_> =
        sides.into_iter().map(|(label, found)| (label, read.named(found))).collect();
    let plans = sides.iter().flat_map(|(_, sources)| sources);
    gate::check(rules.as_ref(), plans.flat_map(|(_, run, _)| run.header.plan.cases.iter()))?;
    let columns: Vec<_> =
        sides.iter().map(|(label, sources)| pooled(label, sources)).collect::<Result<_>>()?;
    let comparison = show::show(&columns, &args.show, again(args), rules.as_ref())?;
    let have = sides.iter().map(|(label, sources)| (label.as_str(), sources.len()));
    let words = Words::of(show::language(args.show.lang.as_deref())?);
    let told = next(&comparison, &words, have.collect());
    show::behind(&args.show, &show::wrapped(&told))?;
    gate::finish(&comparison, &args.show, Exit::Done)
}

/// The words of this command without what says how the output looks.
fn again(args: &SessionCompareArgs) -> Vec<String> {
    let mut words = ["envtax", "session", "compare"].map(str::to_owned).to_vec();
    words.extend([args.before.clone(), args.after.clone()]);
    words.extend(["--folder".to_owned(), args.folder.display().to_string()]);
    words.extend(args.env.iter().flat_map(|env| ["--env".to_owned(), env.clone()]));
    words
}

/// How many more sessions are needed, as commands. Sessions of both labels are taken in turn.
fn next(comparison: &Comparison, words: &Words, have: Vec<(&str, usize)>) -> String {
    let asked = comparison
        .rows
        .iter()
        .filter(|row| row.probe != COMMAND || row.phase == CommandPhase::Wall.name());
    let reaches = asked.filter_map(|row| tax_of(row.cells.get(1)?)?.sessions.as_deref().copied());
    let reaches: Vec<_> = reaches.collect();
    let margin = crate::units::percent(comparison.margin);
    let least = have.iter().map(|(_, count)| *count).min().unwrap_or_default();
    let needed = reaches.iter().map(|reach| reach.needed).max_by_key(|it| it.unwrap_or(usize::MAX));
    let say = |id: &str, count: usize| {
        words.with(id, &[("count", count.into()), ("margin", text(&margin))])
    };
    let (target, why) = match needed {
        _ if least < MIN_SESSIONS => (MIN_SESSIONS, "session-for-verdict"),
        None if least < ADVISABLE_SESSIONS => (ADVISABLE_SESSIONS, "session-advisable"),
        None => return say("session-enough", least),
        Some(None) => return say("session-out-of-reach", least),
        Some(Some(needed)) if needed <= least => return say("session-enough-for", least),
        Some(Some(needed)) => (needed, "session-for-margin"),
    };
    let has = have.iter().map(|(label, count)| {
        words.with("session-has", &[("label", text(label)), ("count", (*count).into())])
    });
    let missing = have.iter().filter(|(_, count)| *count < target);
    let commands: Vec<String> =
        missing.map(|(label, _)| format!("envtax session add {label}")).collect();
    let has = words.listed(&has.collect::<Vec<_>>());
    let why = say(why, target);
    let values = [("why", text(&why)), ("has", text(&has)), ("count", (target - least).into())];
    format!("{}\n    {}", words.with("session-next", &values), commands.join(" && "))
}

/// The run files of a label, in the order in which they were made.
fn files(folder: &Path, label: &str) -> Result<Vec<PathBuf>> {
    let place = folder.join(label);
    let entries = match fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = known(folder);
            bail!("there is no session of `{label}` in `{}`; {text}", folder.display())
        }
        Err(error) => return Err(error).with_context(|| format!("`{}`", place.display())),
    };
    let paths: io::Result<Vec<PathBuf>> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.with_context(|| format!("reading `{}`", place.display()))?;
    paths.retain(|path| path.extension() == Some(OsStr::new("jsonl")));
    paths.sort();
    ensure!(!paths.is_empty(), "`{}` has no session", place.display());
    Ok(paths)
}

/// What labels there are, for a mistake.
fn known(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match names.is_empty() {
        true => "`envtax session add LABEL …` measures one".into(),
        false => format!("there are {}", names.join(", ")),
    }
}
