//! Carries out a plan, for every verb that measures: starts the guard, writes the run file, shows
//! the progress, and compares.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Error, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use super::say;
use super::start_check::{self, StartCheck};
use super::{gate, repeat, show};
use crate::cleanup::guard::Guard;
use crate::cleanup::{leftovers, stage};
use crate::cli::{GateArgs, OutputArgs, RepeatArgs, ShowArgs};
use crate::compare::{self, pooled, sides};
use crate::control::{self, Forecast, Progress, Reenactment, SessionSettings, Watcher};
use crate::exit::Exit;
use crate::model::{EnvSpec, Failure, Plan};
use crate::plan::Draft;
use crate::plan::environment_file::AUTO;
use crate::plan::suite;
use crate::report::failure;
use crate::runfile::{self, EndReason, Header, OutcomeState, Record, RunFile, Writer};
use crate::{facts, sys, units};

/// How a plan is carried out.
pub(super) struct How<'a> {
    /// The environments of these names are left out where they do not start.
    pub(super) auto: &'a BTreeSet<String>,
    pub(super) repeat: &'a RepeatArgs,
    pub(super) output: &'a OutputArgs,
    /// Longest wait for one answer of an agent.
    pub(super) answer_limit: Duration,
    /// Makes what a re-enactment needs.
    pub(super) reenactment: Option<&'a Reenactment<'a>>,
}

/// What runs of a plan gave.
pub(super) struct Measured {
    pub(super) paths: Vec<PathBuf>,
    /// Each run that measured something, by the path of its file.
    pub(super) runs: Vec<(String, RunFile, Option<String>)>,
    /// Whether all came to their own ends.
    pub(super) done: bool,
}

/// Carries the plan out, as often as asked for, writes the run files and prints the comparison.
pub(super) fn measure(
    draft: &Draft,
    how: &How<'_>,
    show: &ShowArgs,
    gate: &GateArgs,
) -> Result<Exit> {
    let rules = gate::rules(gate)?;
    gate::check(rules.as_ref(), draft.cases())?;
    let Measured { paths, runs: measured, done } = carry_out(draft, how)?;
    let replicates = repeat::by_environment(&measured, draft.reference());
    let columns = match measured.len() {
        1 => sides(&measured, None)?,
        _ => replicates.iter().map(|(name, runs)| pooled(name, runs)).collect::<Result<_>>()?,
    };
    let files = measured.iter().map(|(path, ..)| path.clone());
    let again = ["envtax", "compare"].map(str::to_owned).into_iter().chain(files);
    let comparison = show::show(&columns, show, again.collect(), rules.as_ref());
    let empty = done && measured.iter().all(|(_, run, _)| nothing_measured(run));
    print_end(&paths, &measured, empty || measured.iter().all(|(_, run, _)| ended_early(run)));
    // A wrong answer is in the run file like any other; the comparison refuses it.
    let failed = |cell: &compare::Cell| matches!(cell, compare::Cell::Failed { .. });
    let comparison = comparison?;
    let refused = comparison.rows.iter().flat_map(|row| &row.cells).any(failed);
    let exit = if done && !empty && !refused { Exit::Done } else { Exit::Partial };
    gate::finish(&comparison, show, exit)
}

/// Carries the plan out, as often as asked for, and writes the run files.
pub(super) fn carry_out(draft: &Draft, how: &How<'_>) -> Result<Measured> {
    let output = how.output.output.clone().unwrap_or_else(default_path);
    let paths = repeat::paths(&output, how.repeat.repeat);
    let claim = |path: &PathBuf| Writer::claim(path, how.output.force);
    let writers = paths.iter().map(claim).collect::<Result<Vec<Writer>>>()?;
    let interrupted = catch_signals()?;
    let envtax = std::env::current_exe().context("finding the path of envtax itself")?;
    let guard = Guard::start(&envtax)?;
    sys::adopt_orphans();
    let settings = SessionSettings {
        agent: envtax,
        guard: &guard,
        answer_limit: how.answer_limit,
        interrupted: &|| interrupted.load(Ordering::Relaxed),
        token: leftovers::fresh_token(),
        launches: Cell::new(0),
    };
    let _launched = guard.watch_run(&settings.token);
    // Before this process has mounts of its own: what is undone must be undone for all.
    let mut warnings: Vec<String> = stage::undo_leftovers()
        .into_iter()
        .map(|stage| format!("undid what a killed run left: {stage}"))
        .collect();
    let _hooks = control::start_run_hooks(draft.commands(), &settings)?;
    let (environments, told) = starting(draft, how.auto, &settings)?;
    warnings.extend(told);
    let (mut done, mut measured) = (true, Vec::new());
    let first = Instant::now();
    for (index, (path, writer)) in paths.iter().zip(writers).enumerate() {
        if !repeat::wait(index, first, how.repeat, settings.interrupted) {
            done = false;
            break;
        }
        let one = OneRun { index, path, writer, warnings: mem::take(&mut warnings) };
        match one.measure(draft, how, &environments, &settings) {
            Ok((run, whole)) => {
                done &= whole && complete(&run);
                let seed = run.header.plan.seed;
                print_end_of_run(path, seed, (index + 1, paths.len()));
                measured.push((path.display().to_string(), run, None));
            }
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                done = false;
                let failure = Failure::from(error).within(format!("run {} failed", index + 1));
                say(&failure::long(&failure));
            }
        }
    }
    ensure!(!measured.is_empty(), "no run measured anything");
    Ok(Measured { paths, runs: measured, done })
}

