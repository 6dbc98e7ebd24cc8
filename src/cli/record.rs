//! Arguments of `envtax record`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::values::{duration, path};

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/record.md").trim_end())]
pub struct RecordArgs {
    /// Program to record, with its arguments; `{out}` is a file that it may write
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "show")]
    pub command: Vec<String>,
    /// Recording to write [default: PROGRAM.rec]
    #[arg(short, long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,
    /// Replace the recording if it exists
    #[arg(long)]
    pub force: bool,
    /// Show what is in a recording: processes, operations by class, bytes, pages, computing
    #[arg(long, value_name = "FILE", value_parser = path, conflicts_with = "command")]
    pub show: Option<PathBuf>,
    /// What becomes of the names of files
    #[arg(long, value_name = "WHAT", default_value = "replace")]
    pub paths: PathNames,
    /// Keep the command with its arguments, which --verify can then run
    #[arg(long)]
    pub keep_command: bool,
    /// Number of runs that are recorded; the middle one is kept
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub recordings: u32,
    /// Number of runs without a recorder, which give the times
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Longest time of one run; what was recorded until then is kept
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub timeout: Duration,
    /// Record a program that fails, too
    #[arg(long)]
    pub ignore_failure: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum PathNames {
    /// Others of the same length take their place
    Replace,
    /// They stay, for a recording that is not given away
    Keep,
}
