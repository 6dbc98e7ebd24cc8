//! Linux sandboxes: filters, tracers, firejail and systemd-nspawn. Nothing of them is left.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::processes;
use crate::support::{Place, SHORT, needs};

/// Probes that start processes, that make files, and that do neither.
const PROBES: [&str; 3] = ["syscall.getppid", "process.exec target=tiny", "file.create"];

/// A fact of that environment at its first start.
fn fact(place: &Place, environment: &str, name: &str) -> String {
    let text = place.read("run.jsonl");
    let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = records.find(|it| it["record"] == "environment" && it["name"] == environment);
    found.unwrap()["facts"][name].as_str().unwrap_or_default().to_owned()
}

/// Measures native and these environments. All have figures and leave nothing.
fn measured(place: &Place, environments: &[&str]) {
    let environments = [&["native"], environments].concat();
    let dir = format!("d={}", place.path("target"));
    let run = place.run(&environments, &PROBES).args(["--budget", "3s", "--dir", &dir]);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for environment in environments {
        let name = environment.split(['=', ':']).next().unwrap();
        for row in PROBES {
            comparison.measured(row, name);
        }
    }
}

#[test]
fn filters_are_measured_and_seen_from_inside() {
    let place = Place::new();
    measured(&place, &["seccomp", "open=seccomp:allow"]);
    for (environment, mode) in [("native", "0"), ("seccomp", "2"), ("open", "2")] {
        assert_eq!(fact(&place, environment, "seccomp"), mode, "{environment}");
    }
}

#[test]
fn the_quick_suite_runs_behind_a_filter_and_under_a_tracer() {
    let place = Place::new();
    let environments = ["native", "seccomp", "ptrace"];
    let quick = ["--suite", "quick", "--budget", "8s", "--answer-timeout", "60s"];
    place.run(&environments, &[]).args(quick).start().wait_clean().exits(0);
    for row in place.comparison("run.jsonl").0["rows"].as_array().unwrap() {
        for cell in row["cells"].as_array().unwrap() {
            // A slow machine does not reach every row.
            let known = ["measured", "skipped", "not_reached"];
            assert!(known.iter().any(|state| cell[state].is_object()), "{row:#}");
        }
    }
}

/// A filter that refuses one call: the call fails, but only behind the filter.
#[test]
fn a_profile_of_a_container_engine_is_obeyed() {
    let place = Place::new();
    let profile = r#"{"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": ["symlink", "symlinkat"], "action": "SCMP_ACT_ERRNO",
                      "errnoRet": 13, "args": []}]}"#;
    let spec = format!("own=seccomp:{}", place.write("own.json", profile));
    let run = place.run(&["native", &spec], &["file.symlink", "file.mkdir"]);
    run.args(SHORT).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("file.symlink", "native").measured("file.mkdir", "own");
    comparison.skipped("file.symlink", "own", "Permission denied");
}

#[test]
fn profiles_that_are_none_say_why() {
    let place = Place::new();
    let complaint = |spec: &str, words: &str| {
        place.run(&[&format!("seccomp:{spec}")], &["null"]).run().exits(2).complains(words);
    };
    complaint("docker", "there is no seccomp profile `docker`; there are `container`, `allow`");
    complaint("/no/such.json", "reading `/no/such.json`: No such file");
    complaint(&place.write("half.json", "{"), "line 1 column 1");
    let asks = r#"{"defaultAction": "SCMP_ACT_NOTIFY"}"#;
    complaint(&place.write("asks.json", asks), "a process that envtax lacks");
}

#[test]
fn a_tracer_is_measured_and_seen_from_inside() {
    let place = Place::new();
    measured(&place, &["ptrace"]);
    assert_eq!(fact(&place, "native", "traced"), "no");
    assert_eq!(fact(&place, "ptrace", "traced"), "yes");
    place.comparison("run.jsonl").remarks("`ptrace` differs from native in:");
}

/// firejail's own output, even much of it, is not taken for an answer of the agent.
#[test]
fn firejail_is_measured_with_and_without_a_profile() {
    if !needs("firejail") {
        return;
    }
    let place = Place::new();
    let environments = ["firejail", "loud=firejail:--debug", "full=firejail:--profile=default"];
    measured(&place, &environments);
    assert_eq!(fact(&place, "firejail", "seccomp"), "0");
    assert_eq!(fact(&place, "full", "seccomp"), "2");
}

#[test]
fn a_missing_sandbox_is_said_to_be_missing() {
    let place = Place::new();
    for (kind, program) in [("firejail", "firejail"), ("nspawn", "systemd-nspawn")] {
        let run = place.run(&[kind], &["null"]).variable("PATH", "/no/such/folder").run();
        run.exits(2).complains(&format!("there is no `{program}` on the search path"));
    }
    place.is_clean();
}

