//! `envtax deps`: what each library of a program costs its start and its exit.

use std::io::{self, Write};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use super::measure::{catch_signals, fresh_seed};
use super::show;
use crate::cleanup::guard::Guard;
use crate::cleanup::leftovers;
use crate::cli::DepsArgs;
use crate::compare::Conditions;
use crate::deps::{self, Rules};
use crate::exit::Exit;
use crate::words::Words;
use crate::{facts, report, sys};

pub fn run(args: &DepsArgs) -> Result<Exit> {
    let closure = deps::closure(&args.program)?;
    let envtax = std::env::current_exe().context("finding the path of envtax itself")?;
    let guard = Guard::start(&envtax)?;
    let interrupted = catch_signals()?;
    let bar = ProgressBar::new(100);
    bar.set_style(ProgressStyle::with_template("measuring libraries: {percent} %")?);
    let mut runnable: Vec<u32> = Vec::new();
    let mut rules = Rules {
        budget: args.budget,
        rounds: args.rounds,
        seed: args.seed.unwrap_or_else(fresh_seed),
        interrupted: &|| interrupted.load(Ordering::Relaxed),
        progress: &mut |part| {
            bar.set_position((part * 100.0) as u64);
            runnable.extend(facts::runnable());
        },
    };
    let measured = deps::measure(&closure, &guard, &leftovers::fresh_token(), &mut rules)?;
    bar.finish_and_clear();
    ensure!(measured.rounds > 0, "interrupted before anything was measured");
    let costs = deps::costs(&closure, &measured);
    let text = match args.json {
        true => serde_json::to_string_pretty(&costs)? + "\n",
        false => format!("{}\n{}\n", deps::text(&costs), state(&runnable)),
    };
    io::stdout().write_all(text.as_bytes())?;
    let failed = costs.added.iter().any(|added| added.failure.is_some());
    Ok(if failed || measured.interrupted { Exit::Partial } else { Exit::Done })
}

/// What else ran on the machine meanwhile, as `run` says it.
fn state(runnable: &[u32]) -> String {
    let cpus = sys::allowed_cpus().ok().map(|cpus| cpus.len());
    let text = report::state(&Conditions::of_tasks(runnable, cpus), &Words::english()).1;
    show::wrapped(&text)
}
