//! The facts of environments, and that envtax recognises environments by itself.

use std::fs;

use serde_json::Value;

use crate::support::{Place, SHORT, needs};

/// The records of the environments of a run, the reference first.
fn environments(place: &Place, specs: &[&str]) -> Vec<Value> {
    let run = place.run(specs, &["syscall.getppid"]);
    run.args(SHORT).args(["--dir", &format!("d={}", place.path("target"))]).run().exits(0);
    let text = place.read("run.jsonl");
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["record"] == "environment").collect()
}

fn fact<'a>(environment: &'a Value, name: &str) -> &'a str {
    environment["facts"][name].as_str().unwrap_or_else(|| panic!("no {name}: {environment:#}"))
}

/// The fact `environment` in each of these environments, native first.
fn recognised(specs: &[&str]) -> Vec<String> {
    let place = Place::new();
    let specs: Vec<&str> = [&["native"], specs].concat();
    let found = environments(&place, &specs);
    place.is_clean();
    found.iter().map(|environment| fact(environment, "environment").to_owned()).collect()
}

#[test]
fn built_in_environments_are_recognised_from_inside() {
    let found = recognised(&["namespace", "chroot:/", "cmd:nice -n 1"]);
    let [native, namespace, chroot, nice] = found.as_slice() else { panic!("{found:?}") };
    // In a container there are namespaces already, and the fact names the container.
    assert!(namespace.ends_with(" > namespaces") || namespace == native, "{found:?}");
    assert_eq!(chroot, native, "the root folder is the same");
    assert_eq!(nice, native);
}

/// Not even `/proc` is there.
#[test]
fn a_bare_chroot_still_says_what_it_runs_on() {
    let place = Place::new();
    fs::create_dir(place.path("root")).unwrap();
    fs::create_dir(place.path("root/tmp")).unwrap();
    let bare = format!("bare=chroot:{}", place.path("root"));
    let run = place.run(&["native", &bare], &["syscall.getppid"]);
    run.args(SHORT)
        .run()
        .exits(0)
        .prints("How the environments differ")
        .prints("facts that native shows and these do not");
    let text = place.read("run.jsonl");
    let line = text.lines().find(|line| line.contains("\"name\":\"bare\",\"facts\"")).unwrap();
    let bare: Value = serde_json::from_str(line).unwrap();
    assert!(fact(&bare, "environment").ends_with("chroot"), "{bare:#}");
    assert!(!fact(&bare, "kernel").is_empty() && !fact(&bare, "clock_read").is_empty());
    assert!(bare["facts"]["mitigations"].is_null());
    place.is_clean();
}

#[test]
fn bubblewrap_is_recognised_with_its_version() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let found = environments(&place, &["native", "bwrap"]);
    assert!(fact(&found[1], "environment").ends_with(" > sandbox(bwrap)"), "{:#}", found[1]);
    assert!(fact(&found[1], "launcher").starts_with("bwrap "), "{:#}", found[1]);
    assert!(fact(&found[1], "namespaces").contains("pid"));
    assert!(found[0]["facts"]["launcher"].is_null());
    assert!(found[1]["dirs"]["d"]["options"].as_str().unwrap().contains("nodev"));
    let comparison = place.comparison("run.jsonl").0;
    let differences = comparison["differences"].as_array().unwrap();
    let names: Vec<&str> = differences.iter().map(|it| it["fact"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["environment", "launcher"]);
    assert!(!names.contains(&"kernel") && !names.contains(&"load_1min"), "{names:?}");
    place.is_clean();
}

#[test]
fn tracers_are_recognised_by_name() {
    if needs("proot") {
        let found = recognised(&["proot"]);
        assert_eq!(found[1], format!("{} > ptrace(proot)", found[0]));
    }
    if needs("strace") {
        let found = recognised(&["cmd:strace -f -qq -o /dev/null"]);
        assert_eq!(found[1], format!("{} > ptrace(strace)", found[0]));
    }
}

#[test]
fn firejail_is_recognised() {
    if needs("firejail") {
        let found = recognised(&["cmd:firejail --quiet --noprofile"]);
        assert!(found[1].ends_with(" > sandbox(firejail)"), "{found:?}");
    }
}

#[test]
fn gvisor_is_recognised() {
    if needs("runsc") {
        let found = recognised(&["cmd:runsc --network=none do"]);
        assert!(found[1].ends_with(" > gvisor"), "{found:?}");
    }
}

/// It passes on most files of the system, but answers for the CPU itself.
#[test]
fn translated_programs_are_recognised() {
    if needs("qemu-x86_64-static") {
        let found = recognised(&["qemu-user"]);
        assert!(found[1].ends_with("qemu-user(x86_64)"), "{found:?}");
    }
}
