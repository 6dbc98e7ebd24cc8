//! Run files that are cut off, damaged, old, or no run files at all.

use std::fs;

use serde_json::Value;

use crate::support::{Place, data};

fn fixture() -> Vec<u8> {
    fs::read(data("run-v1.jsonl")).unwrap()
}

#[test]
fn a_file_of_format_1_is_still_read() {
    let place = Place::new();
    place.write("run.jsonl", fixture());
    let comparison = place.comparison("run.jsonl");
    comparison.measured("syscall.getppid", "native").measured("file.stat", "other");
    comparison.measured("process.fork", "other");
    comparison.failed("syscall.getppid", "gone", "the agent ended (exit status: 1)");
}

/// As on a full disk: the run says so, and what was written before is whole.
#[test]
fn a_file_that_cannot_grow_ends_the_run_with_a_reason() {
    // Blocks of 512 or 1024 bytes, which is a matter of the shell: the first is in the header.
    for blocks in [1, 16] {
        let place = Place::new();
        let limit = format!("ulimit -f {blocks}; exec \"$@\"");
        let run = place.run(&["native"], &["syscall.getppid"]).through(&["sh", "-c", &limit, "sh"]);
        let done = run.args(["--budget", "20s", "--precision", "0"]).start().wait_clean();
        let (code, err) = (done.status.code(), &done.err);
        assert!(err.contains("File too large") && !err.contains("panicked"), "{done:?}");
        match blocks {
            1 => assert!(code == Some(2) && !place.has("run.jsonl"), "{done:?}"),
            _ => {
                assert_eq!(code, Some(3), "{done:?}");
                place.comparison("run.jsonl").measured("syscall.getppid", "native");
            }
        }
    }
}

/// `UPDATE=1 cargo test` writes the reports again: look at the difference before you commit it.
#[test]
fn reports_of_a_known_file_are_what_they_were() {
    let place = Place::new();
    place.write("run.jsonl", fixture());
    let long = place.formats().into_iter().map(|format| (format.clone(), format, "--long"));
    let screen = ("text".to_owned(), "screen".to_owned(), "--margin=3");
    for (format, ending, option) in long.chain([screen]) {
        let args = ["compare", "run.jsonl", "--format", &format, option];
        let done = place.envtax(args).run().exits(0);
        let golden = data("golden").join(format!("run-v1.{ending}"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&golden, &done.out).unwrap();
        }
        let kept = fs::read_to_string(&golden).unwrap_or_default();
        let (golden, out) = (golden.display(), done.out);
        assert!(kept == out, "{golden} differs; if rightly so, UPDATE=1 cargo test. Now:\n{out}");
    }
}

#[test]
fn a_file_cut_off_anywhere_after_its_header_is_read_and_says_so() {
    let place = Place::new();
    let whole = fixture();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Cut at every kind of record, inside it and at its end, and at odd places.
    let ends = (header..whole.len()).filter(|at| whole[at - 1] == b'\n').step_by(16);
    let offsets = ends.flat_map(|end| [end, end + 1, end + 40]).chain([whole.len() - 1]);
    for offset in offsets.chain((header..whole.len()).step_by(4999)) {
        let offset = offset.min(whole.len() - 1);
        place.write("cut.jsonl", &whole[..offset]);
        let done = place.envtax(["compare", "cut.jsonl", "--long"]).run().exits(0);
        let done = done.prints("the run was ended from outside before it was done");
        if whole[offset - 1] != b'\n' {
            done.prints("the last line is cut off and was left out");
        }
    }
}

#[test]
fn a_file_cut_off_in_its_header_is_no_run_file() {
    let place = Place::new();
    let whole = fixture();
    for length in [1, 10, 500] {
        place.write("cut.jsonl", &whole[..length]);
        let done = place.envtax(["compare", "cut.jsonl"]).run().exits(2);
        done.complains("`cut.jsonl`").complains("is not an envtax run file");
    }
}

#[test]
fn damage_in_the_middle_names_file_and_line() {
    let place = Place::new();
    let text = String::from_utf8(fixture()).unwrap();
    let damage = |line: usize, to: fn(&str) -> String| {
        let damaged = text.lines().enumerate().map(|(index, text)| match index + 1 == line {
            true => to(text) + "\n",
            false => format!("{text}\n"),
        });
        place.write("bad.jsonl", damaged.collect::<String>());
        let done = place.envtax(["compare", "bad.jsonl"]).run().exits(2);
        assert_eq!(done.out, "");
        done.complains("`bad.jsonl`").complains(&format!("line {line}"));
    };
    damage(2, |line| line[..line.len() / 2].to_owned());
    damage(9, |line| line.replacen('{', "(", 1));
    damage(12, |_| String::new());
    damage(12, |_| "{}".into());
    damage(12, |_| "{\"record\":\"dream\"}".into());
    damage(20, |line| line.replace("\"case\":", "\"case\":77"));
    damage(20, |line| line.replace("\"iterations\":", "\"iterations\":-"));
    damage(20, |line| line.replace("\"samples\":", "\"simples\":"));
}

