//! Programs that need some of the libraries and do nothing, started in turn in rounds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::closure::{Closure, ask};
use crate::cleanup::child;
use crate::cleanup::guard::Guard;
use crate::cleanup::held_stage::HeldStage;
use crate::model::Failure;
use crate::stats::block_floor;
use crate::sys::{self, HostTimes, LibraryHost, Needs};

/// Starts of one program in a round; the round's figure is their floor. One of a program whose
/// start takes long.
const STARTS: usize = 4;
const LONG_NS: u64 = 200_000_000;
const WRITING: &str = "writing a program that loads libraries";
/// Longest time that one start may take: a library may wait for something.
const LIMIT: Duration = Duration::from_secs(20);
/// Fewest rounds, even when they take longer than the budget.
const FEWEST: u32 = 5;

/// When to end.
pub struct Rules<'a> {
    pub budget: Duration,
    /// Exactly so many rounds, instead of as many as the budget allows.
    pub rounds: Option<u32>,
    pub seed: u64,
    pub interrupted: &'a dyn Fn() -> bool,
    /// Told after each round: the part that is done, 0 to 1.
    pub progress: &'a mut dyn FnMut(f64),
}

/// Which libraries each program needs: those that are measured in every round.
pub struct Hosts {
    /// Without a loader; then with the loader alone.
    pub fixed: [Option<BTreeSet<usize>>; 2],
    /// The libraries in the order in which they are initialised.
    pub order: Vec<usize>,
    /// By place in `order`: this library with all before it.
    pub cumulative: Vec<BTreeSet<usize>>,
    /// By place in `order`: this library with only what it needs.
    pub alone: Vec<BTreeSet<usize>>,
    /// Imports of the program, and what is left without each.
    pub without: Vec<(usize, BTreeSet<usize>)>,
}

impl Hosts {
    pub fn of(closure: &Closure) -> Hosts {
        let order = closure.by_need();
        let before = |place: usize| closure.with_needs(&order[..=place]);
        let cumulative: Vec<_> = (0..order.len()).map(before).collect();
        let alone = order.iter().map(|index| closure.with_needs(&[*index])).collect();
        let all: BTreeSet<usize> = (0..closure.libraries.len()).collect();
        let without = |import: &usize| {
            let gone = closure.goes_with(*import);
            (!gone.is_empty()).then(|| (*import, all.difference(&gone).copied().collect()))
        };
        let without = closure.imports.iter().filter_map(without).collect();
        let empty = Some(BTreeSet::new());
        // Where the system is the loader, every program has it.
        let least = if closure.loader.is_some() { None } else { empty.clone() };
        Hosts { fixed: [least, empty], order, cumulative, alone, without }
    }

    /// Every set of libraries once: none is a static program without a loader.
    fn sets(&self) -> Vec<Option<BTreeSet<usize>>> {
        let without = self.without.iter().map(|(_, set)| set);
        let sets = self.cumulative.iter().chain(&self.alone).chain(without);
        let all: BTreeSet<_> = self.fixed.iter().cloned().chain(sets.cloned().map(Some)).collect();
        all.into_iter().collect()
    }
}

/// What the rounds of one program measured, in ns.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub start: Vec<f64>,
    pub exit: Vec<f64>,
    /// Start and exit together.
    pub whole: Vec<f64>,
}

/// The rounds of all programs.
pub struct Measured {
    pub hosts: Hosts,
    sets: Vec<Option<BTreeSet<usize>>>,
    series: Vec<Series>,
    /// Why a set of libraries could not be loaded, by its place.
    failures: Vec<Option<Failure>>,
    pub rounds: u32,
    pub interrupted: bool,
}

impl Measured {
    /// The rounds of the program with these libraries; why there are none otherwise.
    pub fn of(&self, set: Option<&BTreeSet<usize>>) -> Result<&Series, &Failure> {
        let place = self.sets.iter().position(|it| it.as_ref() == set);
        let place = place.expect("every set that is asked for was made");
        self.failures[place].as_ref().map_or(Ok(&self.series[place]), Err)
    }
}

