//! `envtax session`: sessions before and after a change, gathered and compared.

use crate::support::Place;

fn add<'a>(place: &'a Place, label: &str, words: &[&str]) -> crate::support::Envtax<'a> {
    place.envtax(["session", "add", label]).args(words)
}

const MEASURE: [&str; 5] = ["time", "--runs", "5", "--", "true"];

#[test]
fn sessions_are_gathered_under_labels_and_compared() {
    let place = Place::new();
    let compare = || place.envtax(["session", "compare", "before", "after"]);
    compare().run().exits(2).complains("no session of `before` in `sessions`");
    add(&place, "before", &[]).run().exits(2).complains("what is to be measured?");
    add(&place, "before", &MEASURE).run().exits(0).complains("`before` has 1 session now");
    compare().run().exits(2).complains("no session of `after` in `sessions`; there are before");
    // The others measure the same without being told again.
    add(&place, "after", &[]).run().exits(0);
    let done = compare().run().exits(0).prints("before (1 session)").prints("after (1 session)");
    let done = done.prints("3 sessions a side are needed for a verdict; `before` has 1");
    assert!(done.out.ends_with("    envtax session add before && envtax session add after\n"));
    add(&place, "before", &["--sessions", "2"]).run().exits(0).complains("has 3 sessions now");
    add(&place, "after", &["--sessions", "2"]).run().exits(0);
    let done = compare().run().exits(0).prints("after (3 sessions)");
    let (_, last) = done.out.trim_end().rsplit_once("\n\n").unwrap();
    let told =
        last.starts_with("enough") || last.contains("session add") || last.contains("longer");
    assert!(told && last.lines().all(|line| line.chars().count() <= 80), "{last}");
    assert!(!done.out.contains("\n3 sessions a side are needed"), "{}", done.out);
    // The same by `compare` alone.
    let files = |label: &str| -> Vec<String> {
        let entries = std::fs::read_dir(place.path(&format!("sessions/{label}"))).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path().display().to_string());
        paths.collect()
    };
    let (before, after) = (files("before"), files("after"));
    assert_eq!((before.len(), after.len()), (3, 3));
    let args = ["compare"].map(str::to_owned).into_iter().chain(before);
    let same = place.envtax(args).args(["--versus"]).args(after).run().exits(0);
    same.prints("after (3 sessions)");
    place.is_clean();
}

#[test]
fn what_a_session_cannot_be_is_said() {
    let place = Place::new();
    add(&place, "a/b", &MEASURE).run().exits(2).complains("`a/b`: a label consists of");
    add(&place, "a", &["doctor"]).run().exits(2).complains("a session is one of `run` or `time`");
    let output = ["run", "-o", "x.jsonl"];
    add(&place, "a", &output).run().exits(2).complains("`-o` is chosen by `envtax session add`");
    add(&place, "a", &["run", "--repeat", "2"]).run().exits(2).complains("--sessions N");
    add(&place, "a", &["run", "--no-such"]).run().exits(2).complains("--no-such");
    assert!(!place.has("sessions"));
    let run = ["run", "--probe", "null", "--budget", "300ms"];
    add(&place, "日本", &run).run().exits(0);
    let other = add(&place, "b", &MEASURE).run().exits(2);
    other.complains("measure `run --probe null --budget 300ms`").complains("--folder");
    place.envtax(["session", "compare", "日本", "日本"]).run().exits(2).complains("given twice");
}

/// What docs/TIME.md and the README show is what a reader gets, but for the figures.
#[test]
fn the_documented_recipe_works_as_it_is_shown() {
    for document in ["docs/TIME.md", "README.md"] {
        let path = format!("{}/{document}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let place = Place::new();
        let line = "The quick brown fox jumps over the lazy dog.\n".repeat(2000);
        place.write("data", line);
        let shown = text.lines().filter_map(|line| line.strip_prefix("    "));
        let shown: Vec<&str> =
            shown.skip_while(|line| !line.starts_with("$ envtax session")).collect();
        let commands = shown.iter().filter_map(|line| line.strip_prefix("$ envtax "));
        let commands = commands.filter(|line| line.starts_with("session "));
        let mut out = String::new();
        for command in commands.clone() {
            let words = shell_words::split(command.split('#').next().unwrap()).unwrap();
            out = place.envtax(words).run().exits(0).out;
        }
        assert!(commands.count() >= 3, "{document}");
        let at = shown.iter().rposition(|line| line.starts_with("$ envtax session compare"));
        // Sides, columns and the first word of the advice; noise decides on the rest.
        for line in shown[at.unwrap() + 1..].iter().take(3) {
            let label = line.trim_start().split("  ").next().unwrap().trim();
            assert!(out.contains(label), "{document}: no `{label}` in\n{out}");
        }
    }
}
