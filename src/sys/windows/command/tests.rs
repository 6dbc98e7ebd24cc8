//! Tests of whole commands. The other tests run the ignored ones as commands.

use std::env;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::super::pipe::pipe;
use super::program::{find_program, is_no_program};
use super::*;

const LONG: u64 = 60_000_000_000;

/// The words of a command that runs an ignored test of this binary.
fn own(test: &str, more: &[&str]) -> Vec<String> {
    let this = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let name = format!("sys::windows::command::tests::{test}");
    let words = [&this, "--exact", &name, "--ignored", "--nocapture"];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn order(words: &[String], limit_ns: u64) -> CommandOrder<'_> {
    let (stdin, stdout, stderr) = (None, None, None);
    CommandOrder { words, stdin, stdout, stderr, limit_ns, output_limit: 1000 }
}

fn ordered(order: &CommandOrder<'_>) -> io::Result<CommandEnd> {
    // Nothing can be read from this pipe while its other end is open.
    let (reader, _writer) = pipe().unwrap();
    run_command(order, &Input::from(reader))
}

fn shell(line: &str) -> Vec<String> {
    ["cmd", "/d", "/c", line].map(str::to_owned).to_vec()
}

#[test]
#[ignore = "what a test below runs"]
fn sleeps() {
    print!("{}", "x".repeat(2000));
    io::stdout().flush().unwrap();
    thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "what a test below runs"]
fn leaves_a_child() {
    let words = own("sleeps", &[]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdout(Stdio::null()).spawn().unwrap();
}

#[test]
#[ignore = "what a test below runs"]
fn works() {
    let start = now_ns();
    let mut sum = 0u64;
    while now_ns() - start < 100_000_000 {
        sum = std::hint::black_box(sum + 1);
    }
}

#[test]
#[ignore = "what a test below runs"]
fn repeats_its_input() {
    io::copy(&mut io::stdin(), &mut io::stdout()).unwrap();
}

#[test]
#[ignore = "what a test below runs"]
fn says_its_words() {
    env::args().for_each(|word| println!("<{word}>"));
}

#[test]
fn commands_run_to_their_end() {
    let words = shell("exit 3");
    let done = ordered(&order(&words, LONG)).unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert!(done.end_ns > done.start_ns && done.killed.is_none() && done.left == 0);
    let words = own("works", &[]);
    let done = ordered(&order(&words, LONG)).unwrap();
    assert!(done.status.success(), "{done:?}");
    // Either there is a figure, or it is named as uncounted.
    assert_ne!(done.usage.user_ns > 0, done.uncounted.contains(&"user"), "{done:?}");
    assert_eq!(done.usage.minor_faults > 0, done.usage.user_ns > 0, "{done:?}");
}

#[test]
fn commands_are_ended_when_they_have_to_be() {
    let words = own("sleeps", &[]);
    let killed = |order: &CommandOrder<'_>| ordered(order).unwrap().killed;
    assert_eq!(killed(&order(&words, 1)), Some(Killed::TimedOut));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let flood = CommandOrder { stdout: Some(&out), ..order(&words, LONG) };
    assert_eq!(killed(&flood), Some(Killed::Flooded));
    assert!(fs::read(&out).unwrap().len() > 1000);
    // No process has it open any more.
    fs::remove_file(&out).unwrap();
    let (reader, writer) = pipe().unwrap();
    drop(writer);
    let done = run_command(&order(&words, LONG), &Input::from(reader)).unwrap();
    assert_eq!(done.killed, Some(Killed::Interrupted));
}

#[test]
fn what_a_command_leaves_is_counted_and_ended() {
    let words = own("leaves_a_child", &[]);
    let done = ordered(&order(&words, LONG)).unwrap();
    assert!(done.status.success() && done.left == 1, "{done:?}");
}

#[test]
fn streams_are_files_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let [input, out] = ["in", "out"].map(|name| dir.path().join(name));
    fs::write(&input, "what is repeated").unwrap();
    let words = own("repeats_its_input", &[]);
    let order = CommandOrder { stdin: Some(&input), stdout: Some(&out), ..order(&words, LONG) };
    let repeated = |order: &CommandOrder<'_>| {
        let done = ordered(order).unwrap();
        assert!(done.status.success(), "{done:?}");
        fs::read_to_string(&out).unwrap().contains("what is repeated")
    };
    assert!(repeated(&order));
    assert!(!repeated(&CommandOrder { stdin: None, ..order }));
    // Writing to a discarded output is no error.
    assert!(ordered(&CommandOrder { stdout: None, ..order }).unwrap().status.success());
}

#[test]
fn words_arrive_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let odd = ["a b", "", "c\"d", "e\\", "f g\\", "h\\\"i j", "\\\\k", "l\tm", "'n'", "%o%"];
    let words = own("says_its_words", &odd);
    let order = CommandOrder { stdout: Some(&out), output_limit: 10_000, ..order(&words, LONG) };
    assert!(ordered(&order).unwrap().status.success());
    let said = fs::read_to_string(&out).unwrap();
    for word in odd {
        assert!(said.contains(&format!("<{word}>\n")), "{word} in {said}");
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let error = |word: &str| {
        let words = [word.to_owned()];
        ordered(&order(&words, LONG)).unwrap_err()
    };
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(error("no-such-program").kind(), io::ErrorKind::NotFound);
    assert_eq!(error(&place("no-such.exe")).kind(), io::ErrorKind::NotFound);
    assert_eq!(error(&place("")).kind(), io::ErrorKind::PermissionDenied);
    for (name, text) in [("script", "#!/bin/sh\n"), ("elf", "\x7fELF"), ("empty.exe", "")] {
        fs::write(place(name), text).unwrap();
        assert!(is_no_program(&error(&place(name))), "{name}");
    }
    fs::write(place("x.bat"), "rem").unwrap();
    assert!(error(&place("x.bat")).to_string().contains("cmd /c"));
}

#[test]
fn programs_are_found_without_their_ending() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(place("tool"), "").unwrap();
    assert_eq!(find_program(&place("tool")), Some(place("tool").into()));
    for (name, found) in [("tool", "tool.exe"), ("tool.1", "tool.1.exe")] {
        fs::write(place(found), "").unwrap();
        assert_eq!(find_program(&place(name)), Some(place(found).into()));
    }
    assert!(find_program("cmd").unwrap().ends_with("cmd.exe"));
    assert_eq!(find_program("no-such-program"), None);
}
