//! `envtax man`: one manual page, from the argument definitions and the registries.

use std::io::Write;

use anyhow::Result;
use clap::{Arg, Command};

use crate::exit::Exit;
use crate::launch::LAUNCHERS;
use crate::mount::FILESYSTEMS;
use crate::plan::suite::SUITES;
use crate::report::{LAYOUTS, SECTIONS};

/// The sections that no registry has: `##` begins a section, `###` an entry of it.
const CLOSING: &str = include_str!("text/man.md");

const HELP: &str = "`envtax VERB --help` shows the options of a verb, and `envtax --version` the \
                    version.";

pub fn run() -> Result<Exit> {
    std::io::stdout().write_all(page()?.as_bytes())?;
    Ok(Exit::Done)
}

fn page() -> Result<String> {
    let mut command = super::command();
    command.build();
    let version = command.get_version().unwrap_or_default().to_owned();
    let verbs: Vec<Command> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
        .map(|verb| verb.clone().mut_args(for_paper))
        .collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!(".TH ENVTAX 1 \"\" \"envtax {}\" \"User Commands\"\n", quiet(&version));
    page.push_str(&format!(
        ".SH NAME\nenvtax \\- {}\n.SH SYNOPSIS\n.nf\n",
        uncapital(&quiet(&about))
    ));
    for verb in &verbs {
        page.push_str(&format!("\\fB{}\\fR{}\n", named(verb), quiet(&arguments(verb))));
    }
    page.push_str(".fi\n.SH DESCRIPTION\n");
    page.push_str(&paragraphs(&command.get_long_about().unwrap_or_default().to_string()));
    page.push_str(&paragraphs(HELP));
    page.push_str(".SH COMMANDS\n");
    for verb in verbs {
        page.push_str(&section(verb)?);
    }
    page.push_str(".SH ENVIRONMENT KINDS\n");
    let text = "Each can be the SPEC of `--env NAME=SPEC`. `envtax doctor` shows which of them \
                start here, and why others do not.";
    page.push_str(&paragraphs(text));
    let kinds = LAUNCHERS.iter().map(|launcher| launcher.info());
    page.push_str(&entries(kinds.map(|info| (info.usage, info.summary))));
    page.push_str(".SH FILESYSTEM KINDS\n");
    let text = "Each can be the KIND of `--dir NAME=KIND`: a filesystem that is made for the run \
                and removed after it.";
    page.push_str(&paragraphs(text));
    let kinds = FILESYSTEMS.iter().map(|filesystem| filesystem.info());
    page.push_str(&entries(kinds.map(|info| (info.usage, info.summary))));
    page.push_str(".SH SUITES\n");
    page.push_str(&paragraphs("Each can be the NAME of `run --suite NAME`."));
    page.push_str(&entries(SUITES.iter().map(|suite| (suite.name, suite.summary))));
    page.push_str(".SH LAYOUTS\n");
    let text = "Each can be the NAME of `--layout NAME`. `envtax list layouts` shows aliases, too.";
    page.push_str(&paragraphs(text));
    for layout in LAYOUTS {
        let text = format!("{}. Published: {}.", layout.summary, layout.source);
        page.push_str(&entries([(layout.name, text.as_str())].into_iter()));
    }
    page.push_str(".SH SECTIONS\n");
    let text = "Each can be the NAME of `--section NAME`, which prints that part alone.";
    page.push_str(&paragraphs(text));
    page.push_str(&entries(SECTIONS.iter().map(|section| (section.name, section.summary))));
    for (title, list) in closing() {
        page.push_str(&format!(".SH {title}\n{}", entries(list.into_iter())));
    }
    page.push_str(".SH SEE ALSO\n.BR bwrap (1),\n.BR proot (1),\n.BR namespaces (7)\n");
    page.push_str(&format!(".SH VERSION\n{}\n", quiet(&version)));
    Ok(ascii(&page))
}

/// The sections of [`CLOSING`] with their entries, each a term and its text.
fn closing() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut sections: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for part in CLOSING.split("\n#").map(|part| part.trim_start_matches('#')) {
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        match sections.last_mut() {
            Some((_, entries)) if !text.trim().is_empty() => {
                entries.push((head.trim(), text.trim()));
            }
            _ => sections.push((head.trim(), Vec::new())),
        }
    }
    sections
}

