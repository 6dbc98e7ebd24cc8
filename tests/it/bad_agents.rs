//! Environments whose agent misbehaves: noise is tolerated, and everything else is a failure of
//! that environment alone.

use std::process::Command;

use crate::support::{Done, Place};

const PROBE: &str = "syscall.getppid";
/// The budget is longer than the waiting. Native alone is precise long before it ends.
const BUDGET: [&str; 2] = ["--budget", "8s"];
/// For tests that wait for silence: no answer takes longer, even on a busy machine.
const SHORT_ANSWER_LIMIT: [&str; 2] = ["--answer-timeout", "4s"];

/// Runs native beside an environment that this script starts. In the script, the shell expands
/// `"$@"` to the command to run there.
fn beside(place: &Place, script: &str, more: &[&str]) -> Done {
    place.run(&["native", &place.fake("x", script)], &[PROBE]).args(BUDGET).args(more).run()
}

/// The environment of this script is measured as if it printed nothing else.
#[track_caller]
fn is_borne(script: &str) {
    let place = Place::new();
    beside(&place, script, &[]).exits(0);
    place.comparison("run.jsonl").measured(PROBE, "native").measured(PROBE, "x");
    place.is_clean();
}

/// The environment of this script fails with these words in the reason; native is measured.
#[track_caller]
fn fails_alone(script: &str, words: &str) {
    fails_alone_with(script, words, &[]);
}

/// The environment of this script stops answering; native is measured.
#[track_caller]
fn falls_silent(script: &str) {
    fails_alone_with(script, "no answer within", &SHORT_ANSWER_LIMIT);
}

#[track_caller]
fn fails_alone_with(script: &str, words: &str, more: &[&str]) {
    let place = Place::new();
    beside(&place, script, more).exits(3).prints("`x`").prints(words);
    place.comparison("run.jsonl").measured(PROBE, "native").failed(PROBE, "x", words);
    place.is_clean();
}

#[test]
fn a_greeting_of_the_system_is_borne() {
    is_borne("echo Welcome to Linux; echo; echo 'no mail' >&2; exec \"$@\"");
}

#[test]
fn a_prompt_without_a_line_end_is_borne() {
    is_borne("printf 'login: '; exec \"$@\"");
}

#[test]
fn chatter_between_messages_is_borne() {
    is_borne("\"$@\" | while read -r line; do echo tick; printf '%s\\n' \"$line\"; done");
    is_borne("\"$@\" | sed -u 's/^/[container] /'");
}

#[test]
fn bytes_that_are_no_text_are_borne() {
    is_borne("printf '\\377\\376\\200\\000\\n\\303'; exec \"$@\"");
}

#[test]
fn line_ends_of_windows_are_borne() {
    is_borne("\"$@\" | sed -u 's/$/\\r/'");
}

#[test]
fn a_flood_on_the_error_output_is_borne() {
    // More output than a pipe holds: if nobody read it, the agent would never greet.
    is_borne("head -c 3000000 /dev/zero | tr '\\0' e >&2; yes oops | head -n 100000 >&2; \"$@\"");
}

/// `ssh` with ControlPersist does this: a background process keeps the outputs open. It belongs to
/// the run and ends with it.
#[test]
fn a_process_left_in_the_background_does_not_hold_up_the_end() {
    let place = Place::new();
    let spec = place.fake("x", "setsid sleep 3600 & exec \"$@\"");
    let mut running = place.run(&["native", &spec], &[PROBE]).args(BUDGET).start();
    running.until_recorded("end", 1);
    let ended = running.ends_within(20);
    assert!(ended, "envtax waits for a process that the launcher left in the background");
    running.wait().exits(0);
    place.is_clean();
}

#[test]
fn silence_before_the_greeting_ends_at_the_time_limit() {
    falls_silent("echo waiting for password; sleep 3600");
    falls_silent("exec sleep 3600");
}

#[test]
fn silence_after_the_greeting_ends_at_the_time_limit() {
    falls_silent("\"$@\" | { read -r a; echo \"$a\"; exec sleep 3600; }");
}