/// A folder in the place that nspawn accepts as a root.
pub fn root_folder(place: &Place) -> String {
    for name in ["dev", "etc", "proc", "root", "run", "sys", "tmp", "usr", "var"] {
        fs::create_dir_all(place.path(&format!("root/{name}"))).unwrap();
    }
    place.path("root")
}

/// Everything below a folder, with the times of change.
fn contents(folder: &Path) -> BTreeSet<String> {
    let about = fs::symlink_metadata(folder).unwrap();
    let (mode, time) = (about.mode(), about.mtime_nsec());
    let mut found = BTreeSet::from([format!("{} {mode:o} {time}", folder.display())]);
    if about.is_dir() {
        let entries = fs::read_dir(folder).unwrap();
        found.extend(entries.flat_map(|entry| contents(&entry.unwrap().path())));
    }
    found
}

/// Whether this machine can run nspawn.
pub fn needs_nspawn() -> bool {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        eprintln!("not tested: systemd-nspawn needs root");
    }
    root && needs("systemd-nspawn")
}

#[test]
fn nspawn_is_measured_and_leaves_its_root_as_it_was() {
    if !needs_nspawn() {
        return;
    }
    let place = Place::new();
    let root = root_folder(&place);
    let before = contents(Path::new(&root));
    // Two containers use one folder at the same time.
    measured(&place, &["nspawn", &format!("a=nspawn:{root}"), &format!("b=nspawn:{root}")]);
    assert_eq!(contents(Path::new(&root)), before);
    assert_eq!(fact(&place, "nspawn", "seccomp"), "2");
}

#[test]
fn a_root_that_nspawn_would_change_is_refused() {
    let place = Place::new();
    let refused = |spec: &str, words: &str| {
        place.run(&[spec], &["null"]).run().exits(2).complains(words);
    };
    refused("nspawn:/no/such/folder", "`/no/such/folder` is not a folder here");
    let target = place.path("target");
    refused(&format!("nspawn:{target}"), "&& mkdir dev etc proc root run sys tmp usr var");
    place.is_clean();
}

#[test]
fn nspawn_has_a_place_for_a_target_directory_during_the_run() {
    if !needs_nspawn() {
        return;
    }
    let place = Place::new();
    let root = root_folder(&place);
    let target = tempfile::tempdir_in("/var/tmp").unwrap();
    let dir = format!("d={}", target.path().display());
    let spec = format!("box=nspawn:{root}");
    let run = place.run(&["native", &spec], &["file.stat"]).args(["--dir", &dir]);
    run.args(SHORT).start().wait_clean().exits(0);
    place.comparison("run.jsonl").measured("file.stat", "box");
    assert!(fs::read_dir(format!("{root}/var")).unwrap().next().is_none());
}

#[test]
fn nspawn_says_that_it_needs_root() {
    if !needs_nspawn() {
        return;
    }
    let place = Place::new();
    for folder in ["", "tmp"] {
        fs::set_permissions(place.path(folder), Permissions::from_mode(0o777)).unwrap();
    }
    let mut command = place.run(&["nspawn"], &["null"]).own_binary().command();
    let output = command.uid(65_534).gid(65_534).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("systemd-nspawn needs root"), "{said}");
    place.is_clean();
}

/// Bubblewrap takes away the right to make user namespaces.
#[test]
fn namespaces_that_the_system_refuses_say_so() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let inner = place.run(&["namespace"], &["null"]).command();
    let sandbox = "--dev-bind / / --unshare-user --uid 1000 --disable-userns --cap-drop ALL --";
    let mut command = Command::new("bwrap");
    command.args(sandbox.split(' ')).arg(inner.get_program()).args(inner.get_args());
    let output = command.current_dir(place.path("tmp")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("entering `namespace`: new namespaces:"), "{said}");
    assert!(said.contains("allow user namespaces"), "{said}");
}

/// Orphans of a killed worker become children of the namespace's first process.
#[test]
fn orphans_are_reaped_in_namespaces() {
    let place = Place::new();
    let probes = ["process.teardown n=100 shape=tree*", "file.create", "process.exec"];
    let mut run = place.run(&["namespace"], &probes).endless().start();
    run.until_recorded("tuned", 1);
    run.until("a process tree", |run| {
        let found = run.processes();
        let workers = found.iter().filter(|process| process.is_worker());
        let workers: Vec<u32> = workers.map(|worker| worker.pid).collect();
        let eldest = workers.iter().min().filter(|_| workers.len() > 20);
        eldest.inspect(|pid| processes::signal(**pid, "KILL")).is_some()
    });
    // The row of the killed worker has ended.
    run.until_recorded("outcome", 1);
    run.until("a moment without dead processes", |run| {
        let sessions: BTreeSet<i32> = run.processes().iter().map(|it| it.session).collect();
        processes::dead(&sessions) == 0
    });
    run.signal("INT");
    run.wait_clean();
}
