//! `envtax doctor`: which environments start here, why others do not, and how noisy the machine is.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::start_check::{self, StartCheck};
use super::{machine, selection};
use crate::cleanup::guard::Guard;
use crate::cleanup::{leftovers, stage};
use crate::cli::DoctorArgs;
use crate::control::{AgentError, Session, SessionSettings};
use crate::exit::Exit;
use crate::launch::{self, LAUNCHERS};
use crate::model::{Availability, EnvSpec, Failure};
use crate::protocol::{Answer, Ask};
use crate::report::failure;
use crate::units;

/// The overview tries no further environments after this time.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Columns of a name, and before the text beside it.
const NAME: usize = 16;
const MARGIN: usize = 24;
/// Lines of an overview's reason and of its remedy.
const LINES: usize = 2;

pub fn run(args: &DoctorArgs) -> Result<Exit> {
    let file = selection::file(&args.file)?;
    let environments = selection::of(&args.environments, file.as_ref())?.environments;
    let envtax = std::env::current_exe().context("finding the path of envtax itself")?;
    let guard = Guard::start(&envtax)?;
    let settings = SessionSettings {
        agent: envtax,
        guard: &guard,
        answer_limit: args.answer_timeout,
        interrupted: &|| false,
        token: leftovers::fresh_token(),
        launches: Cell::new(0),
    };
    let _launched = guard.watch_run(&settings.token);
    if args.clean {
        return clean(args, environments, &settings);
    }
    let page = Page::new();
    // The user can read this while the environments are tried.
    let mut output = io::stdout();
    output.write_all(machine::text(page.width).as_bytes())?;
    output.flush()?;
    let mut text = String::from("\nenvironments\n");
    if args.environments.is_empty() {
        let mut tried = selection::examples()?;
        tried.extend(file.iter().flat_map(|file| file.environments().cloned()));
        text.push_str(&overview(&page, &tried, &settings)?);
    } else {
        for (spec, trial) in tries(&environments, &settings, false)? {
            text.push_str(&page.whole(&label(&spec), &trial));
        }
    }
    output.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The environments that start, then those that would have to boot, those that do not start, and
/// the kinds that need an argument.
fn overview(page: &Page, tried: &[EnvSpec], settings: &SessionSettings<'_>) -> Result<String> {
    let mut tries = tries(tried, settings, true)?;
    tries.sort_by_key(|(_, trial)| match trial {
        StartCheck::Started { .. } => 0,
        StartCheck::Ready => 1,
        StartCheck::Failed(_) | StartCheck::Interrupted => 2,
    });
    let entry = |(spec, trial): &(EnvSpec, StartCheck)| page.short(&label(spec), trial);
    let mut text: String = tries.iter().map(entry).collect();
    for launcher in LAUNCHERS {
        let info = launcher.info();
        if info.example.is_some() || launch::other_system(info).is_some() {
            continue;
        }
        text.push_str(&match launcher.detect() {
            Availability::Available => {
                page.entry(info.usage, "?", &["needs an argument that only you know".to_owned()])
            }
            Availability::Unavailable { reason, remedy } => {
                let why = Failure::new(reason).or_remedy(remedy);
                page.short(info.usage, &StartCheck::Failed(why))
            }
        });
    }
    for system in ["Linux", "Windows"] {
        let infos = LAUNCHERS.iter().map(|launcher| launcher.info());
        let its_own = infos.filter(|info| launch::other_system(info) == Some(system));
        let kinds: Vec<&str> = its_own.map(|info| info.kind).collect();
        if !kinds.is_empty() {
            let kinds = format!("envtax starts these on {system} only: {}", kinds.join(", "));
            text.push_str(&page.entry(&format!("on {system}"), "no", &[kinds]));
        }
    }
    text.push_str(
        "\n`envtax doctor --env SPEC` shows all details of one environment.\n\
         `envtax list environments` explains the kinds.\n",
    );
    Ok(text)
}

/// Tries the environments one after the other. `in_short` limits the time and boots no machine.
fn tries(
    environments: &[EnvSpec],
    settings: &SessionSettings<'_>,
    in_short: bool,
) -> Result<Vec<(EnvSpec, StartCheck)>> {
    let begin = Instant::now();
    let bar = start_check::progress(environments.len())?;
    let mut tries = Vec::new();
    for spec in environments {
        bar.set_message(format!("starting {}", label(spec)));
        bar.tick();
        let trial = match in_short {
            true if begin.elapsed() > TIME_LIMIT => {
                let text = format!("not tried: the others took {} s", TIME_LIMIT.as_secs());
                StartCheck::Failed(text.into())
            }
            true => start_check::in_short(spec, settings),
            false => start_check::of(spec, settings),
        };
        tries.push((spec.clone(), trial));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(tries)
}

/// The name that the user gave the environment; without one, its specification.
fn label(spec: &EnvSpec) -> String {
    if spec.name == spec.kind { spec.spec() } else { spec.name.clone() }
}

/// Has an agent in each environment remove what killed runs left there.
fn clean(
    args: &DoctorArgs,
    environments: Vec<EnvSpec>,
    settings: &SessionSettings<'_>,
) -> Result<Exit> {
    let page = Page::new();
    let native = || vec![EnvSpec::new("native", "native", "")];
    let environments = if environments.is_empty() { native() } else { environments };
    let mut exit = Exit::Done;
    let mut text = String::new();
    let undone = stage::undo_leftovers();
    if !undone.is_empty() {
        text.push_str(&page.entry("launches", "", &[vec!["undone".into()], undone].concat()));
    }
    for spec in environments {
        // A token that no run has.
        let ask = Ask::Dirs { paths: args.dirs.clone(), token: "00000000".into() };
        let answer = Session::start(&spec, &[], settings).and_then(|mut it| it.ask(ask, settings));
        match answer {
            Ok(Answer::Dirs { dirs, removed }) => {
                let mut lines: Vec<String> = dirs.into_iter().filter_map(|dir| dir.error).collect();
                if !lines.is_empty() {
                    exit = Exit::Partial;
                }
                match removed.is_empty() {
                    true => lines.push("nothing was left by killed runs".to_owned()),
                    false => lines.extend(std::iter::once("removed".to_owned()).chain(removed)),
                }
                text.push_str(&page.entry(&label(&spec), "", &lines));
            }
            other => {
                exit = Exit::Partial;
                let why = match other {
                    Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => error.into(),
                    _ => "the agent did not answer".into(),
                };
                text.push_str(&page.whole(&label(&spec), &StartCheck::Failed(why)));
            }
        }
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(exit)
}

/// The output: names at the left, texts beside them.
struct Page {
    width: usize,
}

impl Page {
    fn new() -> Page {
        let terminal = io::stdout().is_terminal();
        let own = terminal.then(|| comfy_table::Table::new().width()).flatten();
        Page { width: own.map_or(80, |width| usize::from(width).clamp(40, 100)) }
    }

    /// Everything of one environment.
    fn whole(&self, name: &str, trial: &StartCheck) -> String {
        match trial {
            StartCheck::Started { after, without } => {
                let mut lines = vec![started(*after)];
                // Names with the same reason share a line.
                let mut reasons: Vec<(&Failure, Vec<&str>)> = Vec::new();
                for (what, why) in without {
                    match reasons.iter_mut().find(|(known, _)| *known == why) {
                        Some((_, all)) => all.push(what),
                        None => reasons.push((why, vec![what])),
                    }
                }
                for (why, all) in reasons {
                    let text = format!("without {}: {}", all.join(", "), failure::long(why));
                    lines.extend(text.lines().map(|line| line.trim().to_owned()));
                }
                self.entry(name, "yes", &lines)
            }
            StartCheck::Failed(why) => {
                let text = failure::long(why);
                let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
                self.entry(name, "no", &lines)
            }
            StartCheck::Ready => {
                let text = format!("boots a machine: `envtax doctor --env {name}` tries it");
                self.entry(name, "?", &[text])
            }
            StartCheck::Interrupted => self.entry(name, "no", &["interrupted".to_owned()]),
        }
    }

    /// One environment among many.
    fn short(&self, name: &str, trial: &StartCheck) -> String {
        match trial {
            StartCheck::Started { after, without } if !without.is_empty() => {
                let what: Vec<&str> = without.iter().map(|(what, _)| what.as_str()).collect();
                let text = format!("{}, without {}", started(*after), what.join(", "));
                self.entry(name, "yes", &self.cut(&text))
            }
            StartCheck::Failed(why) => {
                let (what, remedy) = failure::short(why);
                let mut lines = self.cut(&what);
                lines.extend(remedy.iter().flat_map(|it| self.cut(&format!("remedy: {it}"))));
                self.entry(name, "no", &lines)
            }
            other => self.whole(name, other),
        }
    }

    /// The first lines of a text, with a sign where there are more.
    fn cut(&self, text: &str) -> Vec<String> {
        // With room for the sign.
        let mut lines = units::wrapped(text, self.width.saturating_sub(MARGIN + 1));
        if lines.len() > LINES {
            lines.truncate(LINES);
            if let Some(last) = lines.last_mut() {
                last.push('…');
            }
        }
        lines
    }

    fn entry(&self, name: &str, state: &str, texts: &[String]) -> String {
        let mut lines = texts.iter().flat_map(|text| units::wrapped(text, self.width - MARGIN));
        let mut entry = String::new();
        let mut name = name;
        if name.chars().count() > NAME {
            entry.push_str(&format!("  {name}\n"));
            name = "";
        }
        let first = lines.next().unwrap_or_default();
        entry.push_str(&format!("  {name:<NAME$} {state:<4} {first}\n"));
        entry.extend(lines.map(|line| format!("{:MARGIN$}{line}\n", "")));
        entry
    }
}

fn started(after: Duration) -> String {
    format!("starts in {}", units::time(after.as_nanos() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_fits_the_page() {
        let page = Page { width: 50 };
        let why = Failure::new("the agent ended (exit status: 1)")
            .printed(["one two three four five six seven eight nine ten eleven twelve"])
            .by_hand("x y z")
            .or_remedy("install it");
        let failed = StartCheck::Failed(why);
        let short = page.short("box", &failed);
        assert_eq!(
            short,
            "  box              no   the agent ended (exit\n\
             \x20                       status: 1): one two three…\n\
             \x20                       remedy: install it\n"
        );
        assert!(short.lines().all(|line| line.chars().count() <= 50), "{short}");
        let whole = page.whole("a-name-that-is-too-long", &failed);
        assert!(whole.starts_with("  a-name-that-is-too-long\n"), "{whole}");
        assert!(whole.contains("twelve") && whole.contains("by hand: x y z"), "{whole}");
    }

    #[test]
    fn what_is_missing_in_an_environment_is_named() {
        let without = [("file.cold", "no root"), ("a", "one CPU"), ("file.random", "no root")];
        let without = without.map(|(what, why)| (what.to_owned(), why.into())).to_vec();
        let started = StartCheck::Started { after: Duration::from_millis(7), without };
        let page = Page { width: 80 };
        assert!(page.short("a", &started).contains("starts in 7.00 ms, without file.cold, a,"));
        let whole = page.whole("a", &started);
        assert!(whole.contains("without file.cold, file.random: no root\n"), "{whole}");
        assert!(whole.contains("without a: one CPU\n"), "{whole}");
    }
}
