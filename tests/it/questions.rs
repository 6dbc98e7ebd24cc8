//! docs/QUESTIONS.md: its examples fit a screen, and say what envtax says.

use std::fs;

use crate::support::Place;

/// A command as it is typed, and the lines that are shown of its output.
struct Example {
    words: Vec<String>,
    shown: Vec<String>,
}

fn examples() -> Vec<Example> {
    let path = format!("{}/docs/QUESTIONS.md", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    // Empty lines inside an output stand in the document as empty lines.
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut continued = false;
    let mut in_example = false;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            in_example &= line.is_empty();
            continue;
        };
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), Vec::new()));
            (in_example, continued) = (true, command.ends_with('\\'));
        } else if let Some((command, shown)) = found.last_mut().filter(|_| in_example) {
            if continued {
                *command = format!("{}{}", command.trim_end_matches('\\'), line.trim());
                continued = command.ends_with('\\');
            } else {
                shown.push(line.to_owned());
            }
        }
    }
    let example = |(command, shown): (String, Vec<String>)| {
        let words = shell_words::split(&command).unwrap();
        assert_eq!(words[0], "envtax", "{command}");
        Example { words: words[1..].to_vec(), shown }
    };
    found.into_iter().map(example).collect()
}

#[test]
fn answers_fit_a_screen() {
    let all = examples();
    assert!(all.len() >= 15, "only {} examples", all.len());
    for Example { words, shown } in &all {
        let wide = shown.iter().find(|line| line.chars().count() > 80);
        assert!(wide.is_none(), "{words:?}: {wide:?} has more than 80 columns");
        assert!(shown.len() <= 24, "{words:?}: {} lines", shown.len());
    }
}

/// What does not depend on figures is compared word by word.
#[test]
fn answers_without_figures_are_what_envtax_prints() {
    let place = Place::new();
    let mut compared = 0;
    for Example { words, shown } in examples() {
        let first = words[0].as_str();
        let mistake = shown.first().is_some_and(|line| line.starts_with("envtax: "));
        if !mistake && !["list", "--help"].contains(&first) {
            continue;
        }
        let done = place.envtax(&words).run();
        let done = done.exits(if mistake { 2 } else { 0 });
        let all = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let printed = all(&format!("{} {}", done.out, done.err)).join(" ");
        // Between these marks something is left out.
        for part in shown.join(" ").split('…') {
            let part = all(part).join(" ");
            assert!(printed.contains(&part), "{words:?} does not print\n{part}\nbut\n{printed}");
        }
        compared += 1;
    }
    assert!(compared >= 6, "only {compared} examples were compared");
    place.is_clean();
}

/// The words of a screen that stand beside figures, from a measurement of the same kind.
#[test]
fn answers_with_figures_have_the_same_form() {
    let place = Place::new();
    let dirs = ["--dir", &format!("a={}", place.path("target"))].map(str::to_owned);
    let args = ["run", "-o", "fs.jsonl", "--suite", "quick", "--probe", "file.stat"];
    let run = place.envtax(args).args(dirs).args(["--dir", &format!("b={}", place.path("tmp"))]);
    let run = run.args(["--budget", "30s", "--precision", "100"]).run().exits(0);
    let run = run.prints("multiples of the cost in a");
    let sentence = run.out.lines().find(|line| line.starts_with("least cost: "));
    let sentence = sentence.unwrap_or_else(|| panic!("{}", run.out));
    let told = ["a in file.stat", "b in file.stat", "no difference shown in file.stat"];
    assert!(told.iter().any(|words| sentence.contains(words)), "{sentence}");
    let is_of_b = |line: &str| line.starts_with("b: ") || line.starts_with("b (");
    assert!(run.out.lines().any(|line| is_of_b(line) && line.contains('×')), "{}", run.out);
    let table = place.envtax(["compare", "fs.jsonl", "--section", "directories"]).run().exits(0);
    table.prints("Target directories: cost against `a`").prints(sentence);
    let gate = ["compare", "fs.jsonl", "--fail-above", "1.5x"];
    place.envtax(gate).run().exits(2).complains("judged no figure");
    let known = examples();
    let shown = |words: &str| known.iter().flat_map(|it| &it.shown).any(|it| it.contains(words));
    for words in ["least cost: ", "Target directories: cost against `", "FAIL proot file."] {
        assert!(shown(words), "docs/QUESTIONS.md does not show `{words}`");
    }
}
