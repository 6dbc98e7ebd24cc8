//! Prints a comparison; the verbs that end with one share it.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, bail, ensure};

use crate::cli::{DEFAULT_MARGIN, ShowArgs};
use crate::compare::{Comparison, GateRules, Margins, Side, compare, gate};
use crate::probe::PROBES;
use crate::report::{self, Detail, Explained, REPORTS, ReportInfo, Style};
use crate::words::{Language, Words};
use crate::{sys, units};

/// Checks the options before anything is measured.
pub fn check(args: &ShowArgs) -> Result<()> {
    ensure!(args.margin.is_finite() && args.margin >= 0.0, "`--margin` must be zero or more");
    let format = report::find(&args.format)?;
    let name = format.info().name;
    let shown = !report::FILES.contains(&name) || !io::stdout().is_terminal();
    ensure!(shown, "a terminal shows no `--format {name}`: write it to a file, `> FILE.{name}`");
    detail(args)?;
    report::find_chart(&args.chart)?;
    language(args.lang.as_deref())?;
    if let Some(name) = &args.layout {
        report::find_layout(name)?;
    }
    let options = [
        ("--layout", args.layout.as_ref(), (|info| info.layouts) as fn(&ReportInfo) -> bool),
        ("--section", args.sections.first(), |info| info.sections),
    ];
    for (option, name, takes) in options {
        let infos = REPORTS.iter().map(|report| report.info()).filter(|info| takes(info));
        let formats: Vec<&str> = infos.map(|info| info.name).collect();
        if let Some(name) = name.filter(|_| !takes(format.info())) {
            bail!("`{option} {name}` is for people: use `--format {}`", formats.join("` or `"));
        }
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
    if args.margin != DEFAULT_MARGIN {
        again.extend(["--margin".into(), args.margin.to_string()]);
    }
    let style = style(args, again)?;
    let bytes = report::find(&args.format)?.render(&comparison, &style)?;
    let mut output = io::stdout().lock();
    output.write_all(&bytes).and_then(|()| output.flush())?;
    Ok(comparison)
}

/// What a probe is, for readers of its figures: from the registry in English, from the catalogues
/// in other languages.
pub(super) fn explained(id: &str, words: &Words) -> Option<Explained> {
    let info = PROBES.iter().map(|probe| probe.info()).find(|info| info.id == id)?;
    let said = |part: &str, english: &str| {
        words.registered(&format!("probe-{id}{part}")).unwrap_or_else(|| english.to_owned())
    };
    Some(Explained {
        summary: said("", info.summary),
        timed: said("-timed", info.timed),
        excluded: said("-excluded", info.excluded),
        source: info.source,
    })
}

/// The language that is asked for, or that of the locale.
pub(super) fn language(code: Option<&str>) -> Result<Language> {
    if let Some(code) = code {
        return Language::find(code);
    }
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let locale = names.iter().filter_map(|name| std::env::var(name).ok());
    let locale = locale.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    Ok(Language::of_locale(&locale))
}

/// Prints what follows from a comparison, behind it: to standard output behind a table for the
/// terminal, and to standard error behind other formats, of which it is no part.
pub fn behind(args: &ShowArgs, text: &str) -> Result<()> {
    if args.format == report::TEXT {
        let mut output = io::stdout().lock();
        writeln!(output, "\n{text}").and_then(|()| output.flush())?;
    } else {
        // A closed stderr is no reason to fail.
        let _ = writeln!(io::stderr(), "\n{text}");
    }
    Ok(())
}

/// The text in lines as wide as the terminal, each with its own spaces at the beginning.
pub fn wrapped(text: &str) -> String {
    let width = usize::from(width().unwrap_or(report::WIDTH));
    let lines = text.lines().flat_map(|line| units::indented(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Columns of the terminal; none where there is none.
fn width() -> Option<u16> {
    let terminal = io::stdout().is_terminal();
    terminal.then(|| comfy_table::Table::new().width()).flatten()
}

/// Colour and width as the terminal has them. NO_COLOR (no-color.org) and `TERM=dumb` are obeyed.
fn style(args: &ShowArgs, again: Vec<String>) -> Result<Style> {
    let terminal = io::stdout().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = width();
    let layout = args.layout.as_deref().map(report::find_layout).transpose()?;
    let detail = detail(args)?;
    let colour = terminal && !plain && !dumb && sys::takes_escapes();
    let (words, chart) =
        (Words::of(language(args.lang.as_deref())?), report::find_chart(&args.chart)?);
    Ok(Style { colour, width, layout, detail, words, chart, probe: explained, again })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::LANGUAGES;

    #[test]
    fn every_probe_is_explained_in_every_language() {
        for language in &LANGUAGES[1..] {
            let words = Words::of(*language);
            for id in PROBES.iter().map(|probe| probe.info().id) {
                for part in ["", "-timed", "-excluded"] {
                    let said = words.registered(&format!("probe-{id}{part}"));
                    assert!(said.is_some(), "`{}` does not explain `{id}`: {part}", language.code);
                }
            }
        }
    }
}
