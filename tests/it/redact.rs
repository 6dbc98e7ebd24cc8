//! `envtax redact`: a copy of a run file without anything that tells who made it.

use std::fs;

use crate::support::Place;

/// The copy has the same comparison, but not the folder, the arguments and the boot.
#[test]
fn a_redacted_file_compares_the_same_and_tells_nothing() {
    let place = Place::new();
    let dir = format!("work={}", place.path("secret-folder"));
    fs::create_dir(place.path("secret-folder")).unwrap();
    let run = place.run(&["native", "b=namespace"], &["file.stat", "syscall.getppid"]);
    run.args(["--dir", &dir, "--budget", "1s"]).run().exits(0);
    let before = place.read("run.jsonl");
    assert!(before.contains("secret-folder") && before.contains("\"boot\""), "{before}");
    place.envtax(["redact", "run.jsonl", "-o", "public.jsonl"]).run().exits(0);
    let after = place.read("public.jsonl");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for private in ["secret-folder", boot.trim()] {
        assert!(!after.contains(private), "`{private}` is in\n{after}");
    }
    let compare =
        |file: &str| place.envtax(["compare", file, "--format", "csv"]).run().exits(0).out;
    assert_eq!(compare("run.jsonl"), compare("public.jsonl"));
    let again = place.envtax(["redact", "run.jsonl", "-o", "public.jsonl"]).run();
    again.exits(2).complains("`--force`");
    let itself = place.envtax(["redact", "run.jsonl", "-o", "run.jsonl", "--force"]).run();
    itself.exits(2).complains("is the file itself");
    assert_eq!(place.read("run.jsonl"), before, "the file is as it was");
}

#[test]
fn what_is_no_run_file_is_not_copied() {
    let place = Place::new();
    place.write("x.jsonl", "hello\n");
    let done = place.envtax(["redact", "x.jsonl", "-o", "y.jsonl"]).run();
    done.exits(2).complains("is not an envtax run file");
    assert!(!place.has("y.jsonl"));
}
