//! `envtax run`: turns its arguments into a plan of probes, and has it carried out.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::measure::{self, How, fresh_seed};
use super::say;
use super::selection::{self, Selection};
use super::show;
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::model::{Case, EnvSpec, LaunchCount, PlannedCase, Stop, TargetDir, Work, is_name};
use crate::plan::environment_file::EnvFile;
use crate::plan::suite::{self, Suite};
use crate::plan::{self, Draft, Wish};
use crate::{mount, probe, sys};

/// Name of the target directory that is measured when none is given: each environment's own folder
/// for temporary files.
const DEFAULT_DIR: &str = "tmp";
/// Names of the disk below made filesystems, of which the first free one is taken.
const BELOW: [&str; 2] = ["disk", "below"];

pub fn run(args: &RunArgs) -> Result<Exit> {
    show::check(&args.show)?;
    let file = selection::file(&args.file)?;
    let Selection { environments, auto } = selection::of(&args.environments, file.as_ref())?;
    let draft = draft_of(args, environments, file.as_ref())?;
    if let Some(hint) = hint(args, draft.cases())? {
        // Nobody may be reading it.
        say(&hint);
    }
    if args.cold_launches {
        let place = sys::DROP_CACHES;
        sys::may_drop_caches()
            .with_context(|| format!("`--cold-launches` writes to {place}: run as root"))?;
    }
    let how = How {
        auto: &auto,
        repeat: &args.repeat,
        output: &args.output,
        answer_limit: args.answer_timeout,
        reenactment: None,
    };
    measure::measure(&draft, &how, &args.show, &args.gate)
}

/// Cases that patterns pick from all that there are, above which that may not be meant.
const MANY: usize = 20;

/// Without a suite, a pattern picks from every case: told when it picked many.
fn hint(args: &RunArgs, cases: &[PlannedCase]) -> Result<Option<String>> {
    if args.suite.is_some() || args.probes.is_empty() || cases.len() <= MANY {
        return Ok(None);
    }
    let dirs: BTreeSet<&str> = cases.iter().filter_map(|it| it.case.dir.as_deref()).collect();
    let quick = suite::find(suite::DEFAULT)?;
    let usual = quick.cases(&dirs.into_iter().collect::<Vec<_>>())?;
    let few = cases.iter().filter(|planned| usual.contains(&planned.case)).count();
    let name = quick.name;
    let fewer = match few {
        0 => "give a longer pattern for fewer".to_owned(),
        1 => format!("1 of them is in the suite `{name}`: `--suite {name}` for that alone"),
        few => format!("{few} of them are in the suite `{name}`: `--suite {name}` for these alone"),
    };
    Ok(Some(format!("`--probe` picks {} cases; {fewer}", cases.len())))
}

fn draft_of(args: &RunArgs, environments: Vec<EnvSpec>, file: Option<&EnvFile>) -> Result<Draft> {
    let dirs = target_dirs(args, &environments, file)?;
    let names: Vec<&str> = dirs.iter().map(|dir| dir.name.as_str()).collect();
    let suite = suite_of(args)?;
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let budget_s = args.budget.map_or(suite.budget_s, |budget| budget.as_secs_f64());
    plan::make(Wish {
        environments,
        reference: args.reference.clone(),
        cases: planned_cases(args, suite, &names)?,
        probes: args.probes.iter().map(|text| canonical(text)).collect::<Result<_>>()?,
        libraries: args.dlls.clone(),
        copies: suite::parse_copies(&args.copies, cpus)?,
        dirs,
        seed: args.seed.unwrap_or_else(fresh_seed),
        stop: Stop::at_precision(args.precision / 100.0, plan::MIN_ROUNDS, budget_s),
        launches: args.launches.map_or(LaunchCount::Affordable, LaunchCount::Exactly),
        cold_launches: args.cold_launches,
        fixed_order: args.fixed_order,
        load: args.load,
        commands: None,
    })
}

/// The named suite; without a name, the one from which `--probe` picks.
fn suite_of(args: &RunArgs) -> Result<&'static Suite> {
    match &args.suite {
        Some(name) => suite::find(name),
        None => suite::find(suite::DEFAULT),
    }
}

