//! A hostile agent: each row is one lie and its effect. An honest agent answers, and a stream
//! editor changes one kind of its messages. Fifteen rows at a time are the environments of one run,
//! which also shows that no row harms another.

use crate::support::Place;

const PROBE: &str = "syscall.getppid";
/// The most memory of the controller, whatever its agents send.
const MEMORY_KIB: u64 = 64 << 10;

/// How a row ends: measured as if nothing were wrong, or failed for a reason with these words.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Borne,
    Fails(&'static str),
}

use Ends::{Borne, Fails};

/// What a row replaces, its replacement (both for `sed`), and how the row ends.
type Row = (&'static str, &'static str, Ends);

/// Changes of a message's frame, which are the same for all kinds of messages. Each one makes
/// garbage.
const FRAMES: [Row; 14] = [
    ("\"answer\":.*", "\"answer\":null}", Fails("garbage")),
    ("\"answer\":.*", "\"answer\":7}", Fails("garbage")),
    ("\"answer\":.*", "\"answer\":\"nonsense\"}", Fails("garbage")),
    ("\"answer\":.*", "\"answer\":[]}", Fails("garbage")),
    ("\"answer\":.*", "\"answer\":{}}", Fails("garbage")),
    ("\"answer\":.*", "\"answer\":{\"nonsense\":{}}}", Fails("garbage")),
    ("\"id\":[0-9]*", "\"id\":-1", Fails("garbage")),
    ("\"id\":[0-9]*", "\"id\":\"1\"", Fails("garbage")),
    ("\"id\":[0-9]*", "\"id\":1e400", Fails("garbage")),
    ("\"id\":[0-9]*", "\"id\":99999999999999999999", Fails("garbage")),
    ("\"id\":[0-9]*,", "", Fails("garbage")),
    (".......$", "", Fails("garbage")),
    ("$", "}", Fails("garbage")),
    ("{\"id\"", "[[[[[[[[{\"id\"", Fails("garbage")),
];

/// Runs the rows of one kind of message: the frames, its own rows, and an answer of another kind.
fn check(message: &str, other: Ends, rows: &[Row]) {
    let others = [
        ("\"answer\":.*", "\"answer\":\"cleaned\"}", other),
        ("\"answer\":.*", "\"answer\":{\"put\":{\"path\":\"/\"}}}", other),
    ];
    let rows: Vec<&Row> = FRAMES.iter().chain(&others).chain(rows).collect();
    rows.chunks(15).for_each(|rows| check_rows(message, rows));
}

