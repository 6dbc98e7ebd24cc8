//! Arguments of `envtax session`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::shared::{GateArgs, ShowArgs};
use super::values::{duration, path};

#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(subcommand)]
    pub verb: SessionVerb,
}

#[derive(Debug, Subcommand)]
pub enum SessionVerb {
    /// Measure one more session of a label
    Add(SessionAddArgs),
    /// Compare the sessions of two labels, and say how many more are needed
    Compare(SessionCompareArgs),
}

#[derive(Debug, Args)]
pub struct SessionAddArgs {
    /// What the sessions have in common, such as before
    pub label: String,
    /// Arguments of `envtax run` or `time` with that word first; later sessions measure the same
    #[arg(value_name = "run|time ...", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Measure N sessions
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sessions: u32,
    /// Begin each session this long after the one before began [default: as soon as that has ended]
    #[arg(long, value_name = "DURATION", requires = "sessions", value_parser = duration)]
    pub every: Option<Duration>,
    /// Folder of all sessions, with a folder for each label
    #[arg(long, value_name = "FOLDER", default_value = "sessions", value_parser = path)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/compare.md").trim_end())]
pub struct SessionCompareArgs {
    /// Label of the sessions that the others are compared with
    #[arg(value_name = "BEFORE")]
    pub before: String,
    /// Label of the other sessions
    #[arg(value_name = "AFTER")]
    pub after: String,
    /// Environment that is compared, where sessions have several [default: their reference]
    #[arg(long, value_name = "NAME")]
    pub env: Option<String>,
    /// Folder of all sessions
    #[arg(long, value_name = "FOLDER", default_value = "sessions", value_parser = path)]
    pub folder: PathBuf,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}