#[test]
fn silence_in_the_middle_ends_at_the_time_limit() {
    let relay = "read -r a; echo \"$a\"; read -r a; echo \"$a\"; read -r a; echo \"$a\"";
    falls_silent(&format!("\"$@\" | {{ {relay}; exec sleep 3600; }}"));
}

/// A process keeps the pipe open, but no agent is left to answer.
#[test]
fn an_agent_that_is_gone_is_not_waited_for() {
    let gone = "a process of it ended, and no answer comes";
    fails_alone_with("\"$@\" | sed -u 3q; sleep 3600", gone, &["--answer-timeout", "1h"]);
}

#[test]
fn waiting_for_an_environment_is_not_paid_from_the_budget_of_the_others() {
    let place = Place::new();
    let run = place.run(&["native", &place.fake("x", "exec sleep 3600")], &[PROBE]);
    run.args(["--budget", "1s", "--answer-timeout", "2s"]).run().exits(3);
    place.comparison("run.jsonl").measured(PROBE, "native");
}

#[test]
fn chatter_without_end_is_no_answer() {
    falls_silent("exec yes");
}

#[test]
fn a_line_without_end_is_refused() {
    fails_alone("yes | tr -d '\\n'", "1048576 bytes");
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let long = "head -c 1100000 /dev/zero | tr '\\0' x; echo";
    fails_alone(&format!("{long}; exec \"$@\""), "1048576 bytes");
    fails_alone(&format!("printf '@envtax '; {long}; sleep 3600"), "1048576 bytes");
}

#[test]
fn garbage_instead_of_a_greeting_is_shown() {
    fails_alone("echo '@envtax {nonsense'; sleep 3600", "{nonsense");
}

#[test]
fn garbage_in_the_middle_is_shown() {
    fails_alone("\"$@\" | sed -u '3s/{.*/{nonsense/'", "{nonsense");
}

#[test]
fn an_answer_before_the_greeting_is_refused() {
    let answer = "@envtax {\"id\":1,\"answer\":\"cleaned\"}";
    fails_alone(&format!("echo '{answer}'; exec \"$@\""), "does not greet first");
}

#[test]
fn another_version_of_the_protocol_is_named() {
    let script = "\"$@\" | sed -u 's/\"version\":[0-9]*/\"version\":999/'";
    fails_alone(script, "the agent there speaks protocol 999");
}

#[test]
fn an_output_that_is_closed_is_no_greeting() {
    fails_alone("exec >&-; exec sleep 3600", "closed its output");
}

/// Message 1 is the greeting, 2 of the clock, 3 the facts, 4 of directories, 5 of tuning, then
/// blocks.
#[test]
fn an_agent_that_dies_at_any_message_is_that_environments_failure() {
    for messages in 1..=6 {
        // An answer that is written before its reader has gone is no error, so all processes are
        // killed. There is one launch only: another would start another agent.
        let script = format!("\"$@\" | {{ sed -u {messages}q; kill 0; }}");
        fails_alone_with(&script, "the agent ended", &["--launches", "1"]);
    }
}

#[test]
fn an_environment_that_does_not_start_again_loses_its_rows_only() {
    let place = Place::new();
    // The first start is honest for some messages; later starts find this file and refuse.
    let mark = place.path("started");
    let script = format!(
        "[ -e {mark} ] && {{ echo maintenance >&2; exit 9; }}; touch {mark}; \"$@\" | sed -u 6q"
    );
    let run = place.run(&["native", &place.fake("x", &script)], &[PROBE, "process.fork"]);
    run.args(BUDGET).run().exits(3).prints("`x`").prints("maintenance");
    let comparison = place.comparison("run.jsonl");
    comparison.measured(PROBE, "native").measured("process.fork", "native");
    comparison.failed("process.fork", "x", "").failed(PROBE, "x", "");
    place.is_clean();
}

#[test]
fn without_its_reference_nothing_is_measured() {
    let bad = [
        ("exit 4", "exit status: 4"),
        ("sleep 3600", "no answer within"),
        ("echo '@envtax {nonsense'; sleep 3600", "{nonsense"),
        ("\"$@\" </dev/null; read -r request", "the agent ended"),
    ];
    for (script, words) in bad {
        let place = Place::new();
        let run = place.run(&[&place.fake("x", script), "native"], &[PROBE]).args(BUDGET);
        run.args(SHORT_ANSWER_LIMIT).run().exits(2).complains("environment `x`").complains(words);
        assert!(!place.has("run.jsonl"), "{script}");
        place.is_clean();
    }
}

