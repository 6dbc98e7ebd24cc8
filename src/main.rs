//! envtax: the cost of an execution environment, compared with another one.
//!
//! `docs/ARCHITECTURE.md` is the map. This file parses, dispatches, prints the error and exits.

mod cleanup;
mod cli;
mod cmd;
mod compare;
mod control;
mod deps;
mod exit;
mod explain;
mod facts;
mod import;
mod inside;
mod launch;
mod measure;
mod model;
mod mount;
mod plan;
mod probe;
mod protocol;
mod record;
mod recording;
mod reenact;
mod report;
mod runfile;
mod stats;
mod sys;
mod units;
mod view;
mod words;
mod workload;

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::FromArgMatches;
use clap::error::ContextKind;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::inside::worker;
use crate::model::{Failure, visible};
use crate::report::failure;

fn main() -> ExitCode {
    // A worker is a measured process: nothing is loaded or parsed that it does not need.
    if std::env::args_os().nth(1).is_some_and(|verb| verb == "worker") {
        return finish(worker::run().map(|()| Exit::Done));
    }
    // A peer exchanges messages with a worker, and is as lean.
    if let Some(status) = sys::run_as_peer() {
        return status.into();
    }
    let matches = cmd::command().try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => finish(dispatch(cli)),
        Err(mut error) => {
            // The advice to write a wrong option after `--`, where it would name a file or program.
            error.remove(ContextKind::Suggested);
            error.exit()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    match cli.verb {
        Verb::Run(args) => cmd::run::run(&args),
        Verb::Time(args) => cmd::time::run(&args),
        Verb::Compare(args) => cmd::compare::run(&args),
        Verb::Record(args) => cmd::record::run(&args),
        Verb::Explain(args) => cmd::explain::run(&args),
        Verb::Restore(args) => cmd::explain::restore(&args),
        Verb::Session(args) => cmd::session::session(&args.verb),
        Verb::Deps(args) => cmd::deps::run(&args),
        Verb::Redact(args) => cmd::redact::run(&args),
        Verb::View(args) => cmd::view::run(&args),
        Verb::List(args) => cmd::list::run(&args),
        Verb::Doctor(args) => cmd::doctor::run(&args),
        Verb::Completions(args) => cmd::completions::run(&args),
        Verb::Man => cmd::man::run(),
        Verb::Agent(args) => cmd::agent::run(&args),
        Verb::Worker => worker::run().map(|()| Exit::Done),
        Verb::Busy => cmd::busy::run(),
        Verb::Guard => {
            sys::end_in_order_when_closed(None);
            cleanup::guard::keep_guard();
            Ok(Exit::Done)
        }
    }
}

fn finish(result: Result<Exit>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) if closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            // Names of files and what other programs printed may stand in it.
            let text = failure::long(&Failure::from(error));
            cmd::say(&visible(&text));
            Exit::Usage.into()
        }
    }
}

/// The reader of our output went away, as `head` does: no error.
fn closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.root_cause().downcast_ref::<io::Error>().is_some_and(broken)
}
