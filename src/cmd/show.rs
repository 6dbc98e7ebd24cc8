//! Prints a comparison; the verbs that end with one share it.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, ensure};

use crate::cli::ShowArgs;
use crate::compare::{Comparison, Margins, Side, compare};
use crate::report::{self, REPORTS, Style};
use crate::sys;

/// Checks the options before anything is measured.
pub fn check(args: &ShowArgs) -> Result<()> {
    ensure!(args.margin.is_finite() && args.margin >= 0.0, "`--margin` must be zero or more");
    let format = report::find(&args.format)?;
    if let Some(name) = &args.layout {
        report::find_layout(name)?;
        let formats: Vec<&str> = REPORTS
            .iter()
            .map(|report| report.info())
            .filter(|info| info.layouts)
            .map(|info| info.name)
            .collect();
        ensure!(
            format.info().layouts,
            "`--layout {name}` is for people: use `--format {}`",
            formats.join("` or `")
        );
    }
    Ok(())
}

/// Compares the sides and prints the result to standard output. The arguments passed [`check`].
pub fn show(sides: &[Side<'_>], args: &ShowArgs) -> Result<Comparison> {
    let comparison = compare(sides, &Margins::general(args.margin / 100.0))?;
    let bytes = report::find(&args.format)?.render(&comparison, &style(args.layout.as_deref())?)?;
    let mut output = io::stdout().lock();
    output.write_all(&bytes).and_then(|()| output.flush())?;
    Ok(comparison)
}

/// Colour and width as the terminal has them. NO_COLOR (no-color.org) and `TERM=dumb` are obeyed.
pub fn style(layout: Option<&str>) -> Result<Style> {
    let terminal = io::stdout().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = terminal.then(|| comfy_table::Table::new().width()).flatten();
    let layout = layout.map(report::find_layout).transpose()?;
    Ok(Style { colour: terminal && !plain && !dumb && sys::takes_escapes(), width, layout })
}