/// The run file of a single run, and whether it is `empty`. A closed stderr is no reason to fail.
fn print_end(paths: &[PathBuf], measured: &[(String, RunFile, Option<String>)], empty: bool) {
    if let ([_], [(path, run, _)]) = (paths, measured) {
        let _ = writeln!(io::stderr(), "\nrun file: {path}   (seed {})", run.header.plan.seed);
    }
    if empty {
        say(&format!("nothing was measured: {}", why_nothing(measured)));
    }
}

/// Whether the budget ended before any round that counts.
fn ended_early(run: &RunFile) -> bool {
    let by_budget = run.end.as_ref().is_some_and(|end| end.reason == EndReason::Budget);
    by_budget && run.outcomes.is_empty() && nothing_measured(run)
}

/// Why no row of these runs has a figure.
fn why_nothing(measured: &[(String, RunFile, Option<String>)]) -> String {
    match measured {
        [(_, run, _)] if ended_early(run) => {
            let plan = &run.header.plan;
            let cases = run.blocks.iter().map(|block| block.case).collect::<BTreeSet<_>>().len();
            let spent = run.blocks.iter().map(|block| block.outer_ns).sum::<u64>() as f64 / 1e9;
            let lap = spent * plan.cases.len() as f64 / cases.max(1) as f64;
            let rounds = plan.stop.min_rounds();
            let needed = (lap * f64::from(rounds + rounds.div_ceil(4)) * 1.5).ceil().max(1.0);
            format!(
                "the first round warms up, and the budget of {} ended before another one; give \
                 `--budget {needed}s`",
                units::time(plan.stop.budget_s().unwrap_or_default() * 1e9)
            )
        }
        _ => "every row was skipped, for the reasons above".into(),
    }
}

/// One of several runs is over.
fn print_end_of_run(path: &Path, seed: u64, (number, runs): (usize, usize)) {
    if runs > 1 {
        let path = path.display();
        let _ = writeln!(io::stderr(), "run {number} of {runs}: {path}   (seed {seed})");
    }
}

/// One of the runs of a plan.
struct OneRun<'a> {
    /// From 0.
    index: usize,
    path: &'a Path,
    writer: Writer,
    /// What is to be said when the run begins.
    warnings: Vec<String>,
}

impl OneRun<'_> {
    /// Carries the plan out once. Returns what was measured, and whether the run came to its own
    /// end. Errors: nothing was measured.
    fn measure(
        self,
        draft: &Draft,
        how: &How<'_>,
        environments: &[EnvSpec],
        settings: &SessionSettings<'_>,
    ) -> Result<(RunFile, bool)> {
        let made = control::make_dirs(environments, draft.dirs(), settings)?;
        let (data_dirs, _data): (Vec<_>, Vec<_>) =
            control::make_data(draft.cases(), how.reenactment, settings)?.into_iter().unzip();
        let dirs = made.dirs.iter().cloned().chain(data_dirs).collect();
        let plan = draft.settle(self.index, environments, dirs);
        let points = control::make_mount_points(&plan, settings)?;
        let mut scribe = Scribe::new(&plan, self.writer)?;
        let warnings = self.warnings.into_iter().chain(points.failures.iter().cloned());
        warnings.for_each(|text| scribe.warn(&text.into()));
        let end = control::run(&plan, settings, &mut scribe);
        scribe.bar.finish_and_clear();
        let whole = match end {
            Ok(end) => end.reason != EndReason::Interrupted,
            Err(error) if !scribe.writer.has_begun() => return Err(error),
            // Part of it is on disk, which is more than an error message is worth.
            Err(error) => {
                scribe.warn(&error.into());
                false
            }
        };
        let run = scribe.writer.read_back()?;
        let kept = self.path.exists();
        if !kept {
            let path = self.path.display();
            let text = format!("`{path}` was removed meanwhile: what was measured is only shown");
            scribe.warn(&text.into());
        }
        Ok((run, whole && kept))
    }
}

