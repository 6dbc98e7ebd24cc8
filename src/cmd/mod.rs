//! The verbs of the command line: one file each, with what several of them share, and the prose of
//! help and manual in `text/`. May use every folder; only these files print. Must not measure,
//! compare or format anything themselves; nothing depends on this folder.

pub mod agent;
pub mod busy;
pub mod compare;
pub mod completions;
pub mod deps;
pub mod doctor;
pub mod explain;
mod flags;
mod gate;
pub mod list;
mod machine;
pub mod man;
mod measure;
pub mod record;
pub mod redact;
mod repeat;
pub mod run;
mod say;
mod selection;
pub mod session;
mod show;
mod start_check;
pub mod time;
pub mod view;

pub use say::say;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::plan::suite::SUITES;
use crate::report::{ALIASES, CHARTS, LAYOUTS, REPORTS, SECTIONS};
use crate::words::LANGUAGES;

/// The arguments, with the values that registries hold. Help, completions and the manual page are
/// made from them.
pub fn command() -> Command {
    let formats: Vec<&str> = REPORTS.iter().map(|report| report.info().name).collect();
    let sections: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    let charts: Vec<&str> = CHARTS.iter().map(|chart| chart.name).collect();
    let languages: Vec<&str> = LANGUAGES.iter().map(|language| language.code).collect();
    let suites: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    let aliases = ALIASES.iter().map(|(alias, _)| PossibleValue::new(*alias).hide(true));
    let layouts = LAYOUTS.iter().map(|layout| PossibleValue::new(layout.name)).chain(aliases);
    let layouts: Vec<PossibleValue> = layouts.collect();
    let examples = include_str!("text/first.md").trim_end();
    Cli::command().after_help(examples).mut_subcommands(|verb| {
        verb.mut_args(|arg| match arg.get_id().as_str() {
            "format" => arg.value_parser(PossibleValuesParser::new(&formats)),
            "suite" => arg.value_parser(PossibleValuesParser::new(&suites)),
            "sections" => arg.value_parser(PossibleValuesParser::new(&sections)),
            "chart" => arg.value_parser(PossibleValuesParser::new(&charts)),
            "lang" => arg.value_parser(PossibleValuesParser::new(&languages)),
            "layout" => arg.value_parser(PossibleValuesParser::new(layouts.clone())),
            _ => arg,
        })
    })
}
