//! Rules of the code base that a compiler does not keep. Each failure says what to do.

mod documents;
mod fuzz;
mod modules;

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn files_below(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(ROOT).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The path below the source folder, such as `sys/linux/clock.rs`.
fn short(path: &Path) -> String {
    let src = Path::new(ROOT).join("src");
    let below = path.strip_prefix(&src).or_else(|_| path.strip_prefix(ROOT)).unwrap_or(path);
    below.display().to_string()
}

/// The layer a source file belongs to: its folder or its own name.
fn layer(path: &Path) -> String {
    let short = short(path);
    short.split(['/', '.']).next().unwrap().to_owned()
}

/// Fails with all problems at once.
fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn one_operating_system_and_unsafe_code_stay_in_sys() {
    let marks = ["cfg(target_os", "cfg(unix", "cfg(windows", "unsafe ", "std::os::unix"];
    let mut problems = Vec::new();
    for path in files_below("src", "rs").iter().filter(|path| layer(path) != "sys") {
        for (number, line) in text(path).lines().enumerate() {
            for mark in marks.iter().filter(|mark| line.contains(**mark)) {
                let at = number + 1;
                problems.push(format!("{}:{at}: `{mark}` belongs in src/sys/", short(path)));
            }
        }
    }
    report(problems);
}

/// The calendar's clock jumps when somebody sets it: nothing that decides may hang on it.
#[test]
fn only_dates_come_from_the_calendar() {
    let users = [
        // The date of a run file or recording, or in its name, and a seed.
        "cmd/measure.rs",
        "cmd/record.rs",
        // The age of a file, which the filesystem gives as a date. One that lies in the future
        // counts as new.
        "cleanup/leftovers.rs",
        "cleanup/stage.rs",
    ];
    let mut problems = Vec::new();
    for path in files_below("src", "rs").iter().filter(|path| layer(path) != "sys") {
        let code = text(path);
        let used = ["SystemTime::now", "UtcDateTime::now", "CLOCK_REALTIME"];
        for mark in used.iter().filter(|mark| code.contains(**mark)) {
            if !users.contains(&short(path).as_str()) {
                let short = short(path);
                problems.push(format!("{short}: `{mark}`; measure time with `Instant`"));
            }
        }
    }
    report(problems);
}

#[test]
fn only_verbs_print() {
    let marks = ["println!", "print!(", "io::stdout", "io::stderr"];
    // Agent and worker speak their protocol on these streams.
    let speakers = ["main.rs", "inside/agent.rs", "inside/worker.rs"];
    let mut problems = Vec::new();
    for path in files_below("src", "rs") {
        // The simulation is a unit test whose output is read by `bench/coverage`.
        let is_test = path.ends_with("tests.rs") || short(&path).contains("rounds/coverage/");
        if layer(&path) == "cmd" || speakers.contains(&short(&path).as_str()) || is_test {
            continue;
        }
        let code = text(&path);
        let code = code.split("#[cfg(test)]").next().unwrap();
        for mark in marks.iter().filter(|mark| code.contains(**mark)) {
            problems.push(format!("{}: `{mark}`; return text to src/cmd/ instead", short(&path)));
        }
    }
    report(problems);
}

/// A file without its list line would be dead code that nobody notices.
#[test]
fn every_probe_kind_and_format_is_in_its_list() {
    let mut problems = Vec::new();
    let helpers = [
        "mod.rs",
        "aligned.rs",
        "binaries.rs",
        "differences.rs",
        "directories.rs",
        "escape.rs",
        "failure.rs",
        "findings.rs",
        "file_blocks.rs",
        "file_cold.rs",
        "file_durable.rs",
        "file_latency.rs",
        "gate.rs",
        "held.rs",
        "notes.rs",
        "params.rs",
        "scratch.rs",
        "sections.rs",
        "sheet.rs",
        "staging.rs",
        "table.rs",
    ];
    for folder in ["probe", "launch", "mount", "report"] {
        let list = text(&Path::new(ROOT).join("src").join(folder).join("mod.rs"));
        for path in files_below(&format!("src/{folder}"), "rs") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let module = name.trim_end_matches(".rs");
            // Layouts have a list of their own, which a unit test checks. The first screen is one
            // part of a report, and folders of launchers hold what several of them share.
            let parent = path.parent().unwrap();
            let apart = ["layout", "screen", "page"].iter().any(|it| parent.ends_with(it))
                || parent.parent().unwrap().ends_with("launch");
            if helpers.contains(&name.as_str()) || apart {
                continue;
            }
            if parent.ends_with("chart") {
                let charts = text(&parent.join("mod.rs"));
                let draws = text(&path).contains("pub fn draw(");
                if draws && !charts.contains(&format!("draw: {module}::draw")) {
                    problems.push(format!("src/report/chart/{name} is not in CHARTS"));
                }
                continue;
            }
            let listed = format!("&{module}::");
            if !list.contains(&listed) {
                problems.push(format!("src/{folder}/{name} is not in the list of mod.rs"));
            }
        }
    }
    report(problems);
}

