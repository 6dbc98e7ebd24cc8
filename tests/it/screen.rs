//! What is printed without `--long`: the answer within a screen, and the parts of the whole.

use std::fs;

use crate::support::{Place, data};

/// Words of the notes, which a screen does not have.
const NOTES: [&str; 3] =
    ["- tax: cost divided by", "- (c) contended: other programs took", "- started once: all rows"];

fn place() -> Place {
    let place = Place::new();
    place.write("run.jsonl", fs::read(data("run-v1.jsonl")).unwrap());
    place
}

#[test]
fn the_answer_fits_a_screen_and_names_the_commands_for_more() {
    let place = place();
    let done = place.envtax(["compare", "run.jsonl"]).run().exits(0);
    assert!(done.out.lines().count() <= 40, "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    assert!(NOTES.iter().all(|words| !done.out.contains(words)), "{}", done.out);
    let last = done.out.lines().last().unwrap();
    let (_, command) = last.split_once("rows: envtax ").unwrap();
    let long = place.envtax(command.split(' ')).run().exits(0);
    NOTES.into_iter().fold(long, |done, words| done.prints(words));
}

#[test]
fn a_section_is_printed_alone() {
    const HEADER: &str = "mean  verdict\n";
    let place = place();
    let compare =
        |section: &str| place.envtax(["compare", "run.jsonl", "--section", section]).run();
    let rows = compare("rows").exits(0).prints("cost tax 95\u{a0}% mean verdict");
    assert!(NOTES.iter().all(|words| !rows.out.contains(words)), "{}", rows.out);
    let notes = NOTES.into_iter().fold(compare("notes").exits(0), |done, words| done.prints(words));
    assert!(!notes.out.contains(HEADER), "{}", notes.out);
    let args = ["compare", "run.jsonl", "--section", "notes", "--section", "rows"];
    let two = place.envtax(args).run().exits(0);
    let places = [NOTES[0], HEADER].map(|words| two.out.find(words).unwrap());
    assert!(places[0] < places[1], "in the order of the command line: {}", two.out);
    // The file has no facts that differ.
    compare("facts").exits(0).prints("section `facts`: there is nothing");
    compare("fact").exits(2).complains("a similar value exists: 'facts'");
    place.envtax(["list", "sections"]).run().exits(0).prints("starts").prints("ladders");
    let args = ["compare", "run.jsonl", "--section", "facts", "--format", "json"];
    place.envtax(args).run().exits(2).complains("`--section facts` is for people");
}

/// The command after `next:` is one that envtax understands, and measures what was open.
#[test]
fn the_next_command_can_be_pasted() {
    let place = Place::new();
    let environments = ["--env", "native", "--env", "other=native", "--env", "third=native"];
    let probes = ["--probe", "file.read size=4KiB", "--probe", "syscall.getppid"];
    // So few rounds that nothing can be shown.
    let run = place.envtax(["run", "-o", "run.jsonl", "--budget", "100ms"]);
    let done = run.args(environments).args(probes).run();
    let (_, below) = done.out.split_once("next: envtax ").unwrap_or_else(|| panic!("{}", done.out));
    let (command, _) = below.split_once("\nrows: ").unwrap();
    let line = command.replace("\\\n", "");
    let words = shell_words(&line);
    let budget = words.iter().position(|word| word == "--budget").unwrap();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words[budget + 1] = "1s";
    let again = place.envtax(words).args(["-o", "again.jsonl"]).run();
    assert!(matches!(again.status.code(), Some(0 | 3)), "{}", again.err);
    place.comparison("again.jsonl").measured("syscall.getppid", "native");
}

/// Splits words in simple quotes.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[test]
fn many_cases_picked_by_a_pattern_are_told_before_the_run() {
    const MANY: &str = "{syscall,pipe,socket,signal,clock,futex,epoll}.*";
    let place = Place::new();
    let run = place.envtax(["run", "-o", "run.jsonl", "--budget", "200ms", "--probe", MANY]);
    let done = run.run();
    let done = done.complains("`--probe` picks").complains("`--suite quick`");
    done.complains("rounds of each take about").complains("; give `--budget ");
    place.is_clean();
}

/// A budget that is not enough for a figure of each row: those that take least have one.
#[test]
fn a_short_budget_is_spent_on_the_rows_that_take_least() {
    let place = Place::new();
    let run = place.envtax(["run", "-o", "run.jsonl", "--suite", "quick", "--budget", "1ms"]);
    let done = run.run().exits(3).complains("there is time for 1, not for");
    done.complains("more; give `--budget ");
    place.is_clean();
    // Of whole commands nothing is known before.
    let time = place.envtax(["time", "-o", "time.jsonl", "--budget", "1ms", "--", "sleep", "0.1"]);
    let done = time.run().exits(3).complains("the budget of 1.00 ms ended before another one");
    done.complains("give `--budget ");
    place.is_clean();
}

#[test]
fn flags_are_explained_one_by_one() {
    let place = Place::new();
    let list = |words: &[&str]| place.envtax([&["list"], words].concat()).run();
    let all = list(&["flags"]).exits(0).prints("m  levels:").prints("c  contended:");
    let one = list(&["flags", "m"]).exits(0).prints("m  levels:").prints("What to do: ");
    assert!(one.out.lines().count() < 10 && !one.out.contains("contended"), "{}", one.out);
    let line = |text: &str| text.lines().find(|line| line.starts_with("m  ")).map(str::to_owned);
    assert_eq!(line(&one.out), line(&all.out));
    list(&["flags", "(cm)"]).exits(0).prints("m  levels:").prints("c  contended:");
    list(&["flags", "1"]).exits(2).complains("there is no flag `1`");
    list(&["probes", "m"]).exits(2).complains("only `envtax list flags` takes letters");
}

/// For an issue: one command, a table that fits a screen, the sentences, the machine's state.
#[test]
fn markdown_has_a_summary() {
    let place = place();
    let args = ["compare", "run.jsonl", "--format", "markdown"];
    let section = |name: &str| place.envtax(args).args(["--section", name]).run().exits(0);
    let summary = section("summary");
    assert!(summary.out.lines().count() <= 24, "{}", summary.out);
    let screen = place.envtax(["compare", "run.jsonl"]).run().exits(0);
    let joined = screen.out.replace('\n', " ");
    let state = summary.out.lines().last().unwrap().strip_prefix("- ").unwrap();
    assert!(joined.contains(state), "{state}: {}", screen.out);
    assert!(summary.out.contains("| --- | ---: |"), "{}", summary.out);
    let rows = section("rows");
    assert!(rows.out.lines().all(|line| line.starts_with("| ")), "{}", rows.out);
    // What is above the rows when nothing is chosen.
    place.envtax(args).run().exits(0).prints(&format!("- {state}\n"));
}
