//! Arguments of `envtax explain`, and of the hidden verb that restores stand-in files.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shared::{FileArgs, OutputArgs};
use super::values::{duration, path};

/// The suite of all recordings that come with envtax.
pub const PROGRAMS: &str = "programs";

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/explain.md").trim_end())]
pub struct ExplainArgs {
    /// Recording of the program, as `envtax record` writes it, or the name of one that comes with
    /// envtax (see `envtax list recordings`)
    #[arg(value_name = "RECORDING", value_parser = path, required_unless_present = "programs")]
    pub recording: Option<PathBuf>,
    /// Run file of an earlier `envtax explain` of this recording: nothing is measured
    #[arg(value_name = "RUN FILE", value_parser = path)]
    #[arg(conflicts_with_all = ["environments", "verify", "command"])]
    pub run_file: Option<PathBuf>,
    /// Re-enact all recordings that come with envtax, in place of one: `--suite programs`
    #[arg(long = "suite", value_name = "SUITE", value_parser = [PROGRAMS])]
    #[arg(conflicts_with_all = ["verify", "changes", "command", "svg"])]
    pub programs: Option<String>,
    /// The recorded command, for --verify
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
    /// Environment in which the program is re-enacted, as for `envtax run`; native is the reference
    /// and always there. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    /// Run the real program beside the re-enactment, in the same rounds, and show how far the
    /// prediction is off
    #[arg(long)]
    pub verify: bool,
    /// Leave the operations of a class out, such as `stat`: what is missing then was theirs.
    /// Repeatable
    #[arg(long, value_name = "CLASS")]
    pub without: Vec<String>,
    /// Re-enact it with a change, too, and show what that gains: dir=PATH, reads=SIZE, writes=SIZE,
    /// or without=CLASS. Repeatable
    #[arg(long = "try", value_name = "CHANGE")]
    pub changes: Vec<String>,
    /// Draw the extra time as a flame graph into FILE, one below the other for several environments
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub svg: Option<PathBuf>,
    /// Show every place and program, and the flame graph as text
    #[arg(long)]
    pub long: bool,
    /// Folder in which the stand-in files are made [default: the folder for temporary files]
    #[arg(long = "dir", value_name = "PATH", value_parser = path)]
    pub folder: Option<PathBuf>,
    /// Differences of up to PCT per cent count as the same
    #[arg(long, value_name = "PCT", default_value_t = 3.0)]
    pub margin: f64,
    /// Exact number of counted rounds; a first one comes before them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub rounds: Option<u32>,
    /// Longest time to measure [default: 60s; with --rounds: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Longest time of one run; a longer one is killed
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The folder that holds script, recording and stand-in files
    pub folder: PathBuf,
}
