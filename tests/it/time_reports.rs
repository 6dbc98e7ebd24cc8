//! Reports of whole commands: the tables of a published comparison, CPU time in ticks, and results
//! of other programs.

use std::process::Command;

use crate::support::{Done, Place, data, needs};

/// `compare` with these files of the test data or of the place.
fn compare(place: &Place, files: &[&str], options: &[&str]) -> Done {
    for file in files.iter().filter(|file| !place.has(file)) {
        if let Ok(bytes) = std::fs::read(data(file)) {
            place.write(file, bytes);
        }
    }
    place.envtax(["compare", "--long"]).args(files).args(options).run()
}

/// The cells of the line below the title that begins with `name`.
fn cells<'a>(out: &'a str, title: &str, name: &str) -> Vec<&'a str> {
    let (_, below) = out.split_once(title).unwrap_or_else(|| panic!("no `{title}` in\n{out}"));
    let line = below.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).skip(1).collect()
}

/// All percentages that the published comparison printed.
const PUBLISHED: [(&str, [&str; 3]); 3] = [
    ("Input A", ["1.3", "0.9", "7.3"]),
    ("Input B", ["2.9", "0.9", "-6.8"]),
    ("Input C", ["5.1", "0.5", "-3.8"]),
];
const PUBLISHED_MEANS: [&str; 3] = ["3.1", "0.7", "-1.2"];
const PUBLISHED_MEDIANS: [&str; 3] = ["2.2", "0.9", "-3.8"];
const METRICS: [&str; 3] = ["real", "user", "sys"];

#[test]
fn the_published_table_is_printed_to_the_digit() {
    let place = Place::new();
    let files = ["lepton-1809.csv", "lepton-1903.csv"];
    let done = compare(&place, &files, &["--layout", "before-after"]).exits(0);
    for (input, percentages) in PUBLISHED {
        for (metric, published) in METRICS.into_iter().zip(percentages) {
            let found = cells(&done.out, input, metric);
            assert_eq!(found.last(), Some(&published), "{input} {metric}: {found:?}");
        }
    }
    assert_eq!(cells(&done.out, "Input B", "sys")[..2], ["0.453", "0.484 (q)"]);
    for (at, metric) in METRICS.into_iter().enumerate() {
        let found = cells(&done.out, "Speed-up over 3 inputs", metric);
        assert_eq!((found[0], found[2]), (PUBLISHED_MEANS[at], PUBLISHED_MEDIANS[at]));
    }
    // The published comparison printed no 95 % intervals; these are ours.
    let interval = |metric| cells(&done.out, "Speed-up over 3 inputs", metric)[1];
    assert_eq!(METRICS.map(interval), ["-1.7 to 8.0", "0.1 to 1.4", "-19.8 to 17.4"]);
    let said = [
        "no verdict: real took 1.3\u{a0}% less, user took 0.9\u{a0}% less, sys 2 ticks less \
         (inconclusive)",
        "user 2 ticks less (inconclusive), sys 1 tick more (inconclusive)",
        "whole multiples of 1/64 s (15.625 ms)",
        "user and system time are 2.67 to 2.80 times the wall time: several CPUs worked",
        "real: the medians are of different inputs, A before and C after",
        "real: mean (3.1\u{a0}%) and median (2.2\u{a0}%) disagree",
        "real: the paired interval, -1.7 to 7.7\u{a0}%, includes no change",
        "one run of each: nothing tells how much another one would differ",
        "the files are different sessions, not interleaved",
        "does not say when, where and in which order they were measured",
        "letters in brackets are doubts: `envtax list flags` explains them",
    ];
    said.into_iter().fold(done, Done::prints);
}

