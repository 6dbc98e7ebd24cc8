//! `envtax agent`, hidden: the process that a launcher starts inside an environment.

use anyhow::Result;

use crate::cli::AgentArgs;
use crate::exit::Exit;
use crate::inside::agent::{self, AgentSettings};
use crate::sys;

pub fn run(args: &AgentArgs) -> Result<Exit> {
    sys::end_in_order_when_closed(None);
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
