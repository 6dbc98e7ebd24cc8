//! User-mode Linux, started for real.

use crate::processes;
use crate::support::{Place, Running, needs};

const ARGS: [&str; 4] = ["--budget", "5s", "--answer-timeout", "50s"];

/// One short run; the machine's folder for temporary files is of that kind.
fn measured_on(options: &str, filesystem: &str) {
    if !needs("linux.uml") {
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

/// A folder of the host is there under its own path.
#[test]
fn user_mode_linux_sees_target_directories() {
    if !needs("linux.uml") {
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
    if !needs("linux.uml") {
        return;
    }
    let place = Place::new();
    let options = ["--env", "native", "--env", "uml:root=/", "--runs", "2", "--verify-output"];
    let input = ["--input", "/etc/passwd", "--", "sh", "-c", "sort {} | tee {out}"];
    let run = place.envtax(["time", "-o", "run.jsonl"]).args(options).args(input);
    run.start().wait_clean().exits(0);
    place.comparison("run.jsonl").measured("command input=passwd", "uml");
    let run = place.envtax(["time", "-o", "no.jsonl", "--env", "uml:root=/", "--", "touch", "/x"]);
    run.start().wait_clean().exits(3).prints("Read-only file system");
}

fn is_booting(run: &mut Running<'_>) -> bool {
    run.processes().iter().any(|process| process.program() == "linux.uml")
}

/// Its processes are processes of the host, stopped in ptrace: none of them stays.
#[test]
fn a_killed_run_leaves_no_user_mode_linux() {
    if !needs("linux.uml") {
        return;
    }
    let moments: [fn(&mut Running<'_>); 2] =
        [|run| run.until("a booting machine", is_booting), |run| run.until_recorded("block", 2)];
    for moment in moments {
        let place = Place::new();
        let probes = ["file.create", "process.fork"];
        let run = place.run(&["native", "uml:tmp=loop:ext4"], &probes);
        let mut run = run.endless().args(["--answer-timeout", "50s"]).start();
        moment(&mut run);
        run.processes();
        run.signal("KILL");
        run.wait_clean();
    }
}

#[test]
fn an_interrupted_run_leaves_no_user_mode_linux() {
    if !needs("linux.uml") {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "uml"], &["file.create", "process.fork"]);
    let mut run = run.endless().args(["--answer-timeout", "50s"]).start();
    run.until_recorded("block", 2);
    run.signal("INT");
    run.wait_clean().exits(3).prints("the run was interrupted by the user");
}

#[test]
fn a_killed_user_mode_linux_is_started_again() {
    if !needs("linux.uml") {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "uml"], &["syscall.getppid"]);
    let limits = ["--budget", "20s", "--answer-timeout", "1h"];
    let mut run = run.started_once().args(limits).start();
    run.until_recorded("block", 3);
    let machine =
        run.processes().iter().filter(|it| it.program() == "linux.uml").map(|it| it.pid).min();
    processes::signal(machine.unwrap(), "KILL");
    run.wait_clean().exits(0);
    place.comparison("run.jsonl").measured("syscall.getppid", "uml");
}

#[test]
fn a_user_mode_linux_that_never_boots_is_given_up() {
    if !needs("linux.uml") {
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
