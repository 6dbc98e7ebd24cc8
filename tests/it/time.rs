//! `envtax time`: commands that succeed and fail, and that nothing of them is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Comparison, Done, Envtax, Place, needs};

/// `envtax time … -o run.jsonl`, with two runs.
fn time<'a>(place: &'a Place, args: &[&str]) -> Envtax<'a> {
    place.envtax(["time", "--long", "-o", "run.jsonl", "--runs", "3"]).args(args)
}

/// Runs it to its end; a part of the run must fail.
fn fails(place: &Place, args: &[&str], words: &str) -> Done {
    let done = time(place, args).start().wait_clean().exits(3);
    done.complains(words)
}

fn wall(place: &Place) -> Comparison {
    place.comparison("run.jsonl")
}

/// A program in the place.
fn program(place: &Place, name: &str, script: &str) -> String {
    let path = place.write(name, script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn runs_are_as_many_as_asked_for() {
    let place = Place::new();
    let log = place.path("log");
    let line = |word: &str| format!("sh -c 'echo {word} >> {log}'");
    let (prepare, run, conclude) = (line("prepare"), line("run"), line("conclude"));
    let args = ["--warmup", "2", "--prepare", &prepare, "--conclude", &conclude, &run];
    let done = time(&place, &args).start().wait_clean().exits(0).prints("wall");
    assert!(!done.out.contains("rounds") && !done.out.contains("skipped"), "{}", done.out);
    let each = "prepare\nrun\nconclude\n";
    assert_eq!(place.read("log"), each.repeat(1 + 2 + 3), "the first, those warming up, and three");
    wall(&place).measured("command", "native");
}

#[test]
fn one_environment_that_is_left_of_several_is_not_measured() {
    let place = Place::new();
    let mark = place.path("mark");
    let environments = ["--env", "native", "--env", "gone=cmd:false"];
    let args = [&environments[..], &["--", "touch", &mark]].concat();
    let done = time(&place, &args).start().wait_clean().exits(2);
    let done = done.complains("environment `gone` (cmd:false) did not start");
    done.complains("nothing was measured: `gone` did not start").complains("leave it out");
    assert!(!fs::exists(place.path("run.jsonl")).unwrap() && !fs::exists(&mark).unwrap());
    // Where another one is left, it is measured, and the reason is told.
    let three = [&["--env", "other=native"], &args[..]].concat();
    let done = time(&place, &three).start().wait_clean().exits(3);
    done.complains("environment `gone` (cmd:false) did not start")
        .prints("gone")
        .prints("did not start");
}

#[test]
fn setup_and_cleanup_are_done_once_however_many_columns_there_are() {
    let place = Place::new();
    let data = place.path("data");
    let (setup, cleanup) = (format!("mkdir {data}"), format!("rmdir {data}"));
    let around = ["--setup", &setup, "--cleanup", &cleanup];
    let list = format!("ls {data}");
    let done = time(&place, &[&around[..], &["--env", "native", "--env", "a=native"]].concat());
    done.args([&list, "true"]).start().wait_clean().exits(0);
    assert!(!place.has("data"));
    // After a failed set-up, the clean-up commands run and nothing is measured.
    let around = ["--setup", &setup, "--setup", "echo no >&2; false", "--cleanup", &cleanup];
    let done = time(&place, &around).args(["--force", "true"]).start().wait_clean().exits(2);
    done.complains("--setup 'echo no >&2; false'").complains("it printed: no");
    assert!(!place.has("data"));
}

#[test]
fn a_shell_is_timed_beside() {
    let place = Place::new();
    let done = time(&place, &["--shell", "echo a | cat"]).start().wait_clean().exits(0);
    done.prints("an empty shell");
    wall(&place).measured("shell", "native").measured("command", "native");
}

#[test]
fn a_command_that_is_not_there_leaves_the_others_their_rows() {
    let place = Place::new();
    let done = fails(&place, &["true", "no-such-program"], "there is no program `no-such-program`");
    let done =
        done.complains("write one command with arguments as `envtax time -- true no-such-program`");
    done.prints("1 row failed: there is no program `no-such-program` in this environment");
    wall(&place).measured("command", "true").failed("command", "no-such-program", "no program");
}

#[test]
fn what_cannot_be_executed_says_why() {
    let place = Place::new();
    let plain = place.write("plain", "#!/bin/sh\n");
    fails(&place, &[&plain], "may not be executed");
    let bad = program(&place, "bad", "#!/no/such/shell\n");
    fails(&place, &["--force", &bad], "but what runs it does not");
    let text = program(&place, "text", "echo a\n");
    fails(&place, &["--force", &text], "is no program of this environment");
    let folder = place.path("target");
    fails(&place, &["--force", &folder], "may not be executed");
}

#[test]
fn a_command_that_fails_is_quoted() {
    let place = Place::new();
    let line = "ls /no/such/folder";
    let done = fails(&place, &["true", line], "it printed: ls: cannot access '/no/such/folder'");
    done.complains("ended with exit status: 2").complains("--ignore-failure");
    wall(&place).measured("command", "true").failed("command", line, "/no/such/folder");
}

#[test]
fn a_command_that_dies_by_a_signal_says_which() {
    let place = Place::new();
    fails(&place, &["sh -c 'kill -SEGV $$'"], "ended with signal: 11 (SIGSEGV)");
}

/// The first runs succeed; the third counted one fails.
#[test]
fn a_command_that_fails_sometimes_says_when() {
    let place = Place::new();
    let log = place.path("log");
    let line = format!("sh -c 'echo >> {log}; [ $(wc -l < {log}) -ne 4 ]'");
    fails(&place, &[&line], "after 2 good runs");
    fs::remove_file(&log).unwrap();
    let all = time(&place, &["--force", "--ignore-failure", &line]).start().wait_clean().exits(0);
    all.prints("the command ended with exit status: 1 (1 of 3 runs)");
    wall(&place).measured("command", "native");
}

#[test]
fn a_command_may_fail_in_one_environment_only() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let file = place.write("here", "");
    let hidden = format!("hidden=bwrap:--tmpfs {}", place.path(""));
    let args = ["--env", "native", "--env", &hidden, "--", "ls", &file];
    fails(&place, &args, "in `hidden` failed").prints("ended with exit status: 2");
    wall(&place).measured("command", "native").failed("command", "hidden", "exit status: 2");
}

#[test]
fn a_command_that_never_ends_is_killed_with_its_children() {
    let place = Place::new();
    let line = "sh -c 'sleep 1000 & setsid sleep 1000 & sleep 1000'";
    let done = fails(&place, &["--timeout", "300ms", "true", line], "was not finished after 0.3 s");
    done.complains("--timeout");
    wall(&place).measured("command", "true").failed("command", line, "--timeout");
}

#[test]
fn children_that_a_command_leaves_are_ended() {
    let place = Place::new();
    let line = "sh -c 'sleep 1000 & setsid sleep 1000 & setsid -f sh -c \"sleep 1000; :\"'";
    let done = time(&place, &[line]).start().wait_clean().exits(0);
    done.prints("the command left processes behind, which were ended after it");
    wall(&place).measured("command", "native");
}

/// Discarded output may have any length; output that is kept for a check may not.
#[test]
fn a_command_that_floods_its_output_is_ended() {
    let place = Place::new();
    let line = "sh -c 'yes | head -c 100000000; yes 1>&2 | head -c 100000000 1>&2'";
    time(&place, &[&line.replace("yes 1>&2", "yes")]).start().wait_clean().exits(0);
    let args = ["--force", "--verify-output", "true", "yes"];
    fails(&place, &args, "wrote more than 1 GiB and was killed");
    wall(&place).measured("command", "true").failed("command", "yes", "1 GiB");
}

#[test]
fn a_command_that_reads_gets_the_end_or_the_file() {
    let place = Place::new();
    time(&place, &["cat"]).start().wait_clean().exits(0);
    let text = place.write("text", "hello\n");
    let args = ["--force", "--stdin", &text, "grep -q hello"];
    time(&place, &args).start().wait_clean().exits(0);
    let args = ["--force", "--stdin", "/no/such/file", "cat"];
    fails(&place, &args, "the input `/no/such/file` is not there in this environment");
}

#[test]
fn a_command_that_changes_its_input_is_found_out() {
    let place = Place::new();
    let input = place.write("input", "a\n");
    let args = ["--input", &input, "sh -c 'echo more >> {}'"];
    let done = time(&place, &args).start().wait_clean().exits(0);
    done.prints("the command changes its input");
    let remove = ["--force", "--input", &input, "rm {}"];
    fails(&place, &remove, "the command removes its input");
    // An input that is made before each run may be used up by it.
    let prepare = ["--force", "--prepare", &format!("touch {input}"), "--input", &input, "rm {}"];
    let done = time(&place, &prepare).start().wait_clean().exits(0);
    assert!(!done.out.contains("its input"), "{}", done.out);
}

#[test]
fn a_preparation_that_fails_says_so() {
    let place = Place::new();
    let args = ["--prepare", "ls /no/such/folder", "true"];
    fails(&place, &args, "--prepare: `ls /no/such/folder` ended with exit status: 2");
    fails(&place, &["--force", "--conclude", "no-such-program", "true"], "there is no program");
}

#[test]
fn inputs_go_where_they_are_not_when_asked() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("data")).unwrap();
    let input = place.write("data/in put", "x".repeat(300_000));
    let stdin = place.write("data/stdin", "");
    let hidden = format!("hidden=bwrap:--tmpfs {}", place.path("data"));
    let environments = ["--env", "native", "--env", &hidden];
    let command = ["--stdin", &stdin, "--input", &input, "--", "grep", "-cq", "xxx", "{}"];
    let args = [&environments[..], &command].concat();
    fails(
        &place,
        &args,
        "is not there in this environment; if it is where envtax was started, `--stage`",
    );
    let row = "command input=in_put";
    wall(&place).measured(row, "native").failed(row, "hidden", "--stage");
    let args = [&["--force", "--stage"], &args[..]].concat();
    time(&place, &args).start().wait_clean().exits(0);
    wall(&place).measured(row, "native").measured(row, "hidden");
    // Environments that keep inputs in the same folder, and are started again one after the other.
    let often = place.envtax(["time", "--long", "-o", "often.jsonl", "--precision", "1000"]);
    let args = [&["--stage"], &environments[..], &["--input", &input, "--", "test", "-e", "{}"]];
    often.args(args.concat()).start().wait_clean().exits(0);
    let again = |line: &&str| line.starts_with("{\"record\":\"launch\"");
    assert!(place.read("often.jsonl").lines().filter(again).count() >= 4, "launched once");
    let args = ["--force", "--stage", "--input", "/no/such", "cat {}"];
    time(&place, &args).run().exits(2).complains("`--input /no/such`");
}

#[test]
fn what_is_asked_wrongly_is_refused() {
    let place = Place::new();
    let refused = |args: &[&str], words: &str| {
        time(&place, args).run().exits(2).complains(words);
        assert!(!place.has("run.jsonl"));
    };
    refused(&["cat {}"], "give one with `--input FILE`");
    refused(&["--input", "a", "cat"], "the command does not contain `{}`");
    refused(&["--parameter", "n=1", "cat"], "the command does not contain `{n}`");
    refused(&["--parameter", "n", "cat"], "write `--parameter NAME=VALUE,VALUE`");
    refused(&["--input", "a", "--input", "a", "cat {}"], "`--input a` is given twice");
    refused(&["ls | wc"], "is for a shell: add `--shell`");
    refused(&["ls 'a"], "the quotes in");
    refused(&["ls>x"], "`>` in `ls>x` is for a shell");
    refused(&["--prepare", "echo $HOME", "true"], "`$` in `echo $HOME` is for a shell");
    refused(&["true", "true"], "the command `true` is given twice");
    refused(&["--parameter", "n=1,2,1", "echo {n}"], "two rows would be called `n=1`");
    refused(&["--input", "x y", "--input", "x_y", "cat {}"], "two rows would be called");
    refused(&[], "there is no command");
}
