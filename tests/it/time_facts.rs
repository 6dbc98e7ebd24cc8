//! `envtax time`: programs and inputs are recorded, and different work is not compared.

use serde_json::Value;

use crate::support::{Comparison, Envtax, Place, needs};

/// Enough rounds for a verdict.
const RUNS: [&str; 2] = ["--runs", "6"];

/// `envtax time -o FILE … -- COMMAND` over these environments.
fn time<'a>(place: &'a Place, file: &str, options: &[&str], command: &[&str]) -> Envtax<'a> {
    let start = ["time", "--long", "-o", file].map(str::to_owned);
    let envtax = place.envtax(start).args(RUNS).args(options);
    envtax.args(["--"]).args(command.iter().map(|word| word.to_string()))
}

fn script(place: &Place, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = place.write(name, format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The inspected facts of that environment.
fn inspected(place: &Place, file: &str, env: &str) -> Value {
    let text = place.read(file);
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found = records.filter(|it| it["record"] == "inspected" && it["env"] == env);
    found.next().unwrap_or_else(|| panic!("`{env}` was not inspected: {text}"))
}

fn flags(comparison: &Comparison, phase: &str, column: usize) -> Vec<String> {
    let rows = comparison.0["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["phase"] == phase).expect("the row");
    let flags = row["cells"][column]["measured"]["flags"].as_array().expect("a measured cell");
    flags.iter().map(|flag| flag.as_str().unwrap().to_owned()).collect()
}

#[test]
fn programs_and_inputs_are_on_record_as_each_environment_has_them() {
    let place = Place::new();
    let input = place.write("hello", "hello");
    let other = place.fake("other", &format!("PATH={} exec \"$@\"", place.path("bin")));
    std::fs::create_dir(place.path("bin")).unwrap();
    script(&place, "bin/wc", "exit 0");
    let options = ["--env", "native", "--env", &other, "--input", &input];
    time(&place, "r.jsonl", &options, &["wc", "-c", "{}"]).start().wait_clean().exits(0);
    let native = inspected(&place, "r.jsonl", "native");
    let wc = &native["programs"]["wc"];
    assert!(wc["path"].as_str().unwrap().ends_with("bin/wc"), "{wc}");
    assert_eq!((&wc["format"], &wc["linked"]), (&"ELF64".into(), &"dynamically".into()));
    assert!(wc["libraries"].as_str().unwrap().contains("libc"), "{wc}");
    assert!(wc["interpreter"].as_str().unwrap().contains("/ld-"), "{wc}");
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let expected = serde_json::json!({ &input: { "size": "5", "sha256": hash } });
    assert_eq!(native["files"], expected);
    let wc = &inspected(&place, "r.jsonl", "other")["programs"]["wc"];
    assert_eq!(wc["path"], place.path("bin/wc").as_str(), "by its own search path");
    assert_eq!((&wc["format"], &wc["interpreter"]), (&"script".into(), &"/bin/sh".into()));
    let comparison = place.comparison("r.jsonl");
    comparison.remarks("`other`: its `wc` is not the program of native, in: path ");
    comparison.remarks("format ELF64 / script").remarks("interpreter ");
    assert!(flags(&comparison, "wall", 1).contains(&"other_program".to_owned()));
    let spec = comparison.0["specs"][1]["program wc"].as_str().unwrap();
    assert!(spec.contains("script") && spec.contains("sha256"), "{spec}");
}

#[test]
fn a_program_that_is_missing_in_one_environment_fails_there_only() {
    let place = Place::new();
    let empty = place.path("target");
    let other = place.fake("other", &format!("PATH={empty} exec \"$@\""));
    let options = ["--env", "native", "--env", &other];
    time(&place, "r.jsonl", &options, &["true"]).start().wait_clean().exits(3);
    let comparison = place.comparison("r.jsonl");
    comparison.measured("command", "native");
    comparison.failed("command", "other", "there is no program `true` in this environment");
    assert_eq!(inspected(&place, "r.jsonl", "other")["programs"]["true"], serde_json::json!({}));
}

#[test]
fn sessions_with_another_program_input_or_command_say_so() {
    let place = Place::new();
    let program = script(&place, "x.sh", "cat \"$1\"");
    let input = place.write("in.txt", "one");
    let options = ["--label", "old", "--input", &input];
    time(&place, "old.jsonl", &options, &[&program, "{}"]).run().exits(0);
    script(&place, "x.sh", "cat \"$1\" # better");
    let options = ["--label", "new", "--input", &input, "--settle"];
    time(&place, "new.jsonl", &options, &[&program, "{}"]).run().exits(0);
    place.write("in.txt", "three");
    let options = ["--label", "late", "--input", &input];
    time(&place, "late.jsonl", &options, &[&program, "{}", "more"]).run().exits(0);
    let compare = ["compare", "old.jsonl", "new.jsonl", "late.jsonl", "--format", "json"];
    let done = place.envtax(compare).run().exits(0);
    let comparison = Comparison(serde_json::from_str(&done.out).unwrap());
    assert_eq!(comparison.0["columns"], serde_json::json!(["old", "new", "late"]));
    comparison.measured("command input=in.txt", "new");
    comparison.remarks("`new`: its `").remarks("is not the program of old, in: size 19 / 28");
    comparison.remarks("`new`: was run in another way than old: --settle off / on");
    let reason = "is not what `old` had: 5 B, sha256 8b5b9db0c13d instead of 3 B, 7692c3ad3540";
    comparison.failed("command input=in.txt", "late", reason);
    comparison.remarks("`late`: ran `").remarks("With one a side, nothing is known");
}

#[test]
fn a_wrong_answer_is_no_faster_one() {
    let place = Place::new();
    let program = script(&place, "x.sh", "echo \"$SAID\"; echo \"$WROTE\" > \"$1\"");
    let other = |name: &str, said: &str, wrote: &str| {
        place.fake(name, &format!("export SAID={said} WROTE={wrote}; exec \"$@\""))
    };
    let (good, mute) = (other("good", "a", "b"), other("mute", "c", "b"));
    let (wrong, same) = (other("wrong", "a", "c"), other("same", "a", "b"));
    let all = [&good, &mute, &wrong, &same];
    let mut options: Vec<&str> = all.iter().flat_map(|spec| ["--env", spec]).collect();
    options.push("--verify-output");
    let done = time(&place, "r.jsonl", &options, &[&program, "{out}"]).start().wait_clean();
    done.exits(3).prints("the first run wrote something else than `good`");
    let comparison = place.comparison("r.jsonl");
    comparison.measured("command", "good").measured("command", "same");
    comparison.failed("command", "mute", "`good`: standard output has sha256 a3a5e715f0cc instead");
    comparison.failed("command", "wrong", "`good`: the file at {out} has sha256 a3a5e715f0cc");
    let options = ["--env", &good, "--env", &same, "--verify-output"];
    time(&place, "same.jsonl", &options, &[&program, "{out}"]).run().exits(0);
    // This holds across sessions, too.
    let options = ["--env", &mute, "--verify-output"];
    time(&place, "mute.jsonl", &options, &[&program, "{out}"]).run().exits(0);
    let compare = ["compare", "same.jsonl:good", "mute.jsonl", "--format", "json"];
    let done = place.envtax(compare).run().exits(0);
    let comparison = Comparison(serde_json::from_str(&done.out).unwrap());
    comparison.failed("command", "mute", "of `mute.jsonl` wrote something else than `good`");
}

#[test]
fn output_that_changes_by_itself_cannot_be_verified() {
    let place = Place::new();
    let program = script(&place, "x.sh", "cat /proc/sys/kernel/random/uuid");
    time(&place, "r.jsonl", &["--verify-output"], &[&program]).run().exits(3);
    let reason = "standard output changes from run to run";
    place.comparison("r.jsonl").failed("command", "native", reason);
}

#[test]
fn first_runs_are_kept_apart() {
    let place = Place::new();
    let mark = place.path("mark");
    // Four times as slow in its very first run.
    let text = format!("[ -e {mark} ] && exec sleep 0.02; : > {mark}; exec sleep 0.08");
    let program = script(&place, "x.sh", &text);
    let done = time(&place, "r.jsonl", &[], &[&program]).run().exits(0);
    done.prints("First run after the start, and the later ones");
    let first = &place.comparison("r.jsonl").0["first_runs"][0];
    assert_eq!(first["name"], "command");
    let slowest = first["columns"][0]["first"]["interval"][1].as_f64().unwrap();
    assert!(slowest >= 80e6, "{first:#}");
    assert!(first["columns"][0]["later_ns"].as_f64().unwrap() >= 20e6, "{first:#}");
}

#[test]
fn memory_below_the_floor_is_a_bound() {
    let place = Place::new();
    time(&place, "small.jsonl", &[], &["true"]).run().exits(0).prints("≤ ");
    assert!(flags(&place.comparison("small.jsonl"), "memory", 0).contains(&"floor".to_owned()));
    let words = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"];
    time(&place, "large.jsonl", &[], &words).run().exits(0);
    let comparison = place.comparison("large.jsonl");
    assert!(flags(&comparison, "memory", 0).iter().all(|flag| flag != "floor"));
    let rows = comparison.0["rows"].as_array().unwrap();
    let memory = rows.iter().find(|row| row["phase"] == "memory").unwrap();
    let cost = memory["cells"][0]["measured"]["cost"].as_f64().unwrap();
    assert!((64.0..80.0).contains(&(cost / 1048576.0)), "{cost}");
}

#[test]
fn several_sessions_say_what_they_can_show() {
    let place = Place::new();
    let file = |side: &str, number: u32| format!("{side}{number}.jsonl");
    let mut files = Vec::new();
    for side in ["old", "new"] {
        for number in 1..=3 {
            time(&place, &file(side, number), &["--label", side], &["true"]).run().exits(0);
            files.push(file(side, number));
        }
    }
    let (old, new) = files.split_at(3);
    let pooled = place.envtax(["compare"]).args(old).args(["--versus"]).args(new);
    let done = pooled.args(["--format", "json"]).run().exits(0);
    let comparison = Comparison(serde_json::from_str(&done.out).unwrap());
    let columns = serde_json::json!(["old (3 sessions)", "new (3 sessions)"]);
    assert_eq!(comparison.0["columns"], columns);
    let reach = &comparison.0["rows"][0]["cells"][1]["measured"]["tax"]["sessions"];
    assert_eq!(reach["sessions"], serde_json::json!([3, 3]));
    assert!(reach["deviation"].as_f64().unwrap() > 0.0, "{reach}");
    comparison.remarks("`new (3 sessions)`: sessions of one side differ by ");
    comparison.remarks("in four of five cases");
}

/// gVisor has a kernel of its own, which answers for the files.
#[test]
fn gvisor_says_what_it_runs() {
    if !needs("runsc") {
        return;
    }
    let place = Place::new();
    let options = ["--env", "native", "--env", "gvisor=gvisor:rootfs=/"];
    time(&place, "r.jsonl", &options, &["true"]).start().wait_clean().exits(0);
    let sandbox = inspected(&place, "r.jsonl", "gvisor");
    let native = inspected(&place, "r.jsonl", "native");
    assert_eq!(sandbox["programs"]["true"]["path"], native["programs"]["true"]["path"]);
    assert_eq!(sandbox["programs"]["true"]["sha256"], native["programs"]["true"]["sha256"]);
}
