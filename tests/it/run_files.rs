//! Run files: cut off, damaged, old, and not run files at all.

use std::fs;

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

/// `UPDATE=1 cargo test` writes the reports anew: look at the difference before keeping it.
#[test]
fn reports_of_a_known_file_are_what_they_were() {
    let place = Place::new();
    place.write("run.jsonl", fixture());
    let formats = [("text", "txt"), ("markdown", "md"), ("csv", "csv"), ("json", "json")];
    for (format, ending) in formats {
        let done = place.envtax(["compare", "run.jsonl", "--format", format]).run().exits(0);
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
    // At every kind of record, within it and at its very end, and at odd places all over.
    let ends = (header..whole.len()).filter(|at| whole[at - 1] == b'\n').step_by(16);
    let offsets = ends.flat_map(|end| [end, end + 1, end + 40]).chain([whole.len() - 1]);
    for offset in offsets.chain((header..whole.len()).step_by(4999)) {
        let offset = offset.min(whole.len() - 1);
        place.write("cut.jsonl", &whole[..offset]);
        let done = place.envtax(["compare", "cut.jsonl"]).run().exits(0);
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

/// Values that a run never writes, but a broken program or disk may: no panic, whatever it says.
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
    let mut problems = Vec::new();
    for (from, to) in absurd {
        assert!(text.contains(from), "{from}");
        place.write("odd.jsonl", text.replace(from, to));
        for format in ["text", "csv", "json"] {
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
    let old = place.envtax(["compare", "run.jsonl"]).run().exits(0);
    assert_eq!(place.envtax(["compare", "more.jsonl"]).run().exits(0).out, old.out);
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