#[test]
fn every_format_says_what_the_table_says() {
    let place = Place::new();
    let files = ["lepton-1809.csv", "lepton-1903.csv"];
    let done = compare(&place, &files, &["--format", "json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["quanta"], serde_json::json!([15_625_000.0, 15_625_000.0]));
    let real = &json["over_inputs"][0];
    assert_eq!((&real["phase"], &real["columns"][0]), (&"wall".into(), &serde_json::Value::Null));
    let mean = real["columns"][1]["mean"].as_f64().unwrap();
    assert!((mean - 0.031_26).abs() < 1e-5, "{mean}");
    let kinds: Vec<&str> =
        json["remarks"].as_array().unwrap().iter().filter_map(|it| it["kind"].as_str()).collect();
    for kind in ["ticks", "several_cpus", "single_runs", "imported", "sessions"] {
        assert!(kinds.contains(&kind), "no `{kind}` in {kinds:?}");
    }
    let options = ["--layout", "before-after", "--format", "markdown"];
    let done = compare(&place, &files, &options).exits(0);
    done.prints("**Input A**").prints("| sys | 0.422 | 0.391 (q) | 7.3 |");
}

/// One value a session is no sample. Three sessions a side are one, and a difference of a few ticks
/// is still none.
#[test]
fn sessions_are_pooled_and_ticks_are_no_change_then_either() {
    let place = Place::new();
    for (session, start) in ["a", "b", "c", "d", "e", "f"].into_iter().zip([0, 1, 2, 0, 1, 2]) {
        let after = session > "c";
        let mut text = String::from("input,metric,value\n");
        for run in 0..6 {
            let wall = if after { 2.0 } else { 1.0 } + f64::from((run * 7 + start) % 5) / 1000.0;
            // Ticks of 1/64 s: 64 to 66 of them, and 66 to 68.
            let ticks = 64 + (run + start) % 3 + if after { 2 } else { 0 };
            let user = f64::from(ticks) / 64.0;
            text += &format!("A,real,{wall:.3}\nA,user,{user:.6}\n");
        }
        place.write(&format!("{session}.csv"), text);
    }
    let versus = ["--versus", "d.csv", "--versus", "e.csv", "--versus", "f.csv"];
    let sources = ["a.csv", "b.csv", "c.csv"];
    let all = [&versus[..], &["--margin", "1"]].concat();
    let done = compare(&place, &sources, &[&all[..], &["--format", "json"]].concat()).exits(0);
    let json: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let of = |row: usize| &json["rows"][row]["cells"][1]["measured"];
    assert_eq!(of(0)["tax"]["verdict"], "slower", "{:#}", of(0));
    assert!(of(1)["tax"]["verdict"]["inconclusive"].is_object(), "{:#}", of(1));
    assert!(of(1)["tax"]["interval"][0].as_f64().unwrap() > 1.01, "beyond the margin: {:#}", of(1));
    assert_eq!(of(1)["flags"], serde_json::json!(["ticks"]));
}

#[test]
fn hyperfines_results_are_read() {
    if !needs("hyperfine") {
        return;
    }
    let place = Place::new();
    let export = |file: &str, words: &[&str]| {
        let mut command = Command::new("hyperfine");
        command.args(["--runs", "5", "--export-json", file]).args(words);
        let output = command.current_dir(place.path("")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    export("two.json", &["sleep 0.01", "sleep 0.02"]);
    let comparison = place.comparison("two.json");
    comparison.measured("command", "sleep 0.01").measured("command", "sleep 0.02");
    comparison.remarks("came one after the other, not in turn");
    let wall = &comparison.0["rows"][0]["cells"][1]["measured"];
    assert_eq!((&wall["rounds"], &wall["tax"]["verdict"]), (&5.into(), &"descriptive".into()));
    assert!(wall["tax"]["interval"].is_null() && wall["cost_interval"].is_array(), "{wall:#}");
    // Each parameter makes a row.
    export("many.json", &["-L", "time", "1,2", "sleep 0.0{time}"]);
    let comparison = place.comparison("many.json");
    comparison.measured("command time=1", "sleep 0.0{time}");
    comparison.measured("command time=2", "sleep 0.0{time}");
    // One command of a file is chosen by its name and compared with another one.
    let sources = ["two.json:sleep 0.02", "two.json:sleep 0.01"];
    compare(&place, &sources, &[]).exits(0).prints("two.json:sleep 0.01");
    compare(&place, &["two.json:sleep"], &[]).exits(2).complains("has no environment `sleep`");
}

#[test]
fn what_time_printed_is_read() {
    let place = Place::new();
    let shells = [
        ("bash", "time sleep 0.02", needs("bash")),
        ("sh", "time -p sleep 0.02", needs("sh")),
        ("busybox", "time sleep 0.02", needs("busybox")),
        ("zsh", "time sleep 0.02", needs("zsh")),
        ("gnu", "exec /usr/bin/time sleep 0.02", needs("time")),
        ("gnu-v", "exec /usr/bin/time -v sleep 0.02", needs("time")),
    ];
    for (name, line, there) in shells {
        if !there {
            continue;
        }
        let words: &[&str] = match name {
            "busybox" => &["busybox", "sh", "-c"],
            "gnu" | "gnu-v" => &["sh", "-c"],
            _ => &[name, "-c"],
        };
        let output = Command::new(words[0]).args(&words[1..]).arg(line).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        place.write("time.txt", format!("# A\nstarts\n{text}{text}"));
        let comparison = place.comparison("time.txt");
        comparison.measured("command input=A", "time").remarks("output of `time`");
        let wall = &comparison.0["rows"][0]["cells"][0]["measured"];
        assert_eq!(wall["rounds"], 2, "{name}: {text}");
        let cost = wall["cost"].as_f64().unwrap();
        assert!((1e7..5e9).contains(&cost), "{name}: {cost}: {text}");
    }
}

#[test]
fn an_imported_file_stands_beside_a_run_file() {
    let place = Place::new();
    let input = place.write("A", "some text");
    let label = ["--label", "new", "-o", "run.jsonl", "--runs", "5"];
    let done =
        place.envtax(["time", "--long"]).args(label).args(["--input", &input, "--", "cat", "{}"]);
    done.run().exits(0);
    let done =
        compare(&place, &["lepton-1809.csv", "run.jsonl"], &["--layout", "before-after"]).exits(0);
    assert_eq!(cells(&done.out, "Input A", "real")[0], "2.672");
    let done = done.prints("real").prints("run.jsonl:new").prints("Input C");
    assert!(!done.out.contains("differs from lepton-1809.csv in"), "{}", done.out);
}

#[test]
fn what_cannot_be_imported_says_why() {
    let place = Place::new();
    let cases = [
        ("words", "hello\n", "is not an envtax run file, nor hyperfine's"),
        ("cut.json", "{\"results\":[{\"command\":", "is not the whole of hyperfine's JSON"),
        ("none.json", "{\"results\":[]}", "has no results"),
        ("odd.csv", "input,metric,value\nA,cpu,1\n", "line 2: there is no metric `cpu`"),
        ("text.csv", "input,metric,value\nA,real,1\nA,user,x\n", "line 3: `x`"),
        ("empty.csv", "input,metric,value\n", "has no values"),
        ("lone.csv", "input,metric,value\nA,user,1\n", "fewer values of `real`"),
        ("zero.txt", "real 0.00\nuser 0.00\nsys 0.00\n", "too short for the digits"),
    ];
    for (name, text, words) in cases {
        place.write(name, text);
        compare(&place, &[name], &[]).exits(2).complains(&format!("`{name}`")).complains(words);
    }
    let done = compare(&place, &["lepton-1809.csv"], &["--layout", "process-cost"]).exits(2);
    done.complains("measure them with `envtax run --suite process-cost`");
    place.write("null.jsonl", std::fs::read(data("run-v1.jsonl")).unwrap());
    let done = compare(&place, &["null.jsonl"], &["--layout", "before-after"]).exits(2);
    done.complains("measure them with `envtax time --input FILE -- COMMAND {}`");
}

/// gVisor counts CPU time in ticks of 10 ms.
#[test]
fn ticks_of_a_real_environment_are_seen() {
    if !needs("runsc") {
        return;
    }
    let place = Place::new();
    let gvisor = ["--env", "native", "--env", "gvisor:rootfs=/", "-o", "run.jsonl"];
    let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let run = place.envtax(["time"]).args(gvisor).args(["--runs", "5", "--", "sh", "-c", busy]);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.remarks("`gvisor`: user and system times are whole multiples of 1/100 s (10 ms)");
    assert!(comparison.0["quanta"][0].is_null(), "{:#}", comparison.0["quanta"]);
}
