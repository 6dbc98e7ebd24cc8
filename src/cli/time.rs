//! Arguments of `envtax time`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shared::{FileArgs, GateArgs, OutputArgs, RepeatArgs, ShowArgs};
use super::values::{duration, path};

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/time.md").trim_end())]
pub struct TimeArgs {
    /// Command lines to compare; the first is the reference
    #[arg(value_name = "COMMAND LINE", conflicts_with = "command")]
    pub lines: Vec<String>,
    /// Program to time, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
    /// Command with data that envtax makes for it (see `envtax list workloads`). Repeatable
    #[arg(long = "workload", value_name = "NAME")]
    #[arg(conflicts_with_all = ["lines", "command", "inputs", "stdin", "cold"])]
    pub workloads: Vec<String>,
    /// Environment to run the commands in, as for `envtax run`. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    /// Name of this session's column when run files are compared
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// File that `{}` stands for; each file has its own rows. Repeatable
    #[arg(long = "input", value_name = "FILE")]
    pub inputs: Vec<String>,
    /// Values that `{NAME}` stands for; each value has its own rows. Repeatable
    #[arg(long = "parameter", value_name = "NAME=VALUE,...")]
    pub parameters: Vec<String>,
    /// Run the command lines by a shell; the time of an empty shell stands beside them
    #[arg(long)]
    pub shell: bool,
    /// File to read as standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<String>,
    /// Command to run before each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub prepare: Vec<String>,
    /// Command to run after each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub conclude: Vec<String>,
    /// Shell command to run once on this machine, before the environments start
    #[arg(long, value_name = "COMMAND LINE")]
    pub setup: Vec<String>,
    /// Shell command to run once on this machine, after all environments have ended,
    /// also after a failure
    #[arg(long, value_name = "COMMAND LINE")]
    pub cleanup: Vec<String>,
    /// Copy the inputs into the environments' folders for temporary files first
    #[arg(long)]
    pub stage: bool,
    /// Evict the inputs from the page cache before each run; fail where that is not possible
    #[arg(long)]
    pub cold: bool,
    /// Also time how long it takes after each run until its output is durable
    #[arg(long)]
    pub settle: bool,
    /// Fail runs whose standard output or {out} differs from the reference's
    #[arg(long)]
    pub verify_output: bool,
    /// Keep standard output, standard error and {out} of the first run of each command, in this new
    /// folder
    #[arg(long, value_name = "FOLDER", value_parser = path)]
    pub keep_output: Option<PathBuf>,
    /// Longest time of a run; a longer one is killed
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Count failed runs like all others
    #[arg(long)]
    pub ignore_failure: bool,
    /// Exact number of counted runs of each command; a first run comes before them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub runs: Option<u32>,
    /// Number of further runs at the beginning that do not count
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u32,
    /// A row is done when the 95 % interval of its tax of wall time is within ± PCT per cent; with
    /// 0, the run uses the whole budget
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    pub precision: f64,
    /// Longest time to measure [default: 60s; with --runs: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Start each environment exactly N times, spread over the runs or the budget [default: again
    /// after every four runs, less often where starting takes more than 15 % of the budget; once
    /// with --runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub launches: Option<u32>,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}
