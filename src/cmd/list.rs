//! `envtax list`: the entries of the registries.

use std::io::Write;

use anyhow::{Context, Result, ensure};
use comfy_table::{ContentArrangement, Table, presets};

use super::{flags, selection, show};
use crate::cli::{ListArgs, Listed};
use crate::exit::Exit;
use crate::launch::LAUNCHERS;
use crate::model::{EnvSpec, Phase, Quantity, suggest};
use crate::mount::{self, FILESYSTEMS};
use crate::plan::suite::{SUITES, Suite};
use crate::probe::{PROBES, ProbeInfo, SOURCES};
use crate::recording::catalogue::{CATALOGUE, Entry};
use crate::report::{ALIASES, CHARTS, LAYOUTS, Layout, REPORTS, SECTIONS};
use crate::units;
use crate::words::Words;
use crate::workload::{self, WORKLOADS};

pub fn run(args: &ListArgs) -> Result<Exit> {
    check(args)?;
    let pages = match args.what {
        Listed::Probes if args.long => Some(match args.words.first() {
            Some(id) => one_probe(id)?,
            None => probe_pages(),
        }),
        Listed::Environments if args.long => Some(environment_pages()),
        Listed::Filesystems if args.long => Some(filesystem_pages()),
        Listed::Workloads if args.long => Some(workload_pages()),
        _ => None,
    };
    if let Some(pages) = pages {
        std::io::stdout().write_all(pages.as_bytes())?;
        return Ok(Exit::Done);
    }
    let rows: Vec<[String; 2]> = match args.what {
        Listed::Probes => probes(),
        Listed::Environments => environments(args)?,
        Listed::Filesystems => FILESYSTEMS
            .iter()
            .map(|filesystem| [filesystem.info().usage.into(), filesystem.info().summary.into()])
            .collect(),
        Listed::Suites => {
            let layout = |suite: &Suite| suite.layout.map(|name| format!(" (--layout {name})"));
            let summary =
                |suite: &Suite| suite.summary.to_owned() + &layout(suite).unwrap_or_default();
            SUITES.iter().map(|suite| [suite.name.into(), summary(suite)]).collect()
        }
        Listed::Workloads => {
            WORKLOADS.iter().map(|it| [it.name.into(), it.summary.into()]).collect()
        }
        Listed::Layouts => {
            let told = |it: &Layout| format!("{}.\nPublished: {}.", it.summary, it.source);
            let layouts = LAYOUTS.iter().map(|layout| [layout.name.into(), told(layout)]);
            let alias = |(alias, layout): &(&str, Layout)| match *alias == layout.name {
                true => [layout.name.into(), format!("alias: {}", told(layout))],
                false => [(*alias).into(), format!("alias of {}", layout.name)],
            };
            layouts.chain(ALIASES.iter().map(alias)).collect()
        }
        Listed::Recordings => {
            let size = |entry: &Entry| units::bytes(entry.size() as f64);
            let told = |entry: &Entry| format!("{} ({})", entry.summary, size(entry));
            CATALOGUE.iter().map(|entry| [entry.name.into(), told(entry)]).collect()
        }
        Listed::Charts => {
            CHARTS.iter().map(|chart| [chart.name.into(), chart.summary.into()]).collect()
        }
        Listed::Sections => {
            SECTIONS.iter().map(|section| [section.name.into(), section.summary.into()]).collect()
        }
        Listed::Flags => flags::rows(&args.words, &Words::of(show::language(None)?))?,
        Listed::Formats => REPORTS
            .iter()
            .map(|report| [report.info().name.into(), report.info().summary.into()])
            .collect(),
    };
    // Sentences are read by people, also in a pipe; other lists are searched line by line.
    print(rows, matches!(args.what, Listed::Flags))
}