/// Whether everything that can be measured was, at least in one round.
fn complete(run: &RunFile) -> bool {
    let plan = &run.header.plan;
    let failed = run.outcomes.iter().any(|outcome| outcome.state == OutcomeState::Failed);
    let reached = |case: usize| {
        let counts = |block: &runfile::Block| block.case == case && block.round > 0;
        run.blocks.iter().any(counts) || run.outcomes.iter().any(|outcome| outcome.case == case)
    };
    !failed && (0..plan.cases.len()).all(reached)
}

/// Whether no row has a figure in any environment.
fn nothing_measured(run: &RunFile) -> bool {
    run.blocks.iter().all(|block| block.round == 0)
}

/// The environments of the plan without those that `--env auto` brought in and that do not start
/// here, and a sentence about each of these. The reference stays: the run tells what is wrong with
/// it.
fn starting(
    draft: &Draft,
    auto: &BTreeSet<String>,
    settings: &SessionSettings<'_>,
) -> Result<(Vec<EnvSpec>, Vec<String>)> {
    let mut told = Vec::new();
    let mut interrupted = false;
    let bar = start_check::progress(auto.len())?;
    let mut environments = draft.environments().to_vec();
    environments.retain(|spec| {
        let name = &spec.name;
        if !auto.contains(name) || name == draft.reference() || interrupted {
            return true;
        }
        bar.set_message(format!("trying {name}"));
        bar.inc(1);
        match start_check::of(spec, settings) {
            StartCheck::Started { .. } | StartCheck::Ready => return true,
            StartCheck::Interrupted => interrupted = true,
            StartCheck::Failed(why) => {
                let why = failure::short(&why).0;
                told.push(format!("`--env {AUTO}` leaves out `{name}`: {why}"));
            }
        }
        false
    });
    ensure!(!interrupted, "interrupted before anything was measured");
    bar.finish_and_clear();
    if !told.is_empty() {
        told.push("`envtax doctor` shows the remedies".into());
    }
    Ok((environments, told))
}

/// A seed from the clock and the process id: different each time, recorded in the run file.
pub(super) fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    // Small enough to be typed again.
    (since.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) % 1_000_000_000
}

/// The date and time of now, for people (RFC 3339, UTC).
pub(super) fn date() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

pub(super) fn default_path() -> PathBuf {
    let now = date();
    let name: String = now.chars().filter(char::is_ascii_alphanumeric).collect();
    PathBuf::from(format!("envtax-{name}.jsonl"))
}

/// The first SIGINT, SIGTERM or Ctrl-C asks the run to end in order; a second one ends it at once.
/// The agents then see their input close and clean up by themselves.
pub(super) fn catch_signals() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    sys::end_in_order_when_closed(Some(interrupted.clone()));
    let set = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    // The system's own words say which of its limits was reached.
    let set = set.map_err(|error| match error {
        ctrlc::Error::System(error) => Error::new(error),
        other => Error::new(other),
    });
    set.context("starting the thread that catches signals")?;
    sys::fail_beyond_file_size_limit();
    Ok(interrupted)
}

/// Writes the run file and shows progress. The file is created when there is something to write,
/// so that a run that could not start leaves none.
struct Scribe<'a> {
    plan: &'a Plan,
    writer: Writer,
    bar: ProgressBar,
}

