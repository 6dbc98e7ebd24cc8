//! `envtax agent`, hidden: the process that a launcher starts inside an environment.

use anyhow::Result;

use crate::cli::AgentArgs;
use crate::exit::Exit;
use crate::inside::agent::{self, AgentSettings};

pub fn run(args: &AgentArgs) -> Result<Exit> {
    agent::run(&AgentSettings {
        enter: args.enter.clone(),
        via: args.via.clone(),
        own_path: args.own_path.clone(),
        staged: args.staged,
        #[cfg(feature = "planted")]
        extra_work: args.extra_work,
        #[cfg(not(feature = "planted"))]
        extra_work: 0.0,
    })?;
    Ok(Exit::Done)
}
