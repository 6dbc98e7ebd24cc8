//! `--fail-above`: what trips, what could not be judged, what is printed last, how envtax ends.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Done, Place, data, needs};

/// A run of `native` and `other`, from the one in tests/data, in which opening a file costs `times`
/// as much in `other` as it did; with so many of its rounds.
fn planted(place: &Place, times: u64, rounds: u64) {
    let text = fs::read_to_string(data("run-v1.jsonl")).unwrap();
    let mut records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.retain(|it| it["env"] != "gone" && it["name"] != "gone");
    records.retain(|it| it["round"].as_u64().is_none_or(|round| round <= rounds));
    for record in &mut records {
        if let Some(environments) = record["plan"]["environments"].as_array_mut() {
            environments.retain(|it| it["name"] != "gone");
        }
        let is_planted = record["env"] == "other" && record["case"] == 2;
        let samples = record["samples"].as_array_mut().filter(|_| is_planted);
        for sample in samples.into_iter().flatten().flat_map(|it| it.as_array_mut().unwrap()) {
            *sample = json!(sample.as_u64().unwrap() * times);
        }
    }
    write(place, &records);
}

fn write(place: &Place, records: &[Value]) {
    let lines = records.iter().map(|record| format!("{record}\n"));
    place.write("run.jsonl", lines.collect::<String>());
}

/// `compare` with these limits and options.
fn judged(place: &Place, args: &[&str]) -> Done {
    place.envtax(["compare", "run.jsonl"]).args(args).run()
}

#[track_caller]
fn last(done: &Done) -> &str {
    done.out.trim_end().lines().last().unwrap()
}

#[test]
fn what_is_above_its_limit_is_the_last_that_is_printed() {
    let place = Place::new();
    planted(&place, 20, 1000);
    let done = judged(&place, &["--fail-above", "file.*=1.5"]).exits(1);
    assert!(last(&done).starts_with("FAIL other file.stat dir=tmp "), "{}", done.out);
    assert!(last(&done).contains("× > 1.5× (95\u{a0}% interval "), "{}", done.out);
    done.prints("gate failed: 1 of 1 figure certainly above the limit");
    judged(&place, &["--fail-above", "1000x"]).exits(0).prints("gate passed: 0 of 4 figures");
    judged(&place, &["--fail-above", "10"]).exits(1).prints("FAIL other file.stat dir=tmp");
    // The one with a glob comes before the one without.
    let both = ["--fail-above", "file.stat=1000x", "--fail-above", "10000%"];
    judged(&place, &both).exits(0).prints("0 of 4 figures");
    let turned = judged(&place, &["--fail-above", "file.*=1.5", "--reference", "other"]);
    turned.exits(0).prints("gate passed");
}

#[test]
fn a_limit_is_for_phases_and_directories_too_and_for_rows_there_are() {
    let place = Place::new();
    planted(&place, 20, 1000);
    let one = |glob: &str| judged(&place, &["--fail-above", glob]);
    one("file.stat dir=tmp=2").exits(1);
    one("process.fork create=100").exits(0).prints("0 of 1 figure");
    one("file.stat dir=other=2").exits(2).complains("`--fail-above file.stat dir=other=…`");
    one("fiel.*=2").exits(2).complains("fits no row");
    let run = place.envtax(["run", "--probe", "null", "--fail-above", "file.*=2"]);
    run.run().exits(2).complains("fits no row");
    one("file.*=0.5").exits(2).complains("`--fail-above file.*=0.5`");
    judged(&place, &["--allow-unjudged"]).exits(2).complains("--fail-above");
}

#[test]
fn the_gate_looks_at_the_interval_or_at_the_estimate() {
    let place = Place::new();
    planted(&place, 20, 1000);
    let compared = place.comparison("run.jsonl").0;
    let tax = &compared["rows"][3]["cells"][1]["measured"]["tax"];
    let (low, ratio) = (tax["interval"][0].as_f64().unwrap(), tax["ratio"].as_f64().unwrap());
    let between = format!("file.stat={}x", (low + ratio) / 2.0);
    judged(&place, &["--fail-above", &between]).exits(0).prints("0 of 1 figure certainly above");
    let estimate = ["--fail-above", &between, "--fail-on", "estimate"];
    judged(&place, &estimate).exits(1).prints("gate failed: 1 of 1 figure above the limit");
}

#[test]
fn what_could_not_be_judged_fails_unless_that_is_allowed() {
    let place = Place::new();
    planted(&place, 1, 1000);
    let text = place.read("run.jsonl");
    let mut records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.retain(|it| it["record"] != "block" || it["env"] != "other" || it["case"] != 1);
    for (case, state, reason) in [(1, "skipped", "no room"), (2, "failed", "no space")] {
        let outcome = json!({"record": "outcome", "env": "other", "case": case, "state": state,
                             "reason": reason});
        records.insert(records.len() - 1, outcome);
    }
    write(&place, &records);
    let done = judged(&place, &["--fail-above", "1000x"]).exits(1);
    let done = done.prints("gate failed: 0 of 1 figure certainly above the limit; 3 not judged");
    let done = done.prints("FAIL other not judged: failed: no space: file.stat dir=tmp");
    let fork = "process.fork create, process.fork reap";
    done.prints(&format!("FAIL other not judged: skipped: no room: {fork}"));
    let allowed = judged(&place, &["--fail-above", "1000x", "--allow-unjudged"]).exits(0);
    let allowed = allowed.prints("gate passed").prints("allowed: other not judged: skipped");
    assert!(!allowed.out.contains("FAIL"), "{}", allowed.out);
    // A gate that judges nothing would never close.
    let nothing = ["--fail-above", "file.*=1000x", "--allow-unjudged"];
    judged(&place, &nothing).exits(2).complains("judged no figure");
}

