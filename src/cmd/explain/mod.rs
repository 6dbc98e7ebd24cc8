//! `envtax explain`: re-enacts recordings in environments and prints what the programs cost there.
//! May use every folder; only this file prints. Must not measure, compare or format anything.

mod acts;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use self::acts::{Act, Subject};
use super::measure::{self, How, Measured};
use super::record::read;
use super::selection::{self, Selection};
use crate::cli::{ExplainArgs, RepeatArgs, RestoreArgs};
use crate::compare::Conditions;
use crate::control::Reenactment;
use crate::exit::Exit;
use crate::explain::{self, Explanation, OfEnvironment, Question};
use crate::model::{
    COMMAND, Case, CommandCase, CommandPhase, CommandRules, DATA_DIR, EnvSpec, Executed,
    LaunchCount, Params, PlannedCase, Stop, Work,
};
use crate::plan::{self, Draft, Wish};
use crate::report::{self, Stacks};
use crate::runfile::RunFile;
use crate::words::Words;
use crate::{reenact, runfile, sys};

/// Longest wait for an environment to start, and for an answer after a run's own time limit.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Fewest rounds before intervals may count as narrow enough.
const MIN_ROUNDS: u32 = 15;
const BUDGET_S: f64 = 60.0;
/// As many seconds again for each recording beyond the first.
const BUDGET_OF_MORE_S: f64 = 15.0;
/// Half-width of the taxes' intervals that ends the run.
const PRECISION: f64 = 0.01;
/// The reference: the machine itself.
const NATIVE: &str = "native";
/// More than this share of the memory is not touched.
const MEMORY_SHARE: u64 = 2;

pub fn run(args: &ExplainArgs) -> Result<Exit> {
    let subjects = acts::subjects(args)?;
    let earlier = match args.programs {
        Some(_) => &args.recording,
        None => &args.run_file,
    };
    let run = match earlier {
        Some(path) => runfile::read(path)?,
        None => measured(args, &subjects)?,
    };
    let state = report::state(&Conditions::of_run(&run), &Words::english()).1;
    let explained = |subject: &Subject| {
        let question = Question {
            recording: &subject.recording,
            workload: &subject.workload,
            absent: subject.absent,
            margin: args.margin,
            state: &state,
        };
        explain::explain(&question, &run)
            .with_context(|| format!("`{}`", subject.recording.about.name))
    };
    let all = subjects.iter().map(explained).collect::<Result<Vec<Explanation>>>()?;
    if let Some(path) = &args.svg {
        fs::write(path, report::flames(&stacks(&all))?)
            .with_context(|| format!("writing `{}`", path.display()))?;
    }
    let mut output = io::stdout().lock();
    output.write_all(shown(args, &subjects, &all)?.as_bytes())?;
    output.flush()?;
    let whole = all.iter().flat_map(|it| &it.environments).all(|it| it.failure.is_none());
    Ok(if whole { Exit::Done } else { Exit::Partial })
}

fn shown(args: &ExplainArgs, subjects: &[Subject], all: &[Explanation]) -> Result<String> {
    match (subjects, all) {
        (_, all) if args.programs.is_some() => Ok(match args.json {
            true => serde_json::to_string_pretty(all)? + "\n",
            false => explain::programs(all),
        }),
        ([subject], [it]) if !args.json => {
            Ok(explain::text(&subject.recording, it, &subject.dropped.borrow(), args.long))
        }
        (_, [it]) => Ok(serde_json::to_string_pretty(it)? + "\n"),
        _ => bail!("nothing was re-enacted"),
    }
}

