//! Measuring environments side by side, and comparing what was measured.

use serde_json::Value;

use crate::processes::Process;
use crate::support::{Comparison, Place, SHORT, needs};

/// Every kind of environment that one machine can have, each started for real.
#[test]
fn every_kind_of_environment_is_measured() {
    if !needs("bwrap") || !needs("proot") {
        return;
    }
    let place = Place::new();
    let environments = ["native", "namespace", "chroot:/", "bwrap", "proot", "cmd:env"];
    let probes = ["syscall.getppid", "process.exec target=tiny", "file.create"];
    let args = ["--budget", "3s"];
    place.run(&environments, &probes).args(args).run().exits(0).prints("syscall.getppid");
    let comparison = place.comparison("run.jsonl");
    for column in ["native", "namespace", "chroot", "bwrap", "proot", "cmd"] {
        for row in ["syscall.getppid", "process.exec target=tiny", "file.create"] {
            comparison.measured(row, column);
        }
    }
    place.is_clean();
}

#[test]
fn a_run_prints_its_table_and_beside_it_only_what_it_takes_and_the_name_of_its_file() {
    let place = Place::new();
    let run = place.run(&["native", "other=native"], &["syscall.getppid", "process.fork"]);
    let done = run.args(["--budget", "2s", "--seed", "7"]).run().exits(0);
    let done = done.prints("cost tax 95\u{a0}% mean verdict").prints("process.fork create");
    let done = done.prints("- tax: cost divided by that of native");
    let err: Vec<&str> = done.err.lines().filter(|line| !line.is_empty()).collect();
    let [plan, file] = err[..] else { panic!("{}", done.err) };
    let takes = "envtax: 2 cases in 2 environments: 15 rounds of each take about ";
    assert!(plan.starts_with(takes), "{plan}");
    assert_eq!(file, "run file: run.jsonl   (seed 7)");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("syscall.getppid", "other").measured("process.fork", "native");
}

#[test]
fn launches_are_counted_and_what_they_take_is_seen() {
    let place = Place::new();
    let run = place.run(&["native", "other=native"], &["null"]).args([
        "--launches",
        "3",
        "--budget",
        "3s",
    ]);
    run.run().exits(0).prints("Starting, from the command to the greeting");
    let text = place.read("run.jsonl");
    let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let records: Vec<Value> = text.lines().map(of).collect();
    let launches: Vec<&Value> = records.iter().filter(|it| it["record"] == "launch").collect();
    assert_eq!(launches.len(), 6);
    for launch in &launches {
        assert!(launch["started_in_ms"].as_f64().unwrap() > 0.0);
        assert!(launch["memory_bytes"].as_u64().unwrap() > 100_000, "{launch}");
        assert_eq!(launch["processes"], 1);
    }
    let blocks: Vec<&Value> = records.iter().filter(|it| it["record"] == "block").collect();
    for number in 1..3 {
        let own = blocks.iter().filter(|it| it["launch"] == number && it["env"] == "other");
        let rounds: Vec<u64> = own.map(|it| it["round"].as_u64().unwrap()).collect();
        assert!(rounds.len() > 1 && rounds[0] == 0 && rounds[1] > 0, "a warm-up each: {rounds:?}");
    }
    assert!(blocks.iter().all(|it| it["outside_cpu_ns"].is_u64()));
    place.is_clean();
}

#[test]
fn a_load_is_on_record_and_ends_with_the_run() {
    let place = Place::new();
    let run = place.run(&["native"], &["null"]).args(["--load", "2", "--budget", "1h"]);
    let mut run = run.args(["--precision", "0"]).start();
    run.until_recorded("block", 10);
    let is_busy = |process: &Process| process.words.last().is_some_and(|word| word == "busy");
    let busy = run.processes().into_iter().filter(is_busy);
    let busy: Vec<u32> = busy.map(|process| process.pid).collect();
    assert_eq!(busy.len(), 2);
    run.signal("INT");
    run.wait_clean().exits(3);
    let text = place.read("run.jsonl");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[0]["plan"]["load"], 2);
    let of = |kind: &'static str| records.iter().filter(move |it| it["record"] == kind);
    assert!(of("environment").all(|it| it["facts"]["load_beside"] == "2 busy processes"));
    assert!(of("host").all(|it| it["busy_ticks"].is_u64() && it["load_1min"].is_f64()));
    assert!(of("block").count() >= 10 && of("block").all(|it| it["runnable"].is_u64()));
}

#[test]
fn cold_launches_need_a_root_that_may_empty_caches() {
    let place = Place::new();
    let run = place.run(&["native"], &["null"]).args([
        "--cold-launches",
        "--launches",
        "2",
        "--budget",
        "3s",
    ]);
    let done = run.run();
    match done.status.code() {
        Some(0) => drop(done.prints("cold")),
        _ => drop(done.exits(2).complains("--cold-launches")),
    }
}

#[test]
fn what_run_prints_is_what_compare_prints_later() {
    let place = Place::new();
    let done = place.run(&["native", "other=native"], &["syscall.getppid"]).args(SHORT).run();
    let again = place.envtax(["compare", "run.jsonl", "--long"]).run().exits(0);
    assert_eq!(done.exits(0).out, again.out);
    assert_eq!(again.err, "");
}

#[test]
fn a_run_file_is_read_in_every_format() {
    let place = Place::new();
    place.run(&["native", "other=native"], &["process.fork"]).args(SHORT).run().exits(0);
    let read = |format: &str| {
        place.envtax(["compare", "run.jsonl", "--format", format]).run().exits(0).out
    };
    assert!(read("text").contains("process.fork create"));
    assert!(read("markdown").contains("| **process.fork create** |"));
    let csv = read("csv");
    let fields: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(fields.len() == 5 && fields.iter().all(|count| *count == fields[0]), "{csv}");
    let json: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!(json["reference"], "native");
    assert_eq!(json["rows"][1]["phase"], "reap");
}

