//! Arguments of `envtax deps`.

use std::time::Duration;

use clap::Args;

use super::values::duration;

#[derive(Debug, Args)]
pub struct DepsArgs {
    /// Program whose libraries are measured: a path, or a name on the search path. It is not
    /// started, but its libraries are loaded and initialised
    pub program: String,
    /// Time to measure
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = duration)]
    pub budget: Duration,
    /// Number of rounds, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "budget",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: Option<u32>,
    /// Seed of the order in which the programs are started
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print all figures as JSON
    #[arg(long)]
    pub json: bool,
}
