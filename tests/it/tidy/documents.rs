//! Documents tell the truth about names: the files, verbs and options that they mention exist, and
//! every option of a verb is in a document.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{ROOT, files_below, report, short, text};

#[test]
fn documents_are_kept() {
    let read = |name: &str| text(&Path::new(ROOT).join(name));
    assert!(read("CHANGELOG.md").contains("## Unreleased"), "CHANGELOG.md has no Unreleased");
    assert!(read("docs/ARCHITECTURE.md").lines().count() <= 150, "ARCHITECTURE.md is a map");
    let mut problems = Vec::new();
    for path in files_below("docs", "md") {
        let text = text(&path);
        if text.lines().filter(|line| line.starts_with("# ")).count() != 1 {
            problems.push(format!("{}: needs exactly one title", short(&path)));
        }
        for name in relative_links(&text) {
            if !path.parent().unwrap().join(&name).exists() {
                problems.push(format!("{}: links to `{name}`, which is not there", short(&path)));
            }
        }
    }
    for name in relative_links(&read("README.md")) {
        if !Path::new(ROOT).join(&name).exists() {
            problems.push(format!("README.md: links to `{name}`, which is not there"));
        }
    }
    report(problems);
}

/// The map must not have old names. A name may be written from the root, from `src/`, or by its
/// end.
#[test]
fn the_map_names_files_that_exist() {
    let mut known: Vec<String> = Vec::new();
    for folder in ["src", "tests", "bench", "docs", ".ci", "scripts", "fuzz"] {
        let mut open = vec![Path::new(ROOT).join(folder)];
        while let Some(path) = open.pop() {
            let name = path.strip_prefix(ROOT).unwrap().display().to_string();
            match path.is_dir() {
                true => {
                    known.push(format!("/{name}/"));
                    open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                }
                false => known.push(format!("/{name}")),
            }
        }
    }
    let mut problems = Vec::new();
    for document in ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = text(&Path::new(ROOT).join(document));
        for word in text.split('`').skip(1).step_by(2) {
            let plain = word.chars().all(|c| c.is_ascii_lowercase() || "._-/".contains(c));
            let is_file = plain && (word.ends_with(".rs") || word.ends_with('/'));
            if is_file && !known.iter().any(|known| known.ends_with(&format!("/{word}"))) {
                problems.push(format!("{document}: there is no `{word}`"));
            }
        }
    }
    report(problems);
}

/// Targets of Markdown links that are files of this repository, without anchors.
fn relative_links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://") && !link.starts_with('#'))
        .map(|link| link.split('#').next().unwrap().to_owned())
        .collect()
}

/// Every document, with its name: those of `docs/`, README and CONTRIBUTING.
fn documents() -> Vec<(String, String)> {
    let outside = ["README.md", "CONTRIBUTING.md"].map(|name| Path::new(ROOT).join(name));
    let paths = files_below("docs", "md").into_iter().chain(outside);
    paths.map(|path| (short(&path), text(&path))).collect()
}

/// What stands between backticks in a document.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n'))
}

fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_envtax")).args(words).arg("--help").output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// The options of every verb as its help has them: `--output`, and `-o` if it has a short form.
fn options() -> BTreeMap<String, Vec<Vec<String>>> {
    let top = help(&[]);
    let verbs = top.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let verbs = verbs.lines().filter_map(|line| line.split_whitespace().next());
    let option = |line: &str| {
        let words = line.trim().split([' ', ',']).filter(|word| !word.is_empty());
        words.take_while(|word| word.starts_with('-')).map(str::to_owned).collect::<Vec<_>>()
    };
    let of = |verb: &str| {
        let help = help(&[verb]);
        let found = help.split("Options:").nth(1).unwrap_or_default().lines().map(option);
        found.filter(|names| !names.is_empty()).collect()
    };
    let verbs = verbs.filter(|verb| *verb != "help");
    verbs.map(|verb| (verb.to_owned(), of(verb))).collect()
}

/// Whether the text has the name of an option, and not only a longer name that begins so.
fn names(text: &str, option: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    text.match_indices(option).any(|(at, _)| ends(&text[at + option.len()..]))
}

#[test]
fn every_option_is_in_a_document() {
    let documents = documents();
    let in_documents = |name: &str| documents.iter().any(|(_, text)| names(text, name));
    let mut problems = Vec::new();
    for (verb, options) in options() {
        let none = ["man", "completions", "session"].contains(&verb.as_str());
        assert!(options.len() > 1 || none, "{verb}: {options:?}");
        for option in options {
            if !option.iter().any(|name| name == "--help" || in_documents(name)) {
                problems.push(format!("no document names `envtax {verb} {}`", option.join(", ")));
            }
        }
    }
    report(problems);
}

/// The command lines of a document: lines of examples, and what stands between backticks. Another
/// program's part is left out.
fn command_lines(text: &str) -> impl Iterator<Item = &str> {
    let examples = text.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = examples.chain(spans(text)).filter_map(|line| line.strip_prefix("envtax "));
    lines.filter_map(|line| line.split("  #").flat_map(|line| line.split(" -- ")).next())
}

#[test]
fn documents_name_verbs_and_options_that_exist() {
    let options: BTreeMap<String, BTreeSet<String>> = options()
        .into_iter()
        .map(|(verb, all)| (verb, all.concat().into_iter().collect()))
        .collect();
    // These programs are started by envtax itself.
    let hidden = ["agent", "worker", "guard", "busy"];
    let mut problems = Vec::new();
    let mut found = 0;
    for (document, text) in documents() {
        for line in command_lines(&text) {
            let line = line.split(" | ").next().unwrap_or_default();
            let verb = line.split_whitespace().next().unwrap_or_default();
            let Some(known) = options.get(verb) else {
                if verb.chars().all(|c| c.is_ascii_lowercase()) && !hidden.contains(&verb) {
                    problems.push(format!("{document}: envtax has no verb `{verb}`"));
                }
                continue;
            };
            let words = line.split_whitespace().filter(|word| word.starts_with("--"));
            for word in words.filter_map(|word| word.split('=').next()) {
                found += 1;
                if !known.contains(word) {
                    problems.push(format!("{document}: `envtax {verb}` has no option `{word}`"));
                }
            }
        }
    }
    assert!(found > 50, "only {found} options were found in all documents");
    report(problems);
}

/// Files that a document names between backticks.
#[test]
fn documents_name_files_that_exist() {
    let folders = ["scripts/", "bench/", "src/", "docs/", "tests/", "fuzz/", ".ci/"];
    let mut problems = Vec::new();
    for (document, text) in documents() {
        let words = spans(&text).filter_map(|span| span.split(' ').next());
        for word in words.filter(|word| folders.iter().any(|folder| word.starts_with(folder))) {
            if !Path::new(ROOT).join(word).exists() {
                problems.push(format!("{document}: there is no `{word}`"));
            }
        }
    }
    report(problems);
}
