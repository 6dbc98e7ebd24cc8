//! Text from environments and files is shown without effect: no escape sequence reaches the
//! terminal, from any field of any record.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::Place;

/// Clears the screen, sets the clipboard, reverses the following text, and rings the bell.
const EVIL: &str = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{202e}\u{9b}31m";

/// For each place of a string: a copy of the file's lines in which the evil text follows this
/// string.
fn with_evil_text(lines: &[Value]) -> Vec<(String, Vec<Value>)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in lines.iter().enumerate() {
        for pointer in strings(line) {
            let kind = line["record"].as_str().unwrap_or_default();
            // One of each kind of place is enough, so numbers of lists are left out.
            let place: String = pointer
                .split('/')
                .filter(|word| word.parse::<usize>().is_err())
                .map(|word| format!("/{word}"))
                .collect();
            if pointer == "/record" || !seen.insert(format!("{kind}{place}")) {
                continue;
            }
            let mut copy = lines.to_vec();
            let text = copy[number].pointer_mut(&pointer).unwrap();
            *text = Value::String(format!("{}{EVIL}", text.as_str().unwrap()));
            found.push((format!("{kind} {pointer}"), copy));
        }
    }
    found
}

/// JSON pointers of all strings below the value.
fn strings(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        strings(value).into_iter().map(move |rest| format!("/{key}{rest}")).collect::<Vec<_>>()
    };
    match value {
        Value::String(_) => vec![String::new()],
        Value::Array(values) => {
            values.iter().enumerate().flat_map(|(at, it)| below(&at.to_string(), it)).collect()
        }
        Value::Object(fields) => fields.iter().flat_map(|(key, it)| below(key, it)).collect(),
        _ => Vec::new(),
    }
}

#[track_caller]
fn is_harmless(what: &str, text: &str) {
    let bad = |c: &char| {
        let control = c.is_control() && !"\n\t".contains(*c);
        control || ('\u{202a}'..='\u{202e}').contains(c)
    };
    let found = text.chars().find(bad);
    assert!(found.is_none(), "{what}: {found:?} reaches the reader in\n{text:?}");
}

#[test]
fn no_field_of_a_run_file_reaches_the_terminal_as_it_is() {
    let place = Place::new();
    let run = place.run(&["native", "b=namespace"], &["syscall.getppid", "file.stat"]);
    run.args(["--budget", "1s"]).run();
    let text = place.read("run.jsonl");
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A few blocks, because the file is read hundreds of times.
    let mut blocks = 0;
    lines.retain(|line| {
        blocks += usize::from(line["record"] == "block");
        line["record"] != "block" || blocks <= 24
    });
    let variants = with_evil_text(&lines);
    assert!(variants.len() > 40, "{}", variants.len());
    let file = place.path("evil.jsonl");
    let mut shown = BTreeSet::new();
    for (what, lines) in variants {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, text).unwrap();
        for format in ["text", "markdown", "csv", "json"] {
            let done = place.envtax(["compare", "evil.jsonl", "--format", format]).run();
            is_harmless(&format!("{what} as {format}"), &done.out);
            is_harmless(&format!("{what} as {format}"), &done.err);
            if done.out.contains("u{1b}[2J") {
                shown.insert(format);
            }
        }
    }
    // Otherwise the text was not shown, and nothing was tested.
    assert_eq!(shown.len(), 4, "{shown:?}");
}

#[test]
fn no_field_of_an_import_reaches_the_terminal_as_it_is() {
    let place = Place::new();
    let table = format!("input,metric,value\na{EVIL},real,1.0\na{EVIL},real,1.1\n");
    fs::write(place.path("t.csv"), table).unwrap();
    let command = serde_json::to_string(&format!("ls {EVIL}")).unwrap();
    let json = format!(
        r#"{{"results":[{{"command":{command},"mean":1.0,"times":[1.0,1.1,1.2],
        "exit_codes":[0,0,0],"parameters":{{"n":{command}}}}}]}}"#
    );
    fs::write(place.path("h.json"), json).unwrap();
    for file in ["t.csv", "h.json"] {
        let done = place.envtax(["compare", file]).run();
        is_harmless(file, &done.out);
        is_harmless(file, &done.err);
    }
}

#[test]
fn what_an_environment_prints_does_not_reach_the_terminal_as_it_is() {
    let place = Place::new();
    let script = format!("#!/bin/sh\nprintf '%s\\n' '{EVIL}' >&2\nexit 7\n");
    let path = place.path("bad.sh");
    fs::write(&path, script).unwrap();
    let run = place.run(&["native", &format!("b=cmd:sh {path}")], &["syscall.getppid"]);
    let done = run.args(["--budget", "1s"]).run();
    is_harmless("stderr of a launcher", &done.out);
    is_harmless("stderr of a launcher", &done.err);
    done.exits(3);
}
