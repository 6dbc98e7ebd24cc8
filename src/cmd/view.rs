//! `envtax view`: the run files of a folder in a browser.

use std::io::Write;

use anyhow::{Context, Error, Result};

use super::show;
use crate::cli::ViewArgs;
use crate::exit::Exit;
use crate::view::Viewer;

pub fn run(args: &ViewArgs) -> Result<Exit> {
    let language = show::language(args.lang.as_deref())?;
    let viewer = Viewer::listen(args.folder.clone(), args.port, language, show::explained)?;
    // Nothing is to be cleaned up: the process has no children and writes no files.
    let set = ctrlc::set_handler(|| std::process::exit(Exit::Done as i32));
    let set = set.map_err(|error| match error {
        ctrlc::Error::System(error) => Error::new(error),
        other => Error::new(other),
    });
    set.context("starting the thread that catches signals")?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", viewer.address())?;
    writeln!(output, "Open this address in a browser on this machine; Ctrl-C ends the viewer.")?;
    output.flush()?;
    drop(output);
    viewer.serve()?;
    Ok(Exit::Done)
}
