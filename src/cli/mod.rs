//! Arguments as the user types them, without look-ups and side effects. Help, completions and the
//! manual page are made from these definitions. One file has the arguments of one verb; `shared.rs`
//! has what several verbs take. May use no other layer. Must not look anything up.

mod compare;
mod deps;
mod explain;
mod inside;
mod look;
mod record;
mod run;
mod session;
mod shared;
mod time;
mod values;
mod view;

use clap::{Parser, Subcommand};

pub use compare::CompareArgs;
pub use deps::DepsArgs;
pub use explain::{ExplainArgs, RestoreArgs};
pub use inside::AgentArgs;
pub use look::{CompletionsArgs, DoctorArgs, ListArgs, Listed, RedactArgs};
pub use record::{PathNames, RecordArgs};
pub use run::RunArgs;
pub use session::{SessionAddArgs, SessionArgs, SessionCompareArgs, SessionVerb};
pub use shared::{DEFAULT_MARGIN, FailOn, FileArgs, GateArgs, OutputArgs, RepeatArgs, ShowArgs};
pub use time::TimeArgs;
pub use view::ViewArgs;

/// Measures what an execution environment costs.
///
/// envtax starts an agent of itself inside each environment and measures processes, system calls,
/// IPC, files and memory in interleaved rounds. For each operation it prints how many times more it
/// costs than in the reference environment, with a 95 % interval and a verdict.
#[derive(Debug, Parser)]
#[command(name = "envtax", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure environments side by side and print the comparison
    Run(RunArgs),
    /// Time whole commands, in environments or against each other
    Time(TimeArgs),
    /// Compare the environments of run files, also of several runs
    Compare(CompareArgs),
    /// Record what a program asks of its system, to explain its cost elsewhere
    Record(RecordArgs),
    /// Predict what a recorded program costs in environments, and say why
    Explain(ExplainArgs),
    /// Gather sessions before and after a change, and compare them
    Session(SessionArgs),
    /// Measure what each library of a program costs its start and its exit
    Deps(DepsArgs),
    /// Look at the run files of a folder in a browser, on this machine only
    View(ViewArgs),
    /// Copy a run file without host names, paths, arguments and boot ids, to publish it
    Redact(RedactArgs),
    /// List probes, environments, filesystems, suites, workloads, formats, layouts or flags
    List(ListArgs),
    /// Show which environments start here, and why others do not
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page (roff)
    Man,
    /// The process that runs inside an environment
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Puts the stand-in files of a re-enactment back into their first state
    #[command(hide = true)]
    Restore(RestoreArgs),
    /// The process that measures one block
    #[command(hide = true)]
    Worker,
    /// The process that ends the sessions of a killed controller
    #[command(hide = true)]
    Guard,
    /// One process of the load beside a run
    #[command(hide = true)]
    Busy,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