/// Each row is an environment of one run.
fn check_rows(message: &str, rows: &[&Row]) {
    let place = Place::new();
    let mut environments = vec!["native".to_owned()];
    for (at, (what, with, _)) in rows.iter().enumerate() {
        // As the first line of a `sed` program, where no quote has to be escaped.
        place.write(&format!("r{at}.sed"), format!("/{message}/s\u{1}{what}\u{1}{with}\u{1}\n"));
        let program = place.path(&format!("r{at}.sed"));
        environments.push(place.fake(&format!("r{at}"), &format!("\"$@\" | sed -u -f {program}")));
    }
    let environments: Vec<&str> = environments.iter().map(String::as_str).collect();
    let run = place.run(&environments, &[PROBE]).args(["--budget", "20s", "--launches", "1"]);
    let done = run.start().wait_clean();
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done:?}");
    assert!(!done.err.contains("panicked"), "{done:?}");
    assert!((1..=MEMORY_KIB).contains(&done.peak_kib), "{message}: {} KiB", done.peak_kib);
    let comparison = place.comparison("run.jsonl");
    comparison.measured(PROBE, "native");
    let mut wrong = Vec::new();
    for (at, (what, with, ends)) in rows.iter().enumerate() {
        let cell = comparison.cell(PROBE, &format!("r{at}"));
        let failed = cell["failed"].to_string();
        let right = match ends {
            Borne => cell["measured"]["cost"].as_f64().is_some_and(|cost| cost > 0.0),
            Fails(words) => cell["failed"].is_object() && failed.contains(words),
        };
        if !right {
            let shown: String = cell.to_string().chars().take(300).collect();
            wrong.push(format!("{message}: `{what}` -> `{with}`: not {ends:?}, but {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn greetings() {
    check(
        "\"hello\":",
        Fails("does not greet first"),
        &[
            ("\"version\":[0-9]*", "\"version\":0", Fails("speaks protocol 0")),
            ("\"version\":[0-9]*", "\"version\":4294967295", Fails("speaks protocol")),
            ("\"version\":[0-9]*", "\"version\":4294967296", Fails("garbage")),
            ("\"version\":[0-9]*", "\"version\":-1", Fails("garbage")),
            ("\"version\":[0-9]*,", "", Fails("garbage")),
            ("\"cpus\":[^]]*", "\"cpus\":[18446744073709551615", Borne),
            ("\"cpus\":[^]]*", "\"cpus\":[0,0,0,0,0,0", Borne),
            ("\"cpus\":[^]]*", "\"cpus\":[\"x\"", Fails("garbage")),
            ("\"cpus\":[^]]*", "\"cpus\":[-1", Fails("garbage")),
            ("\"target\":\"[^\"]*", "\"target\":\"\\\\u001b[2J", Borne),
            ("\"target\":\"[^\"]*", "\"target\":\"", Borne),
            ("\"envtax\":\"[^\"]*", "\"envtax\":\"9.9.9", Borne),
        ],
    );
}

#[test]
fn answers_about_the_clock() {
    check(
        "\"answer\":{\"clock\":",
        Fails("tells nothing about its clock"),
        &[
            ("\"cost_ns\":[^,]*", "\"cost_ns\":-1", Fails("")),
            ("\"cost_ns\":[^,]*", "\"cost_ns\":1e300", Fails("")),
            ("\"cost_ns\":[^,]*", "\"cost_ns\":null", Fails("garbage")),
            ("\"cost_ns\":[^,]*", "\"cost_ns\":\"x\"", Fails("garbage")),
            ("\"readings\":[0-9]*", "\"readings\":18446744073709551615", Fails("")),
            ("\"readings\":[0-9]*", "\"readings\":-1", Fails("garbage")),
            ("\"granularity_ns\":[0-9]*", "\"granularity_ns\":18446744073709551615", Fails("")),
            ("\"sample_ns\":[^}]*", "\"sample_ns\":-1", Borne),
            ("\"sample_ns\":[^}]*", "\"sample_ns\":0", Borne),
            ("\"sample_ns\":[^}]*", "\"sample_ns\":null", Fails("garbage")),
        ],
    );
}

#[test]
fn facts() {
    check(
        "\"answer\":{\"facts\":",
        Borne,
        &[
            ("\"facts\":.*", "\"facts\":{}}}", Borne),
            ("\"facts\":.*", "\"facts\":{\"kernel\":\"\\\\u001b]52;c;x\\\\u0007\"}}}", Borne),
            ("\"facts\":.*", "\"facts\":{\"\":\"\"}}}", Borne),
            ("\"facts\":.*", "\"facts\":{\"kernel\":7}}}", Fails("garbage")),
            ("\"facts\":.*", "\"facts\":{\"kernel\":null}}}", Fails("garbage")),
            ("\"facts\":.*", "\"facts\":[]}}", Fails("garbage")),
        ],
    );
}

#[test]
fn answers_about_directories() {
    check(
        "\"answer\":{\"dirs\":",
        Borne,
        &[
            ("\"dirs\":\\[.*", "\"dirs\":[]}}}", Borne),
            ("\"dirs\":\\[.*", "\"dirs\":[{\"facts\":{}}]}}}", Borne),
            ("\"dirs\":\\[.*", "\"dirs\":[{\"facts\":{}},{\"facts\":{}},{\"facts\":{}}]}}}", Borne),
            ("\"dirs\":\\[.*", "\"dirs\":[7]}}}", Fails("garbage")),
            ("\"dirs\":\\[.*", "\"dirs\":{}}}}", Fails("garbage")),
            ("\"dirs\":\\[.*", "\"dirs\":[],\"removed\":[\"\\\\u001b[2J\"]}}}", Borne),
            ("\"dirs\":\\[.*", "\"dirs\":[],\"removed\":7}}}", Fails("garbage")),
        ],
    );
}

#[test]
fn answers_of_tuning() {
    check(
        "\"answer\":{\"tuned\":",
        Fails(""),
        &[
            ("\"iterations\":[0-9]*", "\"iterations\":0", Fails("")),
            ("\"iterations\":[0-9]*", "\"iterations\":-1", Fails("garbage")),
            ("\"iterations\":[0-9]*", "\"iterations\":1.5", Fails("garbage")),
            ("\"each_ns\":[^,]*", "\"each_ns\":null", Fails("garbage")),
            ("\"each_ns\":[^,]*", "\"each_ns\":\"x\"", Fails("garbage")),
            ("\"each_ns\":[^,]*", "\"each_ns\":1e400", Fails("garbage")),
            ("\"most\":[0-9]*", "\"most\":-1", Fails("garbage")),
            ("\"answer\":.*", "\"answer\":{\"failed\":{\"reason\":\"no\"}}}", Fails("no")),
        ],
    );
}

#[test]
fn blocks() {
    check(
        "\"answer\":{\"block\":",
        Fails(""),
        &[
            ("\"iterations\":[0-9]*", "\"iterations\":0", Fails("has 0 iterations a sample")),
            ("\"iterations\":[0-9]*", "\"iterations\":18446744073709551615", Fails("")),
            ("\"iterations\":[0-9]*", "\"iterations\":-1", Fails("garbage")),
            ("\"iterations\":[0-9]*", "\"iterations\":\"x\"", Fails("garbage")),
            ("\"iterations\":[0-9]*,", "", Fails("garbage")),
            ("\"samples\":[^]]*]*", "\"samples\":[]", Fails("0 phases")),
            ("\"samples\":[^]]*]*", "\"samples\":[[]]", Fails("number of samples")),
            ("\"samples\":[^]]*]*", "\"samples\":[[1],[1]]", Fails("2 phases")),
            ("\"samples\":[^]]*]*", "\"samples\":[[-1]]", Fails("garbage")),
            ("\"samples\":[^]]*]*", "\"samples\":[[1.5]]", Fails("garbage")),
            ("\"samples\":[^]]*]*", "\"samples\":[[18446744073709551615]]", Fails("`samples`")),
            ("\"samples\":[^]]*]*", "\"samples\":[[1e400]]", Fails("garbage")),
            ("\"samples\":[^]]*]*", "\"samples\":7", Fails("garbage")),
            ("\"samples\":[^]]*]*", "\"samples\":null", Fails("garbage")),
            ("\"start_ns\":[0-9]*", "\"start_ns\":18446744073709551615", Fails("`start_ns`")),
            ("\"end_ns\":[0-9]*", "\"end_ns\":18446744073709551615", Fails("`end_ns`")),
            ("\"end_ns\":[0-9]*", "\"end_ns\":0", Borne),
            ("\"pinned\":[a-z]*", "\"pinned\":7", Fails("garbage")),
            ("\"pinned\":[a-z]*", "\"pinned\":false", Borne),
            ("\"user_ns\":[0-9]*", "\"user_ns\":18446744073709551615", Fails("`user_ns`")),
            ("\"minor_faults\":[0-9]*", "\"minor_faults\":-1", Fails("garbage")),
            ("\"usage\":{[^}]*}", "\"usage\":{}", Fails("garbage")),
            ("\"usage\":{[^}]*}", "\"usage\":null", Fails("garbage")),
            ("\"pinned\"", "\"extras\":{\"notes\":[7]},\"pinned\"", Fails("garbage")),
            ("\"pinned\"", "\"extras\":{\"notes\":[\"\\\\u001b[2J\"]},\"pinned\"", Borne),
            (
                "\"pinned\"",
                "\"extras\":{\"counters\":{\"a\":18446744073709551615}},\"pinned\"",
                Fails("`counters`"),
            ),
            (
                "\"pinned\"",
                "\"extras\":{\"latencies\":{\"a\":[[1,18446744073709551615]]}},\"pinned\"",
                Fails("`latencies`"),
            ),
            ("\"answer\":.*", "\"answer\":{\"failed\":{\"reason\":\"no\"}}}", Fails("no")),
        ],
    );
}

/// Messages of nearly a megabyte, one after the other without end, from the first question on.
#[test]
fn floods_take_little_memory() {
    let filled = |begin: &str, piece: &str, end: &str| {
        let pieces = ((1 << 20) - 100 - begin.len() - end.len()) / piece.len();
        format!("{begin}{}{end}", piece.repeat(pieces))
    };
    let message = |answer: &str, piece: &str, end: &str| {
        let begin = format!("@envtax {{\"id\":1,\"answer\":{{{answer}");
        filled(&begin, piece, &format!("{end}}}}}\n"))
    };
    let names: String = (0..90_000).map(|at| format!("\"{at}\":0,")).collect();
    let floods = [
        // The worst of all: forty times their size once they are parsed.
        message("\"failed\":{\"what\":\"x\",\"y\":[", "[0],", "[0]]}"),
        message("\"failed\":{\"what\":\"x\",\"y\":[", "0,", "0]}"),
        message("\"failed\":{\"what\":\"x\",\"y\":[", "\"\\u001b\",", "0]}"),
        message("\"failed\":{\"what\":\"", "\\u001b", "\"}"),
        message(&format!("\"facts\":{{{names}\"x\":\""), "x", "\"}"),
        message("\"facts\":{\"x\":\"", "x", "\"}"),
        message("\"block\":{\"iterations\":1,\"samples\":[[", "1,", "1]]}"),
        message("\"clock\":{\"clock\":{\"name\":\"", "\\u202e", "\"}}"),
        filled("@envtax ", "[", "\n"),
        filled("", "\u{1b}", "\n"),
        filled("", "\u{202e}", "\n"),
        filled("", "@envtax ", "\n"),
        // No end of the line.
        filled("@envtax ", "{\"a\":", ""),
    ];
    let place = Place::new();
    let mut environments = vec!["native".to_owned()];
    for (at, flood) in floods.iter().enumerate() {
        let file = place.write(&format!("flood{at}"), flood);
        // The greeting is the agent's own.
        let script = format!(
            "\"$@\" | {{ read -r hello; printf '%s\\n' \"$hello\"; while cat {file}; do :; done; }}"
        );
        environments.push(place.fake(&format!("f{at}"), &script));
    }
    let environments: Vec<&str> = environments.iter().map(String::as_str).collect();
    let run = place.run(&environments, &[PROBE]);
    let run = run.args(["--budget", "20s", "--launches", "1", "--answer-timeout", "5s"]);
    let done = run.start().wait_clean();
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done:?}");
    assert!(!done.err.contains("panicked"), "{done:?}");
    assert!((1..=MEMORY_KIB).contains(&done.peak_kib), "{} KiB", done.peak_kib);
    place.comparison("run.jsonl").measured(PROBE, "native");
}