#[test]
fn lines_functions_and_files_are_short() {
    let mut problems = Vec::new();
    for path in files_below("src", "rs").into_iter().chain(files_below("tests", "rs")) {
        let mut function: Option<(usize, String)> = None;
        let lines = text(&path).lines().count();
        if lines > 500 {
            problems.push(format!("{}: {lines} lines; 500 are the most: split it", short(&path)));
        }
        for (index, line) in text(&path).lines().enumerate() {
            let at = format!("{}:{}", short(&path), index + 1);
            if line.chars().count() > 100 {
                problems.push(format!("{at}: longer than 100 columns"));
            }
            let indent = " ".repeat(line.len() - line.trim_start().len());
            let words: Vec<&str> = line.split_whitespace().take(4).collect();
            let declares = words.contains(&"fn") && !line.trim_end().ends_with(';');
            if declares && function.is_none() && !line.trim_end().ends_with('}') {
                function = Some((index, format!("{indent}}}")));
            }
            if let Some((start, end)) = &function
                && line == end
            {
                if index - start + 1 > 70 {
                    problems.push(format!("{at}: the function is longer than 70 lines"));
                }
                function = None;
            }
        }
    }
    report(problems);
}

/// Readers of a folder begin with its `mod.rs`.
#[test]
fn every_folder_says_what_it_may_and_must_not_do() {
    let mut problems = Vec::new();
    for path in files_below("src", "rs") {
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            let code = text(&path);
            let head = code.lines().take_while(|line| line.starts_with("//!"));
            let head: String = head.map(|line| line.to_owned() + " ").collect();
            if !head.to_lowercase().contains("may use") || !head.contains("ust not") {
                problems.push(format!(
                    "{}: say what it is, what it may use and what it must not do",
                    short(&path)
                ));
            }
        }
    }
    report(problems);
}

#[test]
fn the_dependencies_say_why_they_are_there() {
    let manifest = text(&Path::new(ROOT).join("Cargo.toml"));
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
    let dependencies = dependencies.split("\n[").next().unwrap();
    let mut commented = false;
    for line in dependencies.lines() {
        let continued = ["clap_complete", "clap_mangen", "rand_pcg", "serde_json", "csv", "serde"];
        let name = line.split_whitespace().next().unwrap_or_default();
        if line.starts_with('#') {
            commented = true;
        } else if line.contains('=') {
            assert!(commented || continued.contains(&name), "say why `{name}` is needed");
            commented = false;
        }
    }
}

/// `git log` shows a subject of 72 characters without cutting it. The rule began after that commit;
/// if the history does not reach back to it, git names no subject.
#[test]
fn commits_have_short_subjects() {
    let log = ["log", "8a10e36..HEAD", "--no-merges", "--format=%h %s"];
    let Ok(found) = std::process::Command::new("git").args(log).current_dir(ROOT).output() else {
        eprintln!("skipped: there is no git");
        return;
    };
    let subjects = String::from_utf8_lossy(&found.stdout).into_owned();
    let long = subjects.lines().filter(|line| {
        let subject = line.split_once(' ').map_or("", |(_, subject)| subject);
        subject.chars().count() > 72
    });
    report(long.map(|line| format!("a subject of more than 72 characters: {line}")).collect());
}