fn print(rows: Vec<[String; 2]>, is_prose: bool) -> Result<Exit> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if is_prose && table.width().is_none() {
        table.set_width(crate::report::WIDTH);
    }
    match table.width() {
        Some(width) if is_prose => table.add_rows(broken(rows, width.into())),
        _ => table.add_rows(rows),
    };
    // The table begins each line with a space.
    let line = |line: String| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned() + "\n";
    let text: String = table.lines().map(line).collect();
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The rows with lines that fit a table of that width: the table itself would break a Japanese text
/// within an option, and begin lines with a comma.
fn broken(rows: Vec<[String; 2]>, width: usize) -> Vec<[String; 2]> {
    // Of the name and the text, each has a space on both sides.
    let names = rows.iter().map(|[name, _]| units::columns(name)).max().unwrap_or(0);
    let room = width.saturating_sub(names + 4);
    let lines = |text: String| {
        text.lines().flat_map(|line| units::wrapped(line, room)).collect::<Vec<_>>().join("\n")
    };
    rows.into_iter().map(|[name, text]| [name, lines(text)]).collect()
}

/// Only some lists take words.
fn check(args: &ListArgs) -> Result<()> {
    let takes = match args.what {
        Listed::Flags => true,
        Listed::Probes => args.long && args.words.len() <= 1,
        _ => false,
    };
    ensure!(
        args.words.is_empty() || takes,
        "`{}`: only `envtax list flags` takes letters, and `envtax list probes --long` an id",
        args.words[0]
    );
    Ok(())
}

/// The kinds, then the environments that the file names.
fn environments(args: &ListArgs) -> Result<Vec<[String; 2]>> {
    let kinds = LAUNCHERS.iter().map(|launcher| launcher.info());
    let mut rows: Vec<[String; 2]> =
        kinds.map(|info| [info.usage.into(), info.summary.into()]).collect();
    if let Some(file) = selection::file(&args.file)? {
        let row =
            |spec: &EnvSpec| [spec.name.clone(), format!("{} (in {})", spec.spec(), file.path)];
        rows.extend(file.environments().map(row));
    }
    Ok(rows)
}

fn probes() -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for info in PROBES.iter().map(|probe| probe.info()) {
        let mut summary = info.summary.to_owned();
        let params: Vec<&str> =
            info.cases.iter().copied().filter(|case| !case.is_empty()).collect();
        if !params.is_empty() {
            summary.push_str(&format!(" [{}]", params.join(", ")));
        }
        let phases: Vec<&str> = names(info.phases);
        if !phases.is_empty() {
            summary.push_str(&format!("; phases: {}", phases.join(", ")));
        }
        rows.push([info.id.to_owned(), summary]);
    }
    rows
}

/// The description of one probe, without the list of sources.
fn one_probe(id: &str) -> Result<String> {
    let infos = PROBES.iter().map(|probe| probe.info());
    let info = infos.clone().find(|info| info.id == id).with_context(|| {
        let known: Vec<_> = infos.map(|info| (info.id, info.summary)).collect();
        suggest::unknown("probe", id, &known)
    })?;
    Ok(probe_page(info))
}

/// The descriptions of the probes, as `docs/PROBES.md` holds it.
fn probe_pages() -> String {
    let mut text = String::from(
        "# Probes\n\nMade from the registry by `envtax list probes --long`; do not edit.\n",
    );
    for info in PROBES.iter().map(|probe| probe.info()) {
        text.push('\n');
        text.push_str(&probe_page(info));
    }
    text.push_str(SOURCES);
    text
}

