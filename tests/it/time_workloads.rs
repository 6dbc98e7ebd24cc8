//! Whole commands with data that is made for them, and a real program on real files.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{Comparison, Envtax, Place, data, needs, needs_root, on_path};

/// Options that make a comparison of commands short.
const BRIEF: [&str; 4] = ["--runs", "2", "--budget", "15s"];

/// `envtax time … -o run.jsonl` of these workloads in these environments.
fn time<'a>(place: &'a Place, environments: &[&str], workloads: &[&str]) -> Envtax<'a> {
    let environments = environments.iter().flat_map(|spec| ["--env", spec]);
    let workloads = workloads.iter().flat_map(|name| ["--workload", name]);
    place.envtax(["time", "--long", "-o", "run.jsonl"]).args(environments).args(workloads)
}

/// Wall time was measured for that workload in that column.
fn measured(comparison: &Comparison, workload: &str, column: &str) {
    comparison.measured(&format!("command workload={workload}"), column);
}

/// Measures these workloads natively, if the programs are installed.
fn run_natively(workloads: &[&str], programs: &[&str]) {
    if !programs.iter().all(|program| needs(program)) {
        return;
    }
    let place = Place::new();
    time(&place, &["native"], workloads).args(BRIEF).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    workloads.iter().for_each(|workload| measured(&comparison, workload, "native"));
}

#[test]
fn short_workloads_run() {
    run_natively(&["git-status", "tar", "python", "gzip"], &["git", "tar", "python3", "gzip"]);
}

#[test]
fn workloads_that_compile_run() {
    run_natively(&["configure", "gcc"], &["cc", "gcc"]);
}

#[test]
fn data_is_seen_where_this_machines_files_are_not() {
    if !needs("crun") || !needs("busybox") {
        return;
    }
    let place = Place::new();
    let programs = place.path("root/bin");
    fs::create_dir_all(&programs).unwrap();
    for folder in ["dev", "proc", "sys", "tmp", "etc"] {
        fs::create_dir(place.path(&format!("root/{folder}"))).unwrap();
    }
    fs::copy(on_path("busybox").unwrap(), format!("{programs}/busybox")).unwrap();
    for program in ["gzip", "tar"] {
        symlink("busybox", format!("{programs}/{program}")).unwrap();
    }
    let container = format!("box=crun:rootfs={}", place.path("root"));
    let three = ["tar", "gzip", "python"];
    time(&place, &["native", &container], &three).args(BRIEF).start().wait_clean().exits(0);
    let folders = fs::read_dir(place.path("root")).unwrap();
    assert_eq!(folders.count(), 6, "where the data was mounted is gone");
    assert!(fs::read_dir(place.path("root/tmp")).unwrap().next().is_none());
    let comparison = place.comparison("run.jsonl");
    measured(&comparison, "tar", "box");
    measured(&comparison, "gzip", "box");
    comparison.skipped("command workload=python", "box", "no program `python3`");
}

/// The data of all workloads is visible over a root with the machine's own programs.
fn run_over_the_machines_root(kind: &str, programs: &[&str]) {
    let workloads =
        [("gzip", "gzip"), ("tar", "tar"), ("python", "python3"), ("git-status", "git")];
    let there = workloads.iter().all(|(_, program)| needs(program));
    if !there || !programs.iter().all(|program| needs(program)) || !needs_root() {
        return;
    }
    let place = Place::new();
    let spec = format!("box={kind}:rootfs=/");
    let names = workloads.map(|(workload, _)| workload);
    let done = time(&place, &["native", &spec], &names).args(BRIEF).start().wait_clean();
    done.exits(0);
    let comparison = place.comparison("run.jsonl");
    names.iter().for_each(|workload| measured(&comparison, workload, "box"));
}

#[test]
fn workloads_run_in_a_container() {
    run_over_the_machines_root("crun", &["crun"]);
    run_over_the_machines_root("podman", &["podman", "runc"]);
}

#[test]
fn workloads_run_in_gvisor() {
    run_over_the_machines_root("gvisor", &["runsc"]);
}

/// In an empty root, each row names the missing program.
#[test]
fn an_empty_root_skips_the_rows() {
    if !needs("crun") || !needs("gzip") || !needs_root() {
        return;
    }
    let place = Place::new();
    time(&place, &["native", "crun"], &["gzip"]).args(BRIEF).start().wait_clean().exits(0);
    let words = "no program `gzip` in this environment";
    place.comparison("run.jsonl").skipped("command workload=gzip", "crun", words);
}

#[test]
fn an_environment_without_the_program_skips_the_row() {
    if !needs("gzip") || !needs("tar") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    symlink(on_path("tar").unwrap(), place.path("bin/tar")).unwrap();
    let poor = format!("poor=cmd:/usr/bin/env PATH={}", place.path("bin"));
    let timed = time(&place, &["native", &poor], &["gzip", "tar"]).args(BRIEF);
    timed.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    let row = "command workload=gzip";
    comparison.skipped(row, "poor", "no program `gzip` in this environment");
    measured(&comparison, "gzip", "native");
    measured(&comparison, "tar", "poor");
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let bad = |workloads: &[&str], more: &[&str], words: &str| {
        time(&place, &["native"], workloads).args(more).run().exits(2).complains(words);
        assert!(!place.has("run.jsonl"));
    };
    bad(&["make"], &[], "there is no workload `make`; there are git-status, tar");
    bad(&["tar", "tar"], &[], "`--workload tar` is given twice");
    bad(&["tar"], &["--", "ls"], "cannot be used with");
    bad(&["tar"], &["--input", "a.jpg"], "cannot be used with");
    bad(&["tar"], &["--parameter", "n=1"], "does not contain `{n}`");
    place.is_clean();
}

#[test]
fn a_real_program_gives_its_files_back_bit_by_bit() {
    if !needs("lepton_jpeg_util") {
        return;
    }
    let place = Place::new();
    let inputs = ["baseline", "progressive", "gray"].map(|name| {
        let photo = data(&format!("photos/{name}.jpg"));
        photo.to_str().unwrap().to_owned()
    });
    let inputs_of = inputs.iter().flat_map(|path| ["--input", path]);
    let timed = |back: &str| {
        let concluded = ["--conclude", back, "--conclude", "cmp {} {out}.jpg"];
        let envtax =
            place.envtax(["time", "--long", "-o", "run.jsonl", "--force", "--verify-output"]);
        let envtax = envtax.args(BRIEF).args(inputs_of.clone()).args(concluded);
        envtax.args(["--", "lepton_jpeg_util", "{}", "{out}"]).start().wait_clean()
    };
    timed("lepton_jpeg_util {out} {out}.jpg").exits(0);
    let comparison = place.comparison("run.jsonl");
    for name in ["baseline", "progressive", "gray"] {
        comparison.measured(&format!("command input={name}.jpg"), "native");
    }
    // The comparison would show that the file is not the same.
    timed("cp {out} {out}.jpg").exits(3).complains("`cmp");
}
