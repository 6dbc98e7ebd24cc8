//! `envtax man`: the manual page from the argument definitions.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::Exit;

pub fn run() -> Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    for verb in Cli::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let verb = verb.clone();
        let name = format!("envtax {}", verb.get_name());
        let man = clap_mangen::Man::new(verb.bin_name(name));
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    std::io::stdout().write_all(&page)?;
    Ok(Exit::Done)
}