#[test]
fn bytes_that_are_no_text_are_damage() {
    let place = Place::new();
    let mut bytes = fixture();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 40..second + 44].copy_from_slice(&[0xff, 0, 0xfe, 0xff]);
    place.write("bad.jsonl", bytes);
    place.envtax(["compare", "bad.jsonl"]).run().exits(2).complains("line 2 is damaged");
}

/// Values that a run never writes, but a broken program or disk may. No value causes a panic.
#[test]
fn absurd_numbers_do_not_end_in_a_panic() {
    let place = Place::new();
    let text = String::from_utf8(fixture()).unwrap();
    let absurd = [
        ("\"iterations\":", "\"iterations\":0,\"was\":"),
        ("\"samples\":[[", "\"samples\":[],\"was\":[["),
        ("\"samples\":[[", "\"samples\":[[],["),
        ("\"samples\":[[", "\"samples\":[[0,0,0],["),
        ("\"samples\":[[", "\"samples\":[[18446744073709551615,18446744073709551615],["),
        ("\"end_ns\":", "\"end_ns\":0,\"was\":"),
        ("\"asked_ns\":", "\"asked_ns\":18446744073709551615,\"was\":"),
        ("\"env\":\"other\"", "\"env\":\"nobody\""),
        ("\"reference\":\"native\"", "\"reference\":\"nobody\""),
        ("\"phases\":[\"\"]", "\"phases\":[]"),
        ("\"min_rounds\":", "\"min_rounds\":4294967295,\"was\":"),
        ("\"steal_ticks\":", "\"steal_ticks\":18446744073709551615,\"was\":"),
    ];
    let (formats, mut problems) = (place.formats(), Vec::new());
    for (from, to) in absurd {
        assert!(text.contains(from), "{from}");
        place.write("odd.jsonl", text.replace(from, to));
        for format in &formats {
            let done = place.envtax(["compare", "odd.jsonl", "--format", format]).run();
            let sane = matches!(done.status.code(), Some(0 | 2)) && !done.out.contains("NaN");
            if !sane || done.err.contains("panicked") {
                let said = done.err.lines().take(3).collect::<Vec<_>>().join(" ");
                problems.push(format!("{format} with {to}: {} {said}", done.status));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn fields_that_a_later_version_added_are_passed_over() {
    let place = Place::new();
    let text = String::from_utf8(fixture()).unwrap();
    let more = text.replace("\"asked_ns\":", "\"mood\":{\"good\":true},\"asked_ns\":");
    place.write("run.jsonl", &text);
    place.write("more.jsonl", more);
    let long = |file: &str| place.envtax(["compare", file, "--long"]).run().exits(0).out;
    assert_eq!(long("more.jsonl"), long("run.jsonl"));
}

#[test]
fn a_newer_format_asks_for_a_newer_envtax() {
    let place = Place::new();
    let text = String::from_utf8(fixture()).unwrap();
    place.write("new.jsonl", text.replacen("\"format\":1", "\"format\":2", 1));
    let done = place.envtax(["compare", "new.jsonl"]).run().exits(2);
    done.complains("`new.jsonl`").complains("format 2").complains("newer envtax");
}

#[test]
fn what_is_no_run_file_is_named() {
    let place = Place::new();
    place.write("empty", "");
    place.write("text", "Once upon a time\nthere was a file\n");
    place.write("object.json", "{\"name\":\"envtax\"}\n");
    place.write("zeroes", [0; 5000]);
    for name in ["empty", "text", "object.json", "zeroes"] {
        let done = place.envtax(["compare", name]).run().exits(2);
        done.complains(&format!("`{name}`")).complains("is not an envtax run file");
    }
    place.envtax(["compare", "target"]).run().exits(2).complains("`target`");
    let missing = place.envtax(["compare", "nowhere.jsonl"]).run().exits(2);
    missing.complains("`nowhere.jsonl`").complains("No such file");
}

/// The JSON output of `compare` with these arguments.
fn compared(place: &Place, args: &[&str]) -> Value {
    let done = place.envtax(["compare", "--format", "json"]).args(args).run().exits(0);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_file_that_is_named_twice_is_one_session() {
    let place = Place::new();
    place.write("run.jsonl", fixture());
    let whole = compared(&place, &["run.jsonl"]);
    let named = compared(&place, &["run.jsonl:native", "./run.jsonl:other"]);
    let versus = compared(&place, &["run.jsonl:native", "--versus", "run.jsonl:other"]);
    assert_eq!(named["columns"][1], "run.jsonl:other");
    let tax = |comparison: &Value| comparison["rows"][0]["cells"][1]["measured"]["tax"].clone();
    assert!(tax(&whole)["interval"].is_array());
    for again in [&named, &versus] {
        assert_eq!(tax(again), tax(&whole), "paired, round by round");
        let remarks = again["remarks"].as_array().unwrap();
        let kinds: Vec<&str> = remarks.iter().map(|it| it["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["few_rounds", "one_launch"], "{remarks:#?}");
    }
}

#[test]
fn a_session_counts_once_a_side() {
    let place = Place::new();
    for name in ["run.jsonl", "copy.jsonl"] {
        place.write(name, fixture());
    }
    let twice = place.envtax(["compare", "run.jsonl", "./run.jsonl", "--versus", "copy.jsonl"]);
    twice.run().exits(2).complains("`run.jsonl` is given twice; a session counts once");
    let args = ["compare", "run.jsonl", "--versus", "copy.jsonl:native", "run.jsonl:other"];
    let copy = place.envtax(args).run().exits(2);
    copy.complains("`run.jsonl` is a copy of `copy.jsonl`; a session counts once");
}

#[test]
fn files_of_one_name_are_told_apart_by_their_paths() {
    let place = Place::new();
    for name in ["tmp/run.jsonl", "target/run.jsonl"] {
        place.write(name, fixture());
    }
    let both = compared(&place, &["tmp/run.jsonl:native", "target/run.jsonl:native"]);
    let columns = ["tmp/run.jsonl:native", "target/run.jsonl:native"];
    assert_eq!(both["columns"], serde_json::json!(columns));
    let again = place.envtax(["compare", "tmp/run.jsonl:native", "./tmp/run.jsonl:native"]);
    again.run().exits(2).complains("`run.jsonl:native` is given twice");
}

#[test]
fn a_gate_that_nothing_is_held_against_is_an_error() {
    let place = Place::new();
    for name in ["run.jsonl", "copy.jsonl"] {
        place.write(name, fixture());
    }
    let gate = |sources: &[&str]| {
        place.envtax(["compare", "--fail-above", "1000"]).args(sources.iter()).run()
    };
    gate(&["run.jsonl:native", "copy.jsonl:native"]).exits(1).prints("three sessions a side: ");
    gate(&["run.jsonl:native", "run.jsonl:gone"]).exits(1).prints("not judged: it did not start");
    gate(&["run.jsonl:native"]).exits(2).complains("`--fail-above` judged no figure");
    gate(&["run.jsonl"]).exits(1).prints("FAIL gone not judged: it did not start");
    gate(&["run.jsonl:native", "run.jsonl:other"]).exits(0).prints("gate passed: 0 of 4 figures");
}

#[test]
fn a_case_that_was_never_reached_is_not_skipped() {
    let place = Place::new();
    let text = String::from_utf8(fixture()).unwrap();
    let late =
        |line: &&str| line.starts_with("{\"record\":\"block\"") && line.contains("\"case\":2,");
    let early: Vec<&str> = text.lines().filter(|line| !late(line)).collect();
    assert!(early.len() < text.lines().count());
    place.write("run.jsonl", early.join("\n") + "\n");
    let done = place.envtax(["compare", "run.jsonl", "--long"]).run().exits(0);
    let done = done.prints("`other`: 1 row not reached: the budget ended before its first round");
    done.prints("the budget ended before 15 rounds in 3 of 3 cases");
    let cell = &compared(&place, &["run.jsonl"])["rows"][3]["cells"][1];
    let reason = &cell["not_reached"]["reason"];
    assert_eq!(reason, "the budget ended before its first round", "{cell:#}");
}

/// No run writes into the file of another one, with `--force` either.
#[test]
fn a_file_that_is_being_written_is_nobody_elses() {
    let place = Place::new();
    let mut first = place.run(&["native"], &["null"]).endless().start();
    first.until_recorded("block", 3);
    let second = place.run(&["native"], &["null"]).args(["--force", "--budget", "1s"]).run();
    second.exits(2).complains("another run of envtax writes `run.jsonl`");
    let blocks = place.read("run.jsonl").matches("{\"record\":\"block\"").count();
    first.until_recorded("block", blocks + 3);
    first.signal("INT");
    first.wait_clean().exits(3);
    place.comparison("run.jsonl").measured("null", "native");
    // When the other run has ended, the file can be replaced.
    let again = place.run(&["native"], &["null"]).args(["--force", "--budget", "1s"]).run();
    again.exits(0);
}

/// The figures are shown even if the file cannot be written.
#[test]
fn a_folder_that_is_removed_meanwhile_costs_the_file_only() {
    let place = Place::new();
    std::fs::create_dir(place.path("gone")).unwrap();
    let run = place.envtax([
        "run",
        "--long",
        "-o",
        "gone/run.jsonl",
        "--env",
        "native",
        "--probe",
        "null",
    ]);
    let mut run = run.endless().start();
    run.until_recorded_in("gone/run.jsonl", "block", 3);
    std::fs::remove_dir_all(place.path("gone")).unwrap();
    run.signal("INT");
    let done = run.wait_clean().exits(3).prints("null");
    done.complains("`gone/run.jsonl` was removed meanwhile");
}

#[test]
fn what_is_no_file_is_not_written_into() {
    let place = Place::new();
    let run = |path: &str| place.envtax(["run", "--probe", "null", "--force", "-o", path]).run();
    run("target").exits(2).complains("`target`");
    run("/dev/null").exits(2).complains("`/dev/null` is not a file");
}

/// What would take for ever or panic is an error, with the line's number.
#[test]
fn nonsense_is_damage_that_is_named() {
    let place = Place::new();
    let whole = std::fs::read_to_string(data("run-v1.jsonl")).unwrap();
    let refused = |text: String, words: &str| {
        place.write("bad.jsonl", text);
        place.envtax(["compare", "bad.jsonl"]).run().exits(2).complains(words);
    };
    let (head, rest) = whole.split_once('\n').unwrap();
    let of = |kind: &str| {
        let mark = format!("{{\"record\":\"{kind}\"");
        rest.lines().position(|line| line.starts_with(&mark)).unwrap()
    };
    let changed = |kind: &str, old: &str, new: &str| {
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let line = &mut lines[of(kind) + 1];
        let at = line.find(old).unwrap() + old.len();
        let end = line[at..].find([',', '}', ']']).unwrap() + at;
        line.replace_range(at..end, new);
        lines.join("\n") + "\n"
    };
    let line = |kind: &str| format!("line {}", of(kind) + 2);
    let huge = u64::MAX.to_string();
    refused(changed("environment", "\"started_in_ms\":", "-5"), &line("environment"));
    refused(changed("environment", "\"started_in_ms\":", "1e300"), "`started_in_ms`");
    refused(changed("block", "\"iterations\":", &huge), &line("block"));
    refused(changed("block", "\"samples\":[[", &huge), "`samples`");
    refused(changed("block", "\"outer_ns\":", &format!("1,\"launch\":{}", u32::MAX)), "`launch`");
    let notes = format!("1,\"extras\":{{\"notes\":[{}\"x\"]}}", "\"x\",".repeat(50_000));
    refused(changed("block", "\"outer_ns\":", &notes), "50001 notes");
    let name = format!("\"{}\"", "x".repeat(20_000));
    refused(changed("environment", "\"name\":", &name), "bytes of a name");
    let mut header: serde_json::Value = serde_json::from_str(head).unwrap();
    let case = header["plan"]["cases"][0].clone();
    header["plan"]["cases"] = vec![case; 20_000].into();
    refused(format!("{header}\n{rest}"), "line 1: has 20000 cases");
}

#[test]
fn what_has_no_end_is_not_read() {
    let place = Place::new();
    place.envtax(["compare", "/dev/zero"]).run().exits(2).complains("is a device, and no file");
    let sparse = std::fs::File::create(place.path("huge")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    place.envtax(["compare", "huge"]).run().exits(2).complains("larger than 1024 MiB");
    let time = ["time", "--stage", "--input", "/dev/zero", "cat {}"];
    place.envtax(time).run().exits(2).complains("`--input /dev/zero` is not a file");
    let pipe = ["time", "-o", "pipe.jsonl", "--runs", "2", "--verify-output", "mkfifo {out}"];
    place.envtax(pipe).run().exits(3).complains("it is not a file");
    place.is_clean();
}

/// A thread or a process that cannot be made is an error like others.
#[test]
fn a_lack_of_memory_is_no_panic() {
    if !crate::support::needs("prlimit") {
        return;
    }
    let place = Place::new();
    for mebibytes in [4, 6, 8, 10, 12, 16, 24, 32] {
        let limit = format!("--as={}", mebibytes << 20);
        let run = place.run(&["native"], &["null"]).args(["--force", "--budget", "100ms"]);
        let done = run.through(&["prlimit", &limit]).run();
        let code = done.status.code();
        assert!(!done.err.contains("panicked") && code != Some(101), "{limit}: {done:?}");
    }
}