impl<'a> Scribe<'a> {
    fn new(plan: &'a Plan, writer: Writer) -> Result<Scribe<'a>> {
        // indicatif draws on stderr, and nothing at all when that is no terminal.
        let bar = ProgressBar::new(100);
        let template = "{bar:16} {wide_msg}";
        bar.set_style(ProgressStyle::with_template(template).context("the progress bar")?);
        bar.set_message("starting the environments");
        bar.tick();
        Ok(Scribe { plan, writer, bar })
    }
}

/// Names of cases in one line at most.
const MOST_NAMES: usize = 6;

/// The plan in a sentence, with what to do where the time is not enough.
fn forecast_text(forecast: &Forecast) -> String {
    let Forecast { cases, environments, rounds, needed, budget, left_out } = forecast;
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let what = format!("{} in {}", count(*cases, "case"), count(*environments, "environment"));
    let seconds = |time: &Duration| format!("{} s", time.as_secs_f64().ceil());
    let takes = format!("{rounds} rounds of each take about {}", seconds(needed));
    let Some(budget) = budget else { return format!("{what}: {takes}") };
    if budget >= needed {
        return format!("{what}: {takes} of {}", seconds(budget));
    }
    let end = match left_out.as_slice() {
        [] => "rows will stay open".to_owned(),
        all => {
            let mut names: Vec<&str> = all.iter().map(String::as_str).take(MOST_NAMES).collect();
            let more = (all.len() > MOST_NAMES).then(|| format!("{} more", all.len() - MOST_NAMES));
            names.extend(more.as_deref());
            let measured = cases.saturating_sub(all.len());
            format!("there is time for {measured}, not for {}", names.join(", "))
        }
    };
    // A suite that has as many cases would be no help.
    let fewer = match suite::find(suite::DEFAULT).and_then(|suite| suite.cases(&[])) {
        Ok(few) if few.len() < *cases => format!("`--probe`, `--suite {}`", suite::DEFAULT),
        _ => "`--probe`".to_owned(),
    };
    format!(
        "{what}: {takes}, and {} are given: {end}; give `--budget {}s`, or fewer cases ({fewer})",
        seconds(budget),
        // What is left over makes intervals narrower.
        (needed.as_secs_f64() * 1.5).ceil(),
    )
}

impl Watcher for Scribe<'_> {
    fn record(&mut self, record: Record) -> Result<()> {
        if !self.writer.has_begun() {
            self.writer.write(&Record::Header(Header {
                format: runfile::FORMAT,
                envtax: env!("CARGO_PKG_VERSION").to_owned(),
                started: date(),
                host: facts::environment(),
                plan: self.plan.clone(),
            }))?;
        }
        self.writer.write(&record)
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some((done, all)) = progress.rounds.filter(|(done, _)| *done > 0) {
            self.bar.set_position(u64::from(100 * done / all.max(1)));
            let left = progress.elapsed * all.saturating_sub(done) / done;
            let left = units::time(left.as_nanos() as f64);
            self.bar.set_message(format!("{done} of {all} runs, about {left} left"));
            return;
        }
        let Some(budget) = progress.budget else { return };
        let spent = progress.elapsed.as_secs_f64() / budget.as_secs_f64();
        let done = progress.finished as f64 / progress.cases as f64;
        self.bar.set_position((spent.max(done) * 100.0).min(100.0) as u64);
        let left = budget.saturating_sub(progress.elapsed).as_secs();
        let (finished, cases) = (progress.finished, progress.cases);
        let mut message = format!("{left} s left, {finished}/{cases} precise");
        if let Some((width, whose)) = &progress.widest {
            message.push_str(&format!(", widest ±{}: {whose}", units::percent(*width)));
        }
        self.bar.set_message(message);
    }

    fn preparing(&mut self, done: usize, cases: usize) {
        self.bar.set_message(format!("finding sample sizes, {done}/{cases} cases"));
    }

    fn forecast(&mut self, forecast: &Forecast) {
        let text = forecast_text(forecast);
        self.bar.suspend(|| say(&text));
    }

    fn warn(&mut self, warning: &Failure) {
        // Nobody may be listening any more; the run goes on.
        self.bar.suspend(|| say(&failure::long(warning)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_says_what_the_time_is_enough_for() {
        let forecast = |budget: Option<u64>| Forecast {
            cases: 44,
            environments: 2,
            rounds: 15,
            needed: Duration::from_millis(89_200),
            budget: budget.map(Duration::from_secs),
            left_out: Vec::new(),
        };
        let text = |budget| forecast_text(&forecast(budget));
        let takes = "44 cases in 2 environments: 15 rounds of each take about 90 s";
        assert_eq!(text(None), takes);
        assert_eq!(text(Some(100)), format!("{takes} of 100 s"));
        let short = text(Some(40));
        assert!(short.starts_with(&format!("{takes}, and 40 s are given: rows will")), "{short}");
        assert!(short.contains("`--budget 134s`"), "{short}");
        let left_out = (0..8).map(|number| format!("probe{number}")).collect();
        let few = forecast_text(&Forecast { left_out, ..forecast(Some(5)) });
        assert!(few.contains("there is time for 36, not for probe0,"), "{few}");
        assert!(few.contains("probe5, 2 more; give `--budget 134s`"), "{few}");
        assert!(few.ends_with("(`--probe`, `--suite quick`)"), "{few}");
        let quick = forecast_text(&Forecast { cases: 8, ..forecast(Some(5)) });
        assert!(quick.ends_with("or fewer cases (`--probe`)"), "{quick}");
    }
}