/// The extra time of each environment, for a picture.
fn stacks(all: &[Explanation]) -> Vec<(String, Stacks)> {
    let of = |it: &Explanation| {
        let of_environment = |env: &OfEnvironment| {
            let parts = env.parts.all.iter();
            let parts = parts.map(|part| (part.names.clone(), part.extra.value)).collect();
            (format!("{}: extra time in {}", it.name, env.name), parts)
        };
        it.environments.iter().map(of_environment).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

/// Puts the stand-in files back into their first state.
pub fn restore(args: &RestoreArgs) -> Result<Exit> {
    let recording = read(&args.folder.join(reenact::COPY))?;
    reenact::restore(&recording, &args.folder.join(reenact::TREE))?;
    Ok(Exit::Done)
}

/// Re-enacts all of them in the same rounds.
fn measured(args: &ExplainArgs, subjects: &[Subject]) -> Result<RunFile> {
    let acts = acts::acts(args, subjects)?;
    let mut folders: BTreeMap<String, PathBuf> = BTreeMap::new();
    let folder = args.folder.as_ref().map(|folder| absolute(folder)).transpose()?;
    folders.extend(folder.map(|folder| (DATA_DIR.to_owned(), folder)));
    for act in &acts {
        if let Some((name, folder)) = act.dir.as_ref() {
            folders.insert(name.clone(), absolute(folder)?);
        }
        check_room(folders.get(act.dir_name()).map(PathBuf::as_path), act)?;
    }
    let file = selection::file(&args.file)?;
    let Selection { environments, auto } = selection::of(&args.environments, file.as_ref())?;
    let draft = draft_of(args, subjects, &acts, environments)?;
    let make = |name: &str, folder: &Path| {
        let act = acts.iter().find(|act| act.workload == name).context("an unknown workload")?;
        reenact::prepare(&act.recording, &act.options, folder).map(drop)
    };
    let how = How {
        auto: &auto,
        repeat: &RepeatArgs { repeat: 1, every: None },
        output: &args.output,
        answer_limit: ANSWER_LIMIT,
        reenactment: Some(&Reenactment { folders, make: &make }),
    };
    let Measured { runs, paths, .. } = measure::carry_out(&draft, &how)?;
    let (_, run, _) = runs.into_iter().next().context("nothing was measured")?;
    if let Some(path) = paths.first() {
        // A closed stderr is no reason to fail.
        let _ = writeln!(io::stderr(), "run file: {}", path.display());
    }
    Ok(run)
}

/// The folder of `--dir`, by a path that is the same from every folder.
fn absolute(folder: &Path) -> Result<PathBuf> {
    let found = folder.canonicalize().with_context(|| {
        format!("looking at `--dir {}`: name a folder that exists", folder.display())
    })?;
    ensure!(found.is_dir(), "`--dir {}` is not a folder", folder.display());
    Ok(found)
}

/// An error if the stand-in files do not fit, or their processes need too much memory.
fn check_room(folder: Option<&Path>, act: &Act) -> Result<()> {
    let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
    let needed = reenact::bytes_needed(&act.recording);
    if let Some(free) = sys::volume(&folder).ok().map(|volume| volume.free) {
        ensure!(
            needed < free,
            "the stand-in files need {} and `{}` has {}: name another folder with `--dir`",
            crate::units::bytes(needed as f64),
            folder.display(),
            crate::units::bytes(free as f64)
        );
    }
    let pages = reenact::pages_needed(&act.recording);
    if let Some(room) = sys::memory_room().map(|room| room.left / MEMORY_SHARE) {
        ensure!(
            pages < room,
            "the program touches {} of memory, more than half of what is free here",
            crate::units::bytes(pages as f64)
        );
    }
    Ok(())
}

fn draft_of(
    args: &ExplainArgs,
    subjects: &[Subject],
    acts: &[Act],
    environments: Vec<EnvSpec>,
) -> Result<Draft> {
    let mut environments = environments;
    if !environments.iter().any(|spec| spec.name == NATIVE) {
        environments.insert(0, EnvSpec::new(NATIVE, NATIVE, ""));
    }
    let budget_s = args.budget.map(|budget| budget.as_secs_f64());
    let more = (acts.len().max(1) - 1) as f64;
    let default_s = BUDGET_S + BUDGET_OF_MORE_S * more;
    let mut cases: Vec<PlannedCase> = acts.iter().map(Act::case).collect();
    if args.verify {
        let real = match (args.command.is_empty(), subjects) {
            (true, [subject]) => subject.recording.about.command.clone(),
            _ => args.command.clone(),
        };
        if real.is_empty() {
            bail!(
                "`--verify` needs the command: write it after `--`, or record with \
                 `--keep-command`"
            );
        }
        cases.push(planned("program=real", Executed::Words(real)));
    }
    let restores = acts.iter().any(|act| act.restores);
    let restore = ["{data}/envtax", "restore", "{data}"].map(str::to_owned).to_vec();
    plan::make(Wish {
        environments,
        reference: Some(NATIVE.into()),
        cases,
        probes: Vec::new(),
        libraries: Vec::new(),
        copies: vec![1],
        dirs: Vec::new(),
        seed: args.seed.unwrap_or_else(measure::fresh_seed),
        stop: match args.rounds {
            Some(rounds) => Stop::Rounds { rounds, budget_s },
            None => Stop::at_precision(PRECISION, MIN_ROUNDS, budget_s.unwrap_or(default_s)),
        },
        launches: args.rounds.map_or(LaunchCount::Affordable, |_| LaunchCount::Exactly(1)),
        cold_launches: false,
        fixed_order: false,
        load: 0,
        commands: Some(CommandRules {
            prepare: if restores { vec![restore] } else { Vec::new() },
            timeout_s: args.timeout.as_secs_f64(),
            ..CommandRules::default()
        }),
    })
}

/// A case with these parameters.
fn planned(params: &str, executed: Executed) -> PlannedCase {
    PlannedCase {
        case: Case { probe: COMMAND.into(), params: Params::new(params), dir: None },
        phases: CommandPhase::phases(false),
        unit: "run".into(),
        work: Work::Command(CommandCase { executed, ..CommandCase::default() }),
    }
}
