//! User-mode Linux, started for real.

use std::fs;
use std::sync::OnceLock;

use crate::support::{Place, needs};

const ARGS: [&str; 4] = ["--budget", "5s", "--answer-timeout", "50s"];

/// The message of `doctor` if the kernel cannot run on this CPU.
const NO_CPU: &str = "this kernel cannot run on this CPU";

/// Whether User-mode Linux is installed and runs on this CPU. If the CPU cannot run it, nothing is
/// tested, even with `CI=true`: no installation would help.
pub fn needs_uml() -> bool {
    static RUNS: OnceLock<bool> = OnceLock::new();
    let runs = || {
        let place = Place::new();
        let told = place.envtax(["doctor", "--env", "uml"]).run().exits(0).out;
        let words: Vec<&str> = told.split_whitespace().collect();
        let fails = words.join(" ").contains(NO_CPU);
        if fails {
            eprintln!("not tested: {told}");
        }
        !fails
    };
    needs("linux.uml") && *RUNS.get_or_init(runs)
}

/// A kernel that prints this and dies, first on the search path.
fn broken_kernel(place: &Place, message: &str) -> String {
    fs::create_dir(place.path("bin")).unwrap();
    place.write_program("bin/linux.uml", format!("#!/bin/sh\necho '{message}' >&2\nexit 134\n"));
    format!("{}:{}", place.path("bin"), std::env::var("PATH").unwrap())
}

/// Debian 12's kernel on a CPU with AMX: it dies with any first process.
#[test]
fn a_kernel_that_cannot_run_on_this_cpu_is_told_from_a_fault_of_the_agent() {
    let place = Place::new();
    let path = broken_kernel(&place, "userspace - ptrace set fp regs failed, errno = 22");
    let doctor = place.envtax(["doctor", "--env", "uml"]).variable("PATH", &path).run().exits(0);
    let told = doctor.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(NO_CPU) && told.contains("remedy: measure on a machine"), "{told}");
    let run = place.run(&["native", "uml"], &["null"]).args(ARGS).variable("PATH", &path);
    run.run().exits(3);
    place.comparison("run.jsonl").measured("null", "native").failed("null", "uml", NO_CPU);
}

/// The control boot reports only what it found out.
#[test]
fn a_kernel_that_fails_for_another_reason_is_not_called_unfit_for_the_cpu() {
    let place = Place::new();
    let path = broken_kernel(&place, "ptrace: Operation not permitted");
    let doctor = place.envtax(["doctor", "--env", "uml"]).variable("PATH", &path).run().exits(0);
    let told = doctor.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("not even one that ends at once") && !told.contains(NO_CPU), "{told}");
}

/// One short run. The machine's folder for temporary files is on that filesystem.
fn measured_on(options: &str, filesystem: &str) {
    if !needs_uml() {
        return;
    }
    let place = Place::new();
    let spec = format!("uml:{options}");
    let probes = ["syscall.getppid", "file.open"];
    let run = place.run(&["native", &spec], &probes).args(ARGS);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("syscall.getppid", "uml").measured("file.open", "uml");
    let file = place.read("run.jsonl");
    assert!(file.contains(&format!("\"filesystem\":\"{filesystem}\"")), "{file}");
}

#[test]
fn user_mode_linux_is_measured() {
    measured_on("", "hostfs");
}

#[test]
fn user_mode_linux_has_a_disk() {
    measured_on("tmp=loop:ext4,memory=256MiB", "ext4");
}

/// The guest sees a folder of the host under its own path.
#[test]
fn user_mode_linux_sees_target_directories() {
    if !needs_uml() {
        return;
    }
    let place = Place::new();
    let dir = format!("data={}", place.path("target"));
    let run = place.run(&["native", "uml"], &["file.stat", "file.read size=4KiB*"]).args(ARGS);
    run.args(["--dir", &dir]).start().wait_clean().exits(0);
    assert_eq!(place.comparison("run.jsonl").all_measured("data", "uml"), 2);
}

/// Programs and inputs of this machine, with the machine's own folder for temporary files.
#[test]
fn whole_commands_run_below_a_root() {
    if !needs_uml() {
        return;
    }
    let place = Place::new();
    let options = ["--env", "native", "--env", "uml:root=/", "--runs", "2", "--verify-output"];
    let input = ["--input", "/etc/passwd", "--", "sh", "-c", "sort {} | tee {out}"];
    let run = place.envtax(["time", "--long", "-o", "run.jsonl"]).args(options).args(input);
    run.start().wait_clean().exits(0);
    place.comparison("run.jsonl").measured("command input=passwd", "uml");
    let run = place.envtax([
        "time",
        "--long",
        "-o",
        "no.jsonl",
        "--env",
        "uml:root=/",
        "--",
        "touch",
        "/x",
    ]);
    run.start().wait_clean().exits(3).prints("Read-only file system");
}

#[test]
fn a_user_mode_linux_that_never_boots_is_given_up() {
    if !needs_uml() {
        return;
    }
    let fails = |spec: &str, words: &[&str]| {
        let place = Place::new();
        let run = place.run(&["native", &format!("x={spec}")], &["null"]).args(ARGS);
        run.start().wait_clean().exits(3);
        let comparison = place.comparison("run.jsonl");
        words.iter().for_each(|words| {
            comparison.failed("null", "x", words);
        });
        comparison.measured("null", "native");
    };
    fails("uml:boot=50ms", &["no answer within 0.05 s", "linux.uml"]);
    fails("uml:append=rdinit=/nothing", &["the agent ended", "Kernel panic"]);
}
