//! `envtax explain`: re-enacts a recording in environments and prints what the program costs there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::measure::{self, How, Measured};
use super::record::read;
use super::selection::{self, Selection};
use crate::cli::{ExplainArgs, RepeatArgs, RestoreArgs};
use crate::control::Reenactment;
use crate::exit::Exit;
use crate::explain::{self, Explanation};
use crate::model::{
    COMMAND, Case, CommandCase, CommandPhase, CommandRules, EnvSpec, Executed, LaunchCount, Params,
    PlannedCase, REENACTMENT, Stop, Work, WorkloadCase, suggest,
};
use crate::plan::{self, Draft, Wish};
use crate::recording::{Class, Recording};
use crate::reenact::{self, Options};
use crate::{runfile, sys};

/// Longest wait for an environment to start, and for an answer after a run's own time limit.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Fewest rounds before intervals may count as narrow enough.
const MIN_ROUNDS: u32 = 15;
const BUDGET_S: f64 = 60.0;
/// Half-width of the taxes' intervals that ends the run.
const PRECISION: f64 = 0.01;
/// The reference: the machine itself.
const NATIVE: &str = "native";
/// More than this share of the memory is not touched.
const MEMORY_SHARE: u64 = 2;

pub fn run(args: &ExplainArgs) -> Result<Exit> {
    let recording = read(&args.recording)?;
    let explanation = match &args.run_file {
        Some(path) => {
            let run = runfile::read(path)?;
            explain::explain(&recording, &run, args.margin)?
        }
        None => measured(args, &recording)?,
    };
    let text = match args.json {
        true => serde_json::to_string_pretty(&explanation)? + "\n",
        false => explain::text(&recording, &explanation),
    };
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    let whole = explanation.environments.iter().all(|it| it.failure.is_none());
    Ok(if whole { Exit::Done } else { Exit::Partial })
}

/// Puts the stand-in files back into their first state.
pub fn restore(args: &RestoreArgs) -> Result<Exit> {
    let recording = read(&args.folder.join(reenact::COPY))?;
    reenact::restore(&recording, &args.folder.join(reenact::TREE))?;
    Ok(Exit::Done)
}

fn measured(args: &ExplainArgs, recording: &Recording) -> Result<Explanation> {
    let machine = &recording.about.machine;
    ensure!(
        machine == std::env::consts::ARCH,
        "the program was recorded on {machine}, and this machine is {}: record it again here",
        std::env::consts::ARCH
    );
    let without = classes(&args.without)?;
    let options = Options { steps_per_ns: sys::spin_rate(), without, ..Options::default() };
    let compiled = reenact::compile(recording, &options);
    for (call, count) in &compiled.dropped {
        // A closed stderr is no reason to fail.
        let _ = writeln!(io::stderr(), "not re-enacted: {count} of `{call}`, in a form of its own");
    }
    let folder = args.folder.as_ref().map(|folder| absolute(folder)).transpose()?;
    check_room(folder.as_deref(), recording)?;
    let file = selection::file(&args.file)?;
    let Selection { environments, auto } = selection::of(&args.environments, file.as_ref())?;
    let draft = draft_of(args, recording, environments, compiled.changes_tree)?;
    let make = |folder: &Path| reenact::prepare(recording, &options, folder).map(drop);
    let how = How {
        auto: &auto,
        repeat: &RepeatArgs { repeat: 1, every: None },
        output: &args.output,
        answer_limit: ANSWER_LIMIT,
        reenactment: Some(&Reenactment { folder: folder.as_deref(), make: &make }),
    };
    let Measured { runs, paths, .. } = measure::carry_out(&draft, &how)?;
    let (_, run, _) = runs.first().context("nothing was measured")?;
    if let Some(path) = paths.first() {
        // A closed stderr is no reason to fail.
        let _ = writeln!(io::stderr(), "run file: {}", path.display());
    }
    explain::explain(recording, run, args.margin)
}

fn classes(names: &[String]) -> Result<Vec<Class>> {
    let of = |name: &String| {
        let found = Class::ALL.iter().find(|(class, ..)| class.name() == name);
        let known: Vec<_> = Class::ALL.iter().map(|(_, name, words)| (*name, *words)).collect();
        found.map(|it| it.0).with_context(|| suggest::unknown("class", name, &known))
    };
    names.iter().map(of).collect()
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
fn check_room(folder: Option<&Path>, recording: &Recording) -> Result<()> {
    let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
    let needed = reenact::bytes_needed(recording);
    if let Some(free) = sys::volume(&folder).ok().map(|volume| volume.free) {
        ensure!(
            needed < free,
            "the stand-in files need {} and `{}` has {}: name another folder with `--dir`",
            crate::units::bytes(needed as f64),
            folder.display(),
            crate::units::bytes(free as f64)
        );
    }
    let pages = reenact::pages_needed(recording);
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
    recording: &Recording,
    environments: Vec<EnvSpec>,
    restores: bool,
) -> Result<Draft> {
    let mut environments = environments;
    if !environments.iter().any(|spec| spec.name == NATIVE) {
        environments.insert(0, EnvSpec::new(NATIVE, NATIVE, ""));
    }
    let budget_s = args.budget.map(|budget| budget.as_secs_f64());
    let folder = |name: &str| format!("{{data}}/{name}");
    let program = folder(reenact::PROGRAM);
    let words = [
        program.clone(),
        "reenact".to_owned(),
        folder(reenact::SCRIPT),
        folder(reenact::TREE),
        "{out}".to_owned(),
    ];
    let workload =
        WorkloadCase { name: REENACTMENT.into(), command: words.to_vec(), needs: Vec::new() };
    let mut cases = vec![planned("re-enacted", Executed::Workload(workload))];
    if args.verify {
        let real = match args.command.is_empty() {
            false => args.command.clone(),
            true => recording.about.command.clone(),
        };
        if real.is_empty() {
            bail!(
                "`--verify` needs the command: write it after `--`, or record with \
                 `--keep-command`"
            );
        }
        cases.push(planned("real", Executed::Words(real)));
    }
    let prepare = if restores {
        vec![vec![program, "restore".to_owned(), "{data}".to_owned()]]
    } else {
        Vec::new()
    };
    plan::make(Wish {
        environments,
        reference: Some(NATIVE.into()),
        cases,
        probes: Vec::new(),
        copies: vec![1],
        dirs: Vec::new(),
        seed: args.seed.unwrap_or_else(measure::fresh_seed),
        stop: match args.rounds {
            Some(rounds) => Stop::Rounds { rounds, budget_s },
            None => Stop::at_precision(PRECISION, MIN_ROUNDS, budget_s.unwrap_or(BUDGET_S)),
        },
        launches: args.rounds.map_or(LaunchCount::Affordable, |_| LaunchCount::Exactly(1)),
        cold_launches: false,
        fixed_order: false,
        load: 0,
        commands: Some(CommandRules {
            prepare,
            timeout_s: args.timeout.as_secs_f64(),
            ..CommandRules::default()
        }),
    })
}

fn planned(what: &str, executed: Executed) -> PlannedCase {
    let params = Params::new(&format!("program={what}"));
    PlannedCase {
        case: Case { probe: COMMAND.into(), params, dir: None },
        phases: CommandPhase::phases(false),
        unit: "run".into(),
        work: Work::Command(CommandCase { executed, ..CommandCase::default() }),
    }
}
