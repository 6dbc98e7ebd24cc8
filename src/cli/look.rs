//! Arguments of the verbs that look at something and measure nothing.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::shared::FileArgs;
use super::values::{duration, path};

#[derive(Debug, Args)]
pub struct RedactArgs {
    /// Run file to copy
    #[arg(value_name = "FILE", value_parser = path)]
    pub file: PathBuf,
    /// Name of the copy
    #[arg(short, long, value_name = "FILE", value_parser = path)]
    pub output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    pub what: Listed,
    /// With `flags`: letters of flags; only these are listed. With `probes --long`: the id of a
    /// probe; only it is described
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Print the whole description of each probe, environment, filesystem or workload
    #[arg(long)]
    pub long: bool,
    #[command(flatten)]
    pub file: FileArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listed {
    Probes,
    Environments,
    Filesystems,
    Suites,
    Workloads,
    Recordings,
    Formats,
    Layouts,
    Charts,
    Sections,
    Flags,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Only remove what killed runs left behind: in the environments given (native if none is), in
    /// their folders for temporary files and in --dir
    #[arg(long)]
    pub clean: bool,
    /// Folder that --clean looks into. Repeatable
    #[arg(long = "dir", value_name = "PATH", requires = "clean")]
    pub dirs: Vec<String>,
    /// Environment to try, with all details; otherwise one environment of each kind and those of
    /// environments.toml, in short. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Longest time to wait for an environment to start
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub answer_timeout: Duration,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to print completions for
    pub shell: clap_complete::Shell,
}
