//! Arguments that several verbs take.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::values::{duration, path};

#[derive(Debug, Args)]
pub struct FileArgs {
    /// File that names environments [default: environments.toml in the working directory, if any]
    #[arg(id = "environment_file", long = "environments", value_name = "FILE", value_parser = path)]
    pub path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// Carry out the same plan N times, each time with another seed and its own run file
    /// (NAME-1.jsonl and so on), and compare all of them in the end
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Begin each run this long after the one before began [default: as soon as that has ended]
    #[arg(long, value_name = "DURATION", requires = "repeat", value_parser = duration)]
    pub every: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Run file to write [default: envtax-DATE-TIME.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,
    /// Replace the run file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct GateArgs {
    /// Gate: end with exit code 1 if a tax is above LIMIT, such as `1.5x` or `50%`, or could not be
    /// judged. With PROBE=, a glob as in --probe, for those rows only: 'file.*=1.5x'. A number
    /// alone is per cent, but a factor after PROBE=. Repeatable
    #[arg(long, value_name = "[PROBE=]LIMIT")]
    pub fail_above: Vec<String>,
    /// What the gate holds against the limit
    #[arg(long, value_name = "WHAT", default_value = "bound", requires = "fail_above")]
    pub fail_on: FailOn,
    /// Let the gate pass figures that could not be judged: skipped, failed, with too few rounds
    #[arg(long, requires = "fail_above")]
    pub allow_unjudged: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FailOn {
    /// The lower end of the 95 % interval of what is slower: certainly above the limit
    Bound,
    /// The tax itself: above the limit as far as is known
    Estimate,
}

/// The margin where no option gives another, in per cent.
pub const DEFAULT_MARGIN: f64 = 3.0;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Differences of up to PCT per cent count as the same
    #[arg(long, value_name = "PCT", default_value_t = DEFAULT_MARGIN)]
    pub margin: f64,
    /// Format of the output
    // The names are those of the registry, which `main.rs` adds: nothing is looked up here.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Print the tables of a published comparison (see `envtax list layouts`)
    #[arg(long, value_name = "NAME")]
    pub layout: Option<String>,
    /// Picture to draw, for `--format svg` (see `envtax list charts`)
    #[arg(long, value_name = "NAME", default_value = "forest")]
    pub chart: String,
    /// Language of pages and pictures: en or ja [default: that of the locale, or en]
    #[arg(long, value_name = "LANG")]
    pub lang: Option<String>,
    /// Print everything: all rows, every table beside them, and all notes
    #[arg(long)]
    pub long: bool,
    /// Print only this part of the whole output (see `envtax list sections`). Repeatable
    #[arg(long = "section", value_name = "NAME", conflicts_with = "long")]
    pub sections: Vec<String>,
}
