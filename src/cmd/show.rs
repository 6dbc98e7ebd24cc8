//! Printing a comparison, for the verbs that end with one.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, ensure};

use crate::cli::ShowArgs;
use crate::compare::{Comparison, Side, compare};
use crate::report::{self, Style};

/// Checks what can be checked before anything is measured.
pub fn check(args: &ShowArgs) -> Result<()> {
    ensure!(args.margin.is_finite() && args.margin >= 0.0, "`--margin` must be zero or more");
    report::find(&args.format).map(drop)
}

/// Compares the sides and prints the result to standard output. The arguments passed [`check`].
pub fn show(sides: &[Side<'_>], args: &ShowArgs) -> Result<Comparison> {
    let comparison = compare(sides, args.margin / 100.0)?;
    let bytes = report::find(&args.format)?.render(&comparison, &style())?;
    let mut output = io::stdout().lock();
    output.write_all(&bytes).and_then(|()| output.flush())?;
    Ok(comparison)
}

/// Colour and width as the terminal has them. NO_COLOR (no-color.org) and `TERM=dumb` are obeyed.
pub fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = terminal.then(|| comfy_table::Table::new().width()).flatten();
    Style { colour: terminal && !plain && !dumb, width }
}
