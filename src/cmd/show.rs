//! Prints a comparison; the verbs that end with one share it.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, ensure};

use crate::cli::ShowArgs;
use crate::compare::{Comparison, GateRules, Margins, Side, compare, gate};
use crate::report::{self, Detail, REPORTS, Style};
use crate::sys;
use crate::words::{Language, Words};

/// The format that has sections.
const TEXT: &str = "text";
/// The margin that needs no option, in per cent.
const MARGIN: f64 = 3.0;

/// Checks the options before anything is measured.
pub fn check(args: &ShowArgs) -> Result<()> {
    ensure!(args.margin.is_finite() && args.margin >= 0.0, "`--margin` must be zero or more");
    let format = report::find(&args.format)?;
    detail(args)?;
    report::find_chart(&args.chart)?;
    language(args)?;
    let is_text = args.sections.is_empty() || args.format == TEXT;
    ensure!(is_text, "`--section` is for `--format {TEXT}`: the other formats print everything");
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

/// How much is printed.
fn detail(args: &ShowArgs) -> Result<Detail> {
    let sections = args.sections.iter().map(|name| report::find_section(name));
    Ok(match sections.collect::<Result<Vec<_>>>()? {
        _ if args.long => Detail::Long,
        sections if sections.is_empty() => Detail::Screen,
        sections => Detail::Sections(sections),
    })
}

/// Compares the sides, judges them by the limits, if there are any, and prints the result to
/// standard output. The arguments passed [`check`].
/// `again` are the words of the command that compares them once more, without these arguments.
pub fn show(
    sides: &[Side<'_>],
    args: &ShowArgs,
    mut again: Vec<String>,
    rules: Option<&GateRules>,
) -> Result<Comparison> {
    let mut comparison = compare(sides, &Margins::general(args.margin / 100.0))?;
    comparison.gate = rules.map(|rules| gate(&comparison, rules));
    if args.margin != MARGIN {
        again.extend(["--margin".into(), args.margin.to_string()]);
    }
    let style = style(args, again)?;
    let bytes = report::find(&args.format)?.render(&comparison, &style)?;
    let mut output = io::stdout().lock();
    output.write_all(&bytes).and_then(|()| output.flush())?;
    Ok(comparison)
}

/// The language that is asked for, or that of the locale.
fn language(args: &ShowArgs) -> Result<Language> {
    if let Some(code) = &args.lang {
        return Language::find(code);
    }
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let locale = names.iter().filter_map(|name| std::env::var(name).ok());
    let locale = locale.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    Ok(Language::of_locale(&locale))
}

/// Colour and width as the terminal has them. NO_COLOR (no-color.org) and `TERM=dumb` are obeyed.
fn style(args: &ShowArgs, again: Vec<String>) -> Result<Style> {
    let terminal = io::stdout().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = terminal.then(|| comfy_table::Table::new().width()).flatten();
    let layout = args.layout.as_deref().map(report::find_layout).transpose()?;
    let detail = detail(args)?;
    let colour = terminal && !plain && !dumb && sys::takes_escapes();
    let (words, chart) = (Words::of(language(args)?), report::find_chart(&args.chart)?);
    Ok(Style { colour, width, layout, detail, words, chart, again })
}
