//! Reports in Japanese have no English words where a reader would stumble over them: every word in
//! Latin letters is a name, a unit, an option, or what the run file itself says.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::Place;

/// Words in Latin letters that Japanese articles use as they are.
const NAMES: &str = "envtax CPU JSON Markdown HTML KiB MiB GiB KB MB GB ns ms KbpsB lps MWIPS \
    vDSO clock gettime read write open close stat fork exec execve waitpid getppid mmap munmap \
    steal FAIL list flags compare section notes budget launches long rows facts margin probe \
    lang ja load repeat rounds min user system time free KB tar gzip gz svg png html md post \
    forest article chart format x kernel usage of WSL floor mean tax start of";

/// Runs of Latin letters of two or more, without options, what stands between backticks, addresses
/// and names with dots, underscores or equals signs.
fn words(text: &str) -> BTreeSet<String> {
    let code = |line: &str| line.trim_start().starts_with("envtax ") || line.contains(" \\");
    let lines = text.lines().filter(|line| !code(line) && !line.starts_with("    "));
    let mut found = BTreeSet::new();
    for line in lines {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for token in plain.split(|letter: char| !letter.is_ascii() || " ()[]|*,;:".contains(letter))
        {
            let is_name = token.contains(['.', '_', '=', '/', '-', '<', '&', '+', '\\']);
            let word = token.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
            let is_word = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if is_word && !is_name {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

/// Every word of the strings in the run file.
fn told(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let words = text.split(|letter: char| !letter.is_ascii_alphabetic());
            into.extend(words.map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| told(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| told(field, into)),
        _ => {}
    }
}

#[test]
fn a_comparison_in_japanese_has_no_english_words() {
    let place = Place::new();
    let run = ["run", "--env", "native", "--env", "b=namespace", "--env", "gone=cmd:false"];
    let options = ["--suite", "quick", "--budget", "30s", "-o", "run.jsonl"];
    place.envtax(run.into_iter().chain(options)).run();
    let mut known: BTreeSet<String> = NAMES.split_whitespace().map(str::to_owned).collect();
    for line in place.read("run.jsonl").lines() {
        told(&serde_json::from_str(line).unwrap(), &mut known);
    }
    // Names of facts are identifiers as well.
    let facts: Value =
        serde_json::from_str(&place.envtax(["compare", "run.jsonl", "--format", "json"]).run().out)
            .unwrap();
    let names = facts["specs"].as_array().unwrap().iter().filter_map(Value::as_object);
    known
        .extend(names.flat_map(|it| it.keys()).flat_map(|name| name.split('_').map(str::to_owned)));
    let mut checked = 0;
    for format in [
        ["--format", "text"],
        ["--long", "--long"],
        ["--format", "markdown"],
        ["--format", "article"],
    ] {
        let format: Vec<&str> =
            if format[0] == format[1] { vec![format[0]] } else { format.to_vec() };
        let args = ["compare", "run.jsonl", "--lang", "ja", "--fail-above", "1x"];
        let done = place.envtax(args.into_iter().chain(format.iter().copied())).run();
        assert!(done.out.contains("コスト"), "{}", done.out);
        // Letters of flags stand in brackets.
        let is_flags = |word: &String| word.len() < 6 && done.out.contains(&format!("({word})"));
        let found = words(&done.out).into_iter();
        let foreign: Vec<String> =
            found.filter(|word| !known.contains(word) && !is_flags(word)).collect();
        assert!(foreign.is_empty(), "{format:?}: {foreign:?}");
        checked += words(&done.out).len();
    }
    assert!(checked > 20, "names of probes are words in Latin letters");
}