/// An argument as it suits a page: its values in one line, and no help on help.
fn for_paper(arg: Arg) -> Arg {
    let values = arg.get_possible_values();
    if arg.get_id() == "help" {
        return arg.hide(true);
    }
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = format!("{help}: {}", values.join(", "));
    arg.help(help).hide_possible_values(true)
}

/// One verb: how it is called, what it does, its options.
fn section(verb: Command) -> Result<String> {
    let mut text = format!(".SS \"{}{}\"\n", named(&verb), quiet(&arguments(&verb)));
    let about = verb.get_long_about().or_else(|| verb.get_about());
    text.push_str(&paragraphs(&about.map(ToString::to_string).unwrap_or_default()));
    let mut options = Vec::new();
    clap_mangen::Man::new(verb).render_options_section(&mut options)?;
    let options = String::from_utf8(options)?;
    // The heading and the definition of apostrophes before it are those of a page of its own.
    if let Some(start) = options.find(".TP\n") {
        text.push_str(&options[start..].replace("\\*(Aq", "\\(aq"));
    }
    Ok(text)
}

fn named(verb: &Command) -> String {
    format!("envtax {}", quiet(verb.get_name()))
}

/// What follows the verb's name in its usage, with a space before it.
fn arguments(verb: &Command) -> String {
    let usage = verb.clone().render_usage().to_string();
    let words: Vec<&str> = usage.split_whitespace().collect();
    let after = words.iter().position(|word| *word == verb.get_name()).map_or(0, |at| at + 1);
    words[after..].iter().map(|word| format!(" {word}")).collect()
}

fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|text| !text.trim().is_empty());
    paragraphs.map(|text| format!(".PP\n{}\n", quiet(text.trim()))).collect()
}

fn entries<'a>(list: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    list.map(|(term, text)| format!(".TP\n\\fB{}\\fR\n{}\n", quiet(term), quiet(text))).collect()
}

/// Text without anything that roff would take as its own.
fn quiet(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let text = text.replace('"', "\\(dq").replace('\n', " ");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// Every other letter by its number: what reads the page may not expect UTF-8.
fn ascii(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{a0}' => "\\~".into(),
        letter if letter.is_ascii() => letter.to_string(),
        letter => format!("\\[u{:04X}]", u32::from(letter)),
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_section_once_and_every_verb() {
        let page = page().unwrap();
        let titles: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        assert_eq!(titles.first(), Some(&"NAME"));
        assert_eq!(titles.last(), Some(&"VERSION"));
        for title in &titles {
            assert_eq!(titles.iter().filter(|other| *other == title).count(), 1, "{title}");
        }
        for verb in ["run", "compare", "list", "doctor", "completions", "man"] {
            assert_eq!(page.matches(&format!("\n.SS \"envtax {verb}")).count(), 1, "{verb}");
        }
        for hidden in ["envtax worker", "envtax guard", "envtax agent", "(Aq"] {
            assert!(!page.contains(hidden), "{hidden}");
        }
        assert!(page.is_ascii());
    }

    #[test]
    fn the_page_says_what_the_registries_and_exit_codes_say() {
        let page = page().unwrap();
        for info in LAUNCHERS.iter().map(|launcher| launcher.info()) {
            assert!(page.contains(&ascii(&quiet(info.summary))), "{}", info.kind);
        }
        for info in FILESYSTEMS.iter().map(|filesystem| filesystem.info()) {
            assert!(page.contains(&ascii(&quiet(info.summary))), "{}", info.kind);
        }
        for name in SUITES.iter().map(|suite| suite.name).chain(LAYOUTS.iter().map(|it| it.name)) {
            assert!(page.contains(&format!(".TP\n\\fB{}\\fR\n", ascii(&quiet(name)))), "{name}");
        }
        let names = crate::report::REPORTS.iter().map(|report| report.info().name);
        let names: Vec<&str> = names.collect();
        assert!(page.contains(&format!("output: {}\n", names.join(", "))), "{page}");
        let exits = [Exit::Done, Exit::Gate, Exit::Usage, Exit::Partial];
        for code in exits.iter().map(|exit| (*exit as u8).to_string()).chain(["130".into()]) {
            assert!(page.contains(&format!(".TP\n\\fB{code}\\fR\n")), "{code}");
        }
    }
}
