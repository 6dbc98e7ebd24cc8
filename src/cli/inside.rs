//! Arguments of the processes that envtax starts by itself.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Path of this binary, for environments whose system does not know it
    #[arg(long = "self", value_name = "PATH")]
    pub own_path: Option<PathBuf>,
    /// Place to enter first: namespace, chroot:DIR, guest:ORDERS
    #[arg(long, value_name = "PLACE")]
    pub enter: Option<String>,
    /// One word of the emulator's command that starts every worker. Repeatable
    #[arg(
        long = "via",
        value_name = "WORD",
        allow_hyphen_values = true,
        requires = "own_path",
        conflicts_with_all = ["enter", "staged"]
    )]
    pub via: Vec<String>,
    /// The binary was copied here for this run: remove the file once it is open
    #[arg(long)]
    pub staged: bool,
    /// Share of work to do in addition to the reported work
    #[cfg(feature = "planted")]
    #[arg(long, default_value_t = 0.0)]
    pub extra_work: f64,
}
