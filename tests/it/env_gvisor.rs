//! gVisor, started for real.

use serde_json::Value;

use crate::docker_daemon::Lists;
use crate::env_containers::{are_measured, as_nobody};
use crate::support::{Place, SHORT, needs, needs_root};

#[test]
fn gvisor_is_measured() {
    if needs("runsc") && needs_root() {
        let ptrace = "gvisor:platform=ptrace,overlay=none,directfs=false";
        are_measured(&["gvisor", "gvisor:rootfs=ROOT", ptrace], Lists::new(), &[]);
    }
}

/// gVisor reads its clock by a system call in its first second, and never again.
#[test]
fn gvisors_clock_is_what_it_will_be() {
    if !needs("runsc") || !needs_root() {
        return;
    }
    let place = Place::new();
    place.run(&["native", "x=gvisor"], &["null"]).args(SHORT).start().wait_clean().exits(0);
    let file = place.read("run.jsonl");
    let mut lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let there = lines.find(|it| it["record"] == "environment" && it["name"] == "x").unwrap();
    assert_eq!(there["facts"]["clock_read"], "vdso", "{there:#}");
    let costs = there["facts"]["clock_read_costs"].as_str().unwrap();
    let by_call = costs.split_whitespace().rev().nth(1).unwrap().parse::<f64>().unwrap();
    assert!(there["clock"]["cost_ns"].as_f64().unwrap() < 0.6 * by_call, "{there:#}");
}

#[test]
fn gvisor_is_measured_below_podman() {
    if needs("runsc") && needs("podman") && needs_root() {
        are_measured(&["podman:runtime=runsc"], Lists::new(), &[]);
    }
}

#[test]
fn another_user_gets_gvisor_but_not_over_a_folder() {
    if needs("runsc") && needs("setpriv") && needs_root() {
        as_nobody("gvisor", None);
        as_nobody("gvisor:rootfs=/", Some("only root can give gVisor a folder"));
    }
}

/// A start that would hang for ever is refused before.
#[test]
fn gvisor_on_a_kvm_that_cannot_run_it_is_refused() {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let works = flags.split_whitespace().any(|flag| ["vmx", "svm"].contains(&flag));
    if !needs("runsc") || works {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "x=gvisor:platform=kvm"], &["syscall.getppid"]).args(SHORT);
    run.start().wait_clean().exits(3).complains("leave `platform=kvm` out");
    place.comparison("run.jsonl").failed("syscall.getppid", "x", "/dev/kvm");
}

#[test]
fn gvisor_that_is_not_there_says_how_it_is_built() {
    let place = Place::new();
    std::fs::create_dir(place.path("bin")).unwrap();
    let run = place.run(&["native", "x=gvisor"], &["syscall.getppid"]).args(SHORT);
    let run = run.variable("PATH", &place.path("bin")).variable("HOME", &place.path("bin"));
    let done = run.variable("ENVTAX_RUNSC", "").start().wait_clean().exits(3);
    done.complains("there is no `runsc`").complains("CGO_ENABLED=0 go install gvisor.dev");
    let wrong = place.run(&["x=gvisor:platform=xen"], &["syscall.getppid"]).run().exits(2);
    wrong.complains("`platform=xen` is not one of systrap, ptrace, kvm");
}