/// The reason names the command. Run by hand, it fails in the same way.
#[test]
fn the_command_to_run_by_hand_is_one() {
    let place = Place::new();
    let done = beside(&place, "echo \"it's broken\" >&2; exit 6", &[]).exits(3);
    let line = done.err.lines().find_map(|line| line.trim().strip_prefix("by hand: ")).unwrap();
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{line}");
    assert_eq!(output.stderr, b"it's broken\n");
}

/// A shell function that relays some messages of the agent, then stops it.
fn stopped_after(place: &Place, messages: usize) -> String {
    let (fifo, mark) = (place.path("fifo"), place.path("stopped"));
    format!(
        "exec 3<&0; rm -f {fifo}; mkfifo {fifo}; \"$@\" <&3 >{fifo} & n=0; while read -r line; do \
         echo \"$line\"; n=$((n+1)); [ $n -eq {messages} ] && kill -STOP $! && touch {mark}; done \
         <{fifo}"
    )
}

/// An agent that no longer reads is sent more than a pipe holds.
#[test]
fn an_agent_that_does_not_read_what_it_is_sent_is_given_up() {
    let place = Place::new();
    let input = place.write("input", "x".repeat(1 << 20));
    let spec = place.fake("x", &stopped_after(&place, 4));
    let words = ["time", "--long", "-o", "run.jsonl", "--stage", "--env", "native", "--env", &spec];
    let run = place.envtax(words).args(["--runs", "2", "--input", &input, "--", "cat", "{}"]);
    let done = run.start().wait_clean().exits(2);
    done.complains("did not read what it was sent within 30 s").complains("nothing was measured");
}

#[test]
fn an_interrupt_ends_sending_at_once() {
    let place = Place::new();
    let input = place.write("input", "x".repeat(1 << 20));
    let spec = place.fake("x", &stopped_after(&place, 4));
    let words = ["time", "--long", "-o", "run.jsonl", "--stage", "--env", &spec];
    let mut run = place.envtax(words).args(["--input", &input, "--", "cat", "{}"]).start();
    run.until("the agent is stopped", |_| place.has("stopped"));
    run.signal("INT");
    assert!(run.ends_within(20), "the first interrupt is not heard");
    run.wait_clean();
}

/// The greeting arrives, but nobody reads the binary that is sent.
#[test]
fn a_greeting_before_the_binary_is_read_is_no_agent() {
    let place = Place::new();
    let greeting = place.envtax(["agent"]).run().exits(0).out;
    let greeting = place.write("greeting", greeting);
    let script = format!("[ \"$1\" = sh ] || exit 1; cat {greeting}; exec sleep 3600");
    fails_alone_with(&script, "did not read what it was sent", &SHORT_ANSWER_LIMIT);
}

/// Figures of other work than was asked for would be called faster.
#[test]
fn a_block_that_was_not_asked_for_is_refused() {
    let changed = |script: &str| format!("\"$@\" | sed -u '{script}'");
    let iterations = "s/\"iterations\":\\([0-9]*\\),\"samples\"/\"iterations\":9\\1,\"samples\"/";
    fails_alone(&changed(iterations), "iterations a sample, and ");
    let samples = format!("s/\"samples\":\\[\\[/&{}/", "1,".repeat(1000));
    fails_alone(&changed(&samples), "samples, and ");
    let notes = format!("s/\"usage\":{{/\"extras\":{{\"notes\":[\"{}\"]}},&/", "x".repeat(9000));
    fails_alone(&changed(&notes), "notes of more than");
}

#[test]
fn a_long_failure_is_cut() {
    let place = Place::new();
    let error =
        format!("s/{{\"block\":.*/{{\"failed\":{{\"reason\":\"{}\"}}}}}}/", "x".repeat(90_000));
    beside(&place, &format!("\"$@\" | sed -u '{error}'"), &[]).exits(3);
    let file = place.read("run.jsonl");
    assert!(file.contains(&"x".repeat(1000)) && !file.contains(&"x".repeat(10_000)));
}