#[test]
fn another_environment_can_be_the_reference() {
    let place = Place::new();
    let run = place.run(&["native", "other=native"], &["null"]).args(["--reference", "other"]);
    run.args(SHORT).run().exits(0).prints("tax: cost divided by that of other");
    let args = ["compare", "run.jsonl", "--long", "--reference", "native"];
    place.envtax(args).run().exits(0).prints("tax: cost divided by that of native");
}

#[test]
fn environments_of_two_files_stand_beside_each_other() {
    let place = Place::new();
    sessions(&place, 2);
    let args = ["compare", "run1.jsonl:native", "run2.jsonl:other", "--format", "json"];
    let done = place.envtax(args).run().exits(0);
    let comparison = Comparison(serde_json::from_str(&done.out).unwrap());
    comparison.measured("null", "run1.jsonl:native").measured("null", "run2.jsonl:other");
    let verdict = &comparison.0["rows"][0]["cells"][1]["measured"]["tax"]["verdict"];
    assert!(verdict.to_string().contains("descriptive"), "one session a side: {verdict}");
}

#[test]
fn three_sessions_a_side_are_pooled_and_get_an_interval() {
    let place = Place::new();
    sessions(&place, 3);
    let of = |env: &str| (1..=3).map(|n| format!("run{n}.jsonl:{env}")).collect::<Vec<_>>();
    let envtax = place.envtax(["compare"]).args(of("native")).args(["--versus"]).args(of("other"));
    let done = envtax.args(["--format", "json"]).run().exits(0);
    let comparison = Comparison(serde_json::from_str(&done.out).unwrap());
    comparison.measured("null", "before (3 sessions)").measured("null", "after (3 sessions)");
    let tax = &comparison.0["rows"][0]["cells"][1]["measured"]["tax"];
    assert!(tax["interval"].is_array(), "{tax:#}");
}

/// Writes run files `run1.jsonl` and so on, with `native` and `other`.
fn sessions(place: &Place, count: usize) {
    for n in 1..=count {
        let file = format!("run{n}.jsonl");
        let args = ["run", "--env", "native", "--env", "other=native", "--probe", "null"];
        let short = ["--budget", "300ms", "-o", &file];
        place.envtax(args).args(short).run().exits(0);
    }
}

#[test]
fn the_gate_trips_for_an_environment_that_is_slower() {
    if !needs("proot") {
        return;
    }
    let place = Place::new();
    // Enough time for all rounds that the interval needs.
    let run = place.run(&["native", "proot"], &["syscall.getppid"]).args(["--budget", "20s"]);
    run.run().exits(0);
    let gate = |percent: &str| place.envtax(["compare", "run.jsonl", "--fail-above", percent]);
    gate("10").run().exits(1).prints("slower");
    gate("1000000").run().exits(0).prints("slower");
    let reversed = gate("10").args(["--reference", "proot"]).run();
    reversed.exits(0).prints("faster");
}

#[test]
fn a_run_file_is_not_replaced_unasked() {
    let place = Place::new();
    place.write("run.jsonl", "precious\n");
    let run = || place.run(&["native"], &["null"]).args(SHORT);
    run().run().exits(2).complains("`run.jsonl` exists").complains("--force");
    assert_eq!(place.read("run.jsonl"), "precious\n");
    run().args(["--force"]).run().exits(0);
    place.comparison("run.jsonl").measured("null", "native");
}

#[test]
fn an_earlier_file_survives_a_run_that_cannot_start() {
    let place = Place::new();
    place.write("run.jsonl", "precious\n");
    place.run(&["x=cmd:false"], &["null"]).args(["--force"]).run().exits(2);
    assert_eq!(place.read("run.jsonl"), "precious\n");
}

#[test]
fn without_a_name_the_file_is_called_after_the_time() {
    let place = Place::new();
    let args = ["run", "--probe", "null", "--budget", "300ms"];
    let done = place.envtax(args).run().exits(0).complains("run file: envtax-20");
    let (_, file) = done.err.split_once("run file: ").unwrap();
    let name = file.split(' ').next().unwrap();
    place.comparison(name).measured("null", "native");
}

#[test]
fn file_probes_are_measured_in_every_target_directory() {
    let place = Place::new();
    let (a, b) = (format!("a={}", place.path("target")), format!("b={}", place.path("tmp")));
    let run = place.run(&["native"], &["file.stat"]).args(["--dir", &a, "--dir", &b]);
    run.args(SHORT).run().exits(0).prints("file.stat dir=a").prints("file.stat dir=b");
    place.is_clean();
}

#[test]
fn a_case_is_picked_by_its_parameters_whatever_the_directory() {
    let place = Place::new();
    place.run(&["native"], &["file.read size=4KiB"]).args(SHORT).run().exits(0);
    place.comparison("run.jsonl").measured("file.read size=4KiB", "native");
}

#[test]
fn every_case_of_the_quick_suite_works_here() {
    let place = Place::new();
    let quick = ["--suite", "quick", "--budget", "4s", "--format", "json"];
    let run = place.run(&["native"], &[]).args(quick);
    let done = run.run().exits(0);
    let comparison: Value = serde_json::from_str(&done.out).unwrap();
    for row in comparison["rows"].as_array().unwrap() {
        // A small machine lacks something (a second CPU), and a slow one does not reach every row.
        let known = ["measured", "skipped", "not_reached"];
        assert!(known.iter().any(|state| row["cells"][0][state].is_object()), "{row:#}");
    }
    place.is_clean();
}
