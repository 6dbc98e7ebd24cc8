//! `envtax completions`: a completion script from the argument definitions.

use std::io::Write;

use anyhow::Result;

use crate::cli::CompletionsArgs;
use crate::exit::Exit;

pub fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "envtax", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