#[test]
fn too_few_rounds_or_sessions_are_no_judgement() {
    let place = Place::new();
    planted(&place, 20, 4);
    let done = judged(&place, &["--fail-above", "file.*=1.5"]).exits(1);
    assert_eq!(last(&done), "FAIL other not judged: too few rounds: file.stat dir=tmp");
    planted(&place, 20, 1000);
    fs::copy(place.path("run.jsonl"), place.path("again.jsonl")).unwrap();
    let args = ["compare", "run.jsonl:native", "again.jsonl:other", "--fail-above", "1000x"];
    place.envtax(args).run().exits(1).prints("not judged: fewer than three sessions a side");
    let gone = data("run-v1.jsonl");
    let args = ["compare", gone.to_str().unwrap(), "--fail-above", "1000x"];
    place.envtax(args).run().exits(1).prints("FAIL gone not judged: it did not start: ");
}

#[test]
fn every_format_keeps_what_the_gate_found() {
    let place = Place::new();
    planted(&place, 20, 1000);
    let found = |format: &str| {
        let done = judged(&place, &["--fail-above", "file.*=1.5", "--format", format]).exits(1);
        done.complains("FAIL other file.stat dir=tmp").out
    };
    assert!(found("markdown").contains("- FAIL other file.stat dir=tmp "));
    assert!(!found("csv").contains("FAIL"));
    let compared: Value = serde_json::from_str(&found("json")).unwrap();
    let gate = &compared["gate"];
    assert_eq!((&gate["on"], &gate["judged"]), (&json!("bound"), &json!(1)));
    let above = &gate["above"][0];
    let row = &compared["rows"][above["row"].as_u64().unwrap() as usize];
    assert_eq!((&above["column"], &row["probe"]), (&json!("other"), &json!("file.stat")));
    assert!(above["ratio"].as_f64().unwrap() > above["limit"].as_f64().unwrap());
}

/// Measured, not read from a file: the gate comes behind the name of the run file.
#[test]
fn a_run_and_a_timing_end_with_the_gate() {
    let place = Place::new();
    let run = place.run(&["native", "other=native"], &["syscall.getppid"]);
    let run = run.args(["--budget", "2s", "--fail-above", "1000x"]).run().exits(0);
    assert!(last(&run).starts_with("gate passed: 0 of 1 figure"), "{}", run.out);
    let slow = "sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.05'";
    let time = ["time", "--runs", "6", "-o", "t.jsonl", "true", slow, "--fail-above", "1.5x"];
    let time = place.envtax(time).run().exits(1);
    assert!(last(&time).starts_with("FAIL sh -c"), "{}", time.out);
}

/// The workflow of docs/GATE.md: its steps are run as they stand, but for the time that they take.
#[test]
fn the_recipe_for_a_ci_service_works() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/GATE.md");
    let document = fs::read_to_string(path).unwrap();
    let workflow = document.split("```").find(|part| part.starts_with("yaml")).unwrap();
    let mut steps: Vec<String> = Vec::new();
    let mut within = None;
    for line in workflow.lines() {
        let indent = line.len() - line.trim_start().len();
        match within {
            Some(start) if indent > start => {
                let step: &mut String = steps.last_mut().unwrap();
                step.push_str(&(line.trim_start().to_owned() + "\n"));
            }
            _ => within = None,
        }
        if line.trim_start().starts_with("run: |") {
            within = Some(indent);
            steps.push(String::new());
        }
    }
    steps.retain(|step| !step.contains("sudo") && !step.contains("cargo"));
    assert_eq!(steps.len(), 2, "{steps:?}");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_envtax")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for (step, codes) in steps.iter().zip([&[0, 1][..], &[0]]) {
        assert!(step.contains("--budget 2m") || step.contains("compare"), "{step}");
        let step = step.replace("--budget 2m", "--budget 2s");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-e", "-c", &step]).current_dir(place.path("")).env("PATH", &path);
        bash.env("TMPDIR", place.path("tmp")).env("GITHUB_STEP_SUMMARY", place.path("summary"));
        let done = bash.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code().is_some_and(|code| codes.contains(&code)), "{step}: {said}");
    }
    assert!(place.read("summary").contains("**gate "), "{}", place.read("summary"));
    let compared: Value = serde_json::from_str(&place.read("compared.json")).unwrap();
    assert_eq!(compared["reference"], "native");
    place.is_clean();
}