fn probe_page(info: &ProbeInfo) -> String {
    let mut text = format!("## {}\n\n{}.\n\n", info.id, sentence(info.summary));
    for param in info.params {
        let silent = param.silent.map(|value| format!("; without it `{value}`"));
        let silent = silent.unwrap_or_default();
        text.push_str(&format!("- Parameter `{}`: {}{silent}\n", param.name, param.range()));
    }
    let cases: Vec<&str> = info.cases.iter().copied().filter(|it| !it.is_empty()).collect();
    for (name, list) in [("Cases", cases), ("Figures", names(info.phases))] {
        if !list.is_empty() {
            text.push_str(&format!("- {name}: `{}`\n", list.join("`, `")));
        }
    }
    text.push_str(&format!("- Unit: {} per {}\n", quantities(info.phases), info.unit));
    if info.on_files {
        text.push_str("- Measured in every target directory\n");
    }
    text.push_str(&format!("- Timed: {}\n", info.timed));
    text.push_str(&format!("- Not in the figure: {}\n", info.excluded));
    text.push_str(&format!("- Source: {}\n", info.source));
    text
}

/// The descriptions of the environment kinds, as `docs/ENVIRONMENTS.md` holds it.
fn environment_pages() -> String {
    let mut text = String::from(
        "# Environments\n\nMade from the registry by `envtax list environments --long`; do not \
         edit.\n",
    );
    for info in LAUNCHERS.iter().map(|launcher| launcher.info()) {
        let (kind, usage) = (info.kind, info.usage);
        let summary = sentence(info.summary);
        text.push_str(&format!(
            "\n## {kind}\n\n`--env {usage}`: {summary}.\n\n{}\n",
            info.notes.trim_end()
        ));
        text.push_str(&format!("\nIf it does not start: {}.\n", info.remedy));
    }
    text
}

/// The descriptions of the filesystem kinds, as `docs/FILESYSTEMS.md` holds it.
fn filesystem_pages() -> String {
    let mut text = format!(
        "# Filesystems\n\nMade from the registry by `envtax list filesystems --long`; do not \
         edit.\n\n{}",
        mount::NOTES
    );
    for info in FILESYSTEMS.iter().map(|filesystem| filesystem.info()) {
        let (kind, usage, notes) = (info.kind, info.usage, info.notes.trim_end());
        let summary = sentence(info.summary);
        text.push_str(&format!("\n## {kind}\n\n`--dir NAME={usage}`: {summary}.\n\n{notes}\n"));
    }
    text
}

/// The descriptions of the workloads, as `docs/WORKLOADS.md` holds it.
fn workload_pages() -> String {
    let mut text = format!(
        "# Workloads\n\nMade from the registry by `envtax list workloads --long`; do not edit.\n\n\
         {}",
        workload::NOTES
    );
    for workload in WORKLOADS {
        let (name, notes) = (workload.name, workload.notes.trim_end());
        let (summary, command) = (sentence(workload.summary), workload.command.join(" "));
        text.push_str(&format!("\n## {name}\n\n{summary}.\n\n    {command}\n\n{notes}\n"));
    }
    text + "\n" + workload::EXAMPLE
}

/// The phases that have a name.
fn names(phases: &[Phase]) -> Vec<&str> {
    phases.iter().map(|phase| phase.name.as_ref()).filter(|name| !name.is_empty()).collect()
}

/// `ns`, or `ns (bytes for memory)`.
fn quantities(phases: &[Phase]) -> String {
    let mut text = String::from("ns");
    for (quantity, word) in [(Quantity::Bytes, "bytes"), (Quantity::Share, "millionths")] {
        let own: Vec<&str> = phases
            .iter()
            .filter(|phase| phase.quantity == quantity)
            .map(|phase| phase.name.as_ref())
            .collect();
        if !own.is_empty() {
            text.push_str(&format!(" ({word} for {})", own.join(", ")));
        }
    }
    text
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE=1 cargo test` writes the document anew.
    #[test]
    fn the_documents_are_what_the_registries_say() {
        for (name, pages) in [
            ("PROBES.md", probe_pages()),
            ("ENVIRONMENTS.md", environment_pages()),
            ("FILESYSTEMS.md", filesystem_pages()),
            ("WORKLOADS.md", workload_pages()),
        ] {
            let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&path, &pages).unwrap();
            }
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(written == pages, "docs/{name} is old: run `UPDATE=1 cargo test`");
        }
    }
}
