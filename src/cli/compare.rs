//! Arguments of `envtax compare`.

use clap::Args;

use super::shared::{GateArgs, ShowArgs};

#[derive(Debug, Args)]
#[command(after_help = include_str!("../cmd/text/compare.md").trim_end())]
pub struct CompareArgs {
    /// Run files; with an environment's name, only that environment of the file. Results of other
    /// programs are read as well: hyperfine's --export-json, the output of `time`, and tables with
    /// the header input,metric,value
    #[arg(value_name = "FILE[:ENV]", required = true)]
    pub sources: Vec<String>,
    /// Run files of the other side: all files before this option are one side, all files after it
    /// are the other
    #[arg(long, value_name = "FILE[:ENV]", num_args = 1..)]
    pub versus: Vec<String>,
    /// Environment that the others are compared with [default: the reference of the run]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}
