//! Arguments of `envtax run`.

use std::time::Duration;

use clap::Args;

use super::shared::{FileArgs, GateArgs, OutputArgs, RepeatArgs, ShowArgs};
use super::values::duration;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/run.md").trim_end())]
pub struct RunArgs {
    /// Environment to measure: [NAME=]KIND[:ARGUMENT] (see `envtax list environments`) or a name
    /// from environments.toml; `auto` is native and every kind that starts here without an
    /// argument; `all` is every environment of environments.toml. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Target directory of file probes, as seen inside every environment: NAME=PATH, or
    /// NAME=KIND[:OPTIONS] for a filesystem made for the run (see `envtax list filesystems`).
    /// Repeatable
    #[arg(long = "dir", value_name = "NAME=PATH|KIND")]
    pub dirs: Vec<String>,
    /// Set of cases to measure [default: quick; with --probe: every case]
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Measure only cases that match, by probe or by probe and parameters: 'file.*',
    /// 'process.exec target=tiny'. Without a pattern, parameters may have any value: 'file.read
    /// size=64KiB'. Repeatable
    #[arg(long = "probe", value_name = "GLOB")]
    pub probes: Vec<String>,
    /// Numbers of processes that do the operation at the same time; N is the number of CPUs: 1,2,N
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub copies: String,
    /// Library that each process of process.teardown and bystander.latency loads, such as user32:
    /// measured beside the same cases without it. Windows only. Repeatable
    #[arg(long = "dll", value_name = "NAME")]
    pub dlls: Vec<String>,
    /// Environment that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// A case is done when the 95 % intervals of its taxes are within ± PCT per cent; with 0, the
    /// run uses the whole budget
    #[arg(long, value_name = "PCT", default_value_t = 2.0)]
    pub precision: f64,
    /// Longest time to measure, without the set-up before it [default: the suite's, 60s for quick]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Start each environment exactly N times, spread over the budget [default: again after every
    /// four rounds; less often where starting takes more than 15 % of the budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub launches: Option<u32>,
    /// Empty the page caches before every second start; needs root and slows down other programs
    #[arg(long)]
    pub cold_launches: bool,
    /// Measure the cases of each lap in the order of the suite and of `--probe`, and not in random
    /// order: shows what the published order of a suite does to its figures
    #[arg(long)]
    pub fixed_order: bool,
    /// Run N busy processes beside the measurement, to measure the environments under load; the
    /// system places them, and a run without them is the comparison
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub load: u32,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Longest time to wait for one answer of an agent
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub answer_timeout: Duration,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}
