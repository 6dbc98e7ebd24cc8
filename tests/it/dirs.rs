//! Target directories that no environment, or not every environment, can use.

use crate::support::{Place, SHORT, needs, needs_bwrap_size};

#[test]
fn a_read_only_directory_fails_its_rows_and_no_others() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let target = place.path("target");
    let environment = format!("ro=bwrap:--ro-bind {target} {target}");
    let run = place.run(&["native", &environment], &["file.stat", "syscall.getppid"]);
    let dirs = ["--dir".into(), format!("d={target}"), "--dir".into(), "free=/tmp".into()];
    let done = run.args(dirs).args(SHORT).run().exits(3);
    done.prints("`ro`: 1 row failed:").prints(&target).prints("Read-only file system");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("file.stat", "native").failed("file.stat", "ro", &target);
    comparison.measured("syscall.getppid", "native").measured("syscall.getppid", "ro");
    place.is_clean();
}

#[test]
fn a_directory_missing_in_one_environment_fails_there_only() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let (above, target) = (place.path(""), place.path("target"));
    // No agent is in this place, so all of it may be hidden.
    let environment = format!("bare=bwrap:--tmpfs {above}");
    let probes = ["file.stat", "syscall.getppid"];
    let run = place.run(&["native", &environment], &probes);
    let done = run.args(["--dir", &format!("d={target}")]).args(SHORT).run().exits(3);
    done.prints("`bare`").prints(&target).prints("No such file");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("file.stat", "native").failed("file.stat", "bare", &target);
    comparison.measured("syscall.getppid", "native").measured("syscall.getppid", "bare");
    place.is_clean();
}

/// Some probes measure no files but need one, such as the program that they start.
#[test]
fn probes_that_measure_no_files_need_no_target_directory() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let environment = format!("bare=bwrap:--tmpfs {}", place.path(""));
    let run = place.run(&["native", &environment], &["process.exec target=tiny"]);
    run.args(["--dir", &format!("d={}", place.path("target"))]).args(SHORT).run().exits(0);
    place.comparison("run.jsonl").measured("process.exec target=tiny", "bare");
    place.is_clean();
}

#[test]
fn a_directory_that_the_reference_lacks_is_measured_elsewhere() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let environments = ["native", "bwrap:--tmpfs /mnt --dir /mnt/inner"];
    let run = place.run(&environments, &["file.stat"]).args(["--dir", "d=/mnt/inner"]);
    run.args(SHORT).run().exits(3).prints("`native`").prints("/mnt/inner").prints("no reference");
    let comparison = place.comparison("run.jsonl");
    comparison.failed("file.stat", "native", "/mnt/inner").measured("file.stat", "bwrap");
}

#[test]
fn a_full_directory_skips_what_does_not_fit_and_keeps_nothing() {
    if !needs_bwrap_size() {
        return;
    }
    let place = Place::new();
    let target = place.path("target");
    let environment = format!("small=bwrap:--size 1048576 --tmpfs {target}");
    let probes = ["file.read size=*", "file.stat", "syscall.getppid"];
    let run = place.run(&["native", &environment], &probes);
    let run = run.args(["--dir", &format!("d={target}"), "--budget", "2s"]);
    run.run().exits(0).prints("`small`: 1 row skipped:").prints("1.00 MiB free");
    let comparison = place.comparison("run.jsonl");
    comparison.skipped("file.read size=1MiB", "small", "`size=`");
    for row in ["file.read size=4KiB", "file.stat", "syscall.getppid"] {
        comparison.measured(row, "small").measured(row, "native");
    }
    comparison.measured("file.read size=1MiB", "native");
    place.is_clean();
}

#[test]
fn paths_with_spaces_and_letters_of_all_kinds_are_measured() {
    let place = Place::new();
    let target = place.path("target/ein Fräulein's 日本語 \"x\"");
    std::fs::create_dir(&target).unwrap();
    let run = place.run(&["native", "namespace"], &["file.create"]);
    run.args(["--dir", &format!("d={target}")]).args(SHORT).run().exits(0);
    let left = std::fs::read_dir(&target).unwrap().count();
    assert_eq!(left, 0);
}