/// Measures the programs in rounds of random order, each round on one CPU.
pub fn measure(
    closure: &Closure,
    guard: &Guard,
    token: &str,
    rules: &mut Rules<'_>,
) -> Result<Measured> {
    let stage = HeldStage::make(&format!("{token}-deps"), guard, |_| Ok(Vec::new()))?;
    let _launched = guard.watch_run(token);
    let hosts = Hosts::of(closure);
    let sets = hosts.sets();
    let whole = all_needs(closure, stage.path())?;
    let mut programs = Vec::new();
    for (place, set) in sets.iter().enumerate() {
        let loader = closure.loader.as_deref().filter(|_| set.is_some());
        let names = set.iter().flatten().map(|index| whole.names[*index].clone());
        let needs = Needs { names: names.collect(), folders: whole.folders.clone() };
        let path = stage.path().join(format!("host{place}"));
        let program = LibraryHost::write(&path, loader, &needs, token);
        programs.push(program.context(WRITING)?);
    }
    let tried: Vec<Result<u64, Failure>> = programs.iter().map(try_out).collect();
    let long = tried.iter().flatten().any(|ns| *ns > LONG_NS);
    let starts = if long { 1 } else { STARTS };
    let failures: Vec<Option<Failure>> = tried.into_iter().map(Result::err).collect();
    let mut series = vec![Series::default(); sets.len()];
    let mut order: Vec<usize> = (0..sets.len()).filter(|it| failures[*it].is_none()).collect();
    let cpus = sys::allowed_cpus().unwrap_or_default();
    let mut random = Pcg64::seed_from_u64(rules.seed);
    let begin = Instant::now();
    let mut rounds = 0;
    let done = |rounds: u32| match rules.rounds {
        Some(all) => f64::from(rounds) / f64::from(all.max(1)),
        None if rounds < FEWEST => 0.0,
        None => begin.elapsed().as_secs_f64() / rules.budget.as_secs_f64(),
    };
    while done(rounds) < 1.0 && !(rules.interrupted)() {
        order.shuffle(&mut random);
        if !cpus.is_empty() {
            let _ = sys::pin_to(&[cpus[rounds as usize % cpus.len()]]);
        }
        for place in &order {
            let point = round_of(&programs[*place], starts)
                .with_context(|| format!("starting {}", shown(closure, sets[*place].as_ref())))?;
            series[*place].start.push(point[0]);
            series[*place].exit.push(point[1]);
            series[*place].whole.push(point[2]);
        }
        rounds += 1;
        (rules.progress)(done(rounds).min(1.0));
    }
    let _ = sys::pin_to(&cpus);
    let interrupted = (rules.interrupted)();
    Ok(Measured { hosts, sets, series, failures, rounds, interrupted })
}

/// By which names, and in which folders, the loader finds for a program of ours the very libraries
/// that it finds for the user's program. The names are those by which the user's program and its
/// libraries ask for them, as far as possible.
fn all_needs(closure: &Closure, folder: &Path) -> Result<Needs> {
    let libraries = &closure.libraries;
    let path_of = |index: usize| libraries[index].path.display().to_string();
    let Some(loader) = closure.loader.as_deref() else {
        let names = (0..libraries.len()).map(path_of).collect();
        return Ok(Needs { names, folders: Vec::new() });
    };
    let names = libraries.iter().map(|library| library.name.clone()).collect();
    let mut needs = Needs { names, folders: Vec::new() };
    let path = folder.join("names");
    let others = |needs: &Needs| -> Result<Vec<usize>> {
        LibraryHost::write(&path, Some(loader), needs, "").context(WRITING)?;
        let (listed, _) = ask(loader, &path)?;
        fs::remove_file(&path)?;
        let same = |index: &usize| {
            let library = &libraries[*index];
            let found = listed.iter().find(|it| it.name == library.name);
            found.is_some_and(|it| it.path.as_ref() == Some(&library.path))
        };
        Ok((0..libraries.len()).filter(|index| !same(index)).collect())
    };
    for index in others(&needs)? {
        let folder = libraries[index].path.parent().map(|it| it.display().to_string());
        needs.folders.extend(folder.filter(|folder| !needs.folders.contains(folder)));
    }
    for index in others(&needs)? {
        needs.names[index] = path_of(index);
    }
    Ok(needs)
}

/// The floors of some starts: of start, exit, and both.
fn round_of(program: &LibraryHost, starts: usize) -> Result<[f64; 3]> {
    let mut times: [Vec<u64>; 3] = Default::default();
    for _ in 0..starts {
        let HostTimes { start_ns, exit_ns } = program.run(LIMIT)?;
        times[0].push(start_ns);
        times[1].push(exit_ns);
        times[2].push(start_ns + exit_ns);
    }
    Ok(times.map(|times| block_floor(&times, 1)))
}

/// Starts the program once, and returns the time that this took in ns; says what it prints when its
/// libraries cannot be loaded.
fn try_out(program: &LibraryHost) -> Result<u64, Failure> {
    let error = match program.run(LIMIT) {
        Ok(times) => return Ok(times.start_ns + times.exit_ns),
        Err(error) => error,
    };
    let failure = Failure::new(format!("a program with only these libraries fails: {error}"));
    let printed = child::output_within(program.command(), LIMIT, 4096).map(|it| it.stderr);
    let text = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
    let folder = program.path().display().to_string();
    Err(failure.printed(text.lines().take(2).map(|line| line.replace(&folder, "it"))))
}

/// A set of libraries in a message.
fn shown(closure: &Closure, set: Option<&BTreeSet<usize>>) -> String {
    match set.and_then(|set| set.last()) {
        Some(index) => format!("a program with `{}`", closure.libraries[*index].name),
        None => "a program without libraries".to_owned(),
    }
}