/// A spelled case in its canonical form, so that it matches itself; a glob unchanged.
fn canonical(text: &str) -> Result<String> {
    let case =
        suite::spelled_case(text, &[DEFAULT_DIR])?.and_then(|cases| cases.into_iter().next());
    Ok(match case {
        Some(case) if text.contains(' ') => Case { dir: None, ..case }.to_string(),
        _ => text.to_owned(),
    })
}

/// The suite's cases, or all cases if `--probe` is given without a suite, and the cases that
/// `--probe` spells out.
fn planned_cases(args: &RunArgs, suite: &Suite, dirs: &[&str]) -> Result<Vec<PlannedCase>> {
    let mut cases = match (&args.suite, args.probes.is_empty()) {
        (None, false) => probe::all_cases(dirs),
        _ => suite.cases(dirs)?,
    };
    for text in &args.probes {
        for case in suite::spelled_case(text, dirs)?.unwrap_or_default() {
            let known = cases.contains(&case);
            ensure!(known || args.suite.is_none(), "`--probe {text}` is not in `{}`", suite.name);
            if !known {
                cases.push(case);
            }
        }
    }
    cases
        .into_iter()
        .map(|case| {
            let info = probe::find(&case.probe)?.info();
            Ok(PlannedCase {
                case,
                phases: info.phases.to_vec(),
                unit: info.unit.to_owned(),
                work: Work::Probe,
            })
        })
        .collect()
}

/// The target directories of the command line, of the file, and those that only its environments
/// name.
fn target_dirs(
    args: &RunArgs,
    environments: &[EnvSpec],
    file: Option<&EnvFile>,
) -> Result<Vec<TargetDir>> {
    let mut dirs: Vec<TargetDir> =
        args.dirs.iter().map(|text| target_dir(text)).collect::<Result<_>>()?;
    for dir in file.iter().flat_map(|file| &file.dirs) {
        if dirs.iter().all(|known| known.name != dir.name) {
            let text = format!("{}={}", dir.name, dir.path);
            dirs.push(target_dir(&text).with_context(|| dir.at.clone())?);
        }
    }
    let default = || TargetDir { name: DEFAULT_DIR.into(), ..TargetDir::default() };
    for name in environments.iter().flat_map(|spec| spec.dirs.keys()) {
        if dirs.iter().any(|known| known.name == *name) {
            continue;
        }
        // Every environment has a folder for temporary files; all other directories need a path in
        // every environment.
        let lacks = environments.iter().find(|spec| !spec.dirs.contains_key(name));
        if let Some(spec) = lacks.filter(|_| name != DEFAULT_DIR) {
            bail!(
                "`{}` has no path for the target directory `{name}`: give it with `--dir \
                 {name}=PATH`, or in the environment's table `dirs`",
                spec.name
            );
        }
        dirs.push(TargetDir { name: name.clone(), ..default() });
    }
    if dirs.is_empty() {
        dirs.push(default());
    }
    dirs.splice(..0, disk_below(&dirs));
    Ok(dirs)
}

/// The disk below the filesystems that are made for the run. It has to be beside them, so that its
/// cost can be told from theirs. It comes first: the others are compared with it. A user who names
/// a folder has chosen.
fn disk_below(dirs: &[TargetDir]) -> Option<TargetDir> {
    let over_disk = dirs.iter().any(|dir| mount::is_over_disk(&dir.made));
    let all_made = dirs.iter().all(|dir| !dir.made.is_empty());
    let is_free = |name: &&&str| dirs.iter().all(|dir| dir.name != **name);
    let name = BELOW.iter().find(is_free).filter(|_| over_disk && all_made)?;
    Some(TargetDir { name: (*name).into(), ..TargetDir::default() })
}

fn target_dir(text: &str) -> Result<TargetDir> {
    let Some((name, place)) = text.split_once('=') else {
        bail!("`--dir {text}`: write `--dir NAME=PATH` or `--dir NAME=KIND`");
    };
    ensure!(is_name(name), "`--dir {text}`: the name consists of letters, digits and `_-.`");
    let dir = TargetDir { name: name.into(), ..TargetDir::default() };
    if place.starts_with('/') || Path::new(place).is_absolute() {
        return Ok(TargetDir { path: place.into(), ..dir });
    }
    mount::check(place).with_context(|| format!("`--dir {text}`"))?;
    Ok(TargetDir { made: place.into(), ..dir })
}
