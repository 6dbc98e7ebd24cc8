//! The Windows build under Wine: measured for real, and nothing of it left.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::processes::Process;
use crate::support::{Comparison, Envtax, Place, missing, needs};

/// The folder where cargo puts the build for Windows, found from this build's.
pub fn windows_build() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_envtax")).parent().unwrap();
    let targets = profile.parent().unwrap().parent().unwrap();
    targets.join("x86_64-pc-windows-gnu").join(profile.file_name().unwrap())
}

pub fn needs_wine() -> bool {
    let there = needs("wine") && needs("wineserver");
    let built = windows_build().join("envtax.exe").is_file();
    if there && !built {
        missing("there is no envtax.exe: `cargo build --target x86_64-pc-windows-gnu` makes it");
    }
    there && built
}

/// A run that finds its agent. All these tests share one prefix.
fn run<'a>(place: &'a Place, environments: &[&str], probes: &[&str]) -> Envtax<'a> {
    let run = with_prefix(place.run(environments, probes));
    run.args(["--answer-timeout", "50s"])
}

/// envtax that finds its agent and the shared prefix, which takes long to make and is made once.
pub fn with_prefix(envtax: Envtax<'_>) -> Envtax<'_> {
    static MADE: Once = Once::new();
    let cache = shared_cache();
    fs::create_dir_all(&cache).unwrap();
    MADE.call_once(|| {
        let place = Place::new();
        let run = place.run(&["wine"], &["null"]).args(["--budget", "1s"]);
        with_agent(run).variable("XDG_CACHE_HOME", path_text(&cache)).run();
    });
    // The prefix has folders for temporary files outside the place.
    let users = cache.join("envtax/wine/drive_c/users");
    let users = path_text(&users);
    let list = ["find", "-L", users, "-maxdepth", "6", "-name", ".envtax-*"].map(str::to_owned);
    envtax.place().listed_by([list.to_vec()]);
    let envtax = envtax.variable("ENVTAX_AGENTS", path_text(&windows_build()));
    envtax.variable("XDG_CACHE_HOME", path_text(&cache))
}

/// The folder of the shared prefix, `envtax/wine`.
pub fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("wine")
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn with_agent(run: Envtax<'_>) -> Envtax<'_> {
    let run = run.variable("ENVTAX_AGENTS", path_text(&windows_build()));
    run.args(["--answer-timeout", "50s"])
}

/// Measures these probes natively and under Wine; all of them have figures.
fn are_measured(probes: &[&str], rows: &[&str]) -> (Place, Comparison) {
    let place = Place::new();
    let target = format!("d={}", place.path("target"));
    let run = run(&place, &["native", "wine"], probes).args(["--budget", "40s", "--dir", &target]);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for row in rows {
        comparison.measured(row, "native").measured(row, "wine");
    }
    (place, comparison)
}

#[test]
fn windows_is_measured_beside_native() {
    if !needs_wine() {
        return;
    }
    let probes = [
        "clock.read clock=monotonic",
        "process.exec target=tiny",
        "thread.create",
        "thread.hold n=20",
        "cpu.integer",
    ];
    let (place, comparison) = are_measured(&[&probes[..], &["process.fork"]].concat(), &probes);
    let file = place.read("run.jsonl");
    for fact in ["\"target\":\"x86_64-windows\"", "\"wine\":\"", "\"build\":\""] {
        assert!(file.contains(fact), "{fact} in {file}");
    }
    comparison.skipped("process.fork", "wine", "Windows has no fork");
    // A process takes tens of requests to Wine's server; a computation takes none.
    assert!(comparison.ratio("process.exec target=tiny", "wine") > 5.0);
    assert!(comparison.ratio("cpu.integer", "wine") < 4.0);
}

#[test]
fn files_and_peers_are_those_of_this_machine() {
    if !needs_wine() {
        return;
    }
    let probes = ["file.open", "file.walk", "pipe.roundtrip cpu=same", "memory.fault"];
    let rows = ["file.open", "file.walk files=1000", "pipe.roundtrip cpu=same", "memory.fault"];
    are_measured(&probes, &rows);
}

/// A tree of one child with three children of its own, and processes beside each other. Each takes
/// Wine some hundred milliseconds where other programs want the CPUs.
#[test]
fn processes_of_windows_start_and_end_together() {
    if !needs_wine() {
        return;
    }
    let probes = ["process.teardown n=4 shape=tree", "process.teardown n=2 shape=flat"];
    let rows = [
        "process.teardown n=4 shape=tree pause_ms=10 cpu=free",
        "process.teardown n=2 shape=flat pause_ms=10 cpu=free",
    ];
    are_measured(&probes, &rows);
}

/// Processes that wait for a worker end with it.
#[test]
fn nothing_is_left_of_a_windows_worker_that_is_killed() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let probe = ["process.teardown n=30 shape=tree pause_ms=5000"];
    let mut run = run(&place, &["wine"], &probe).args(["--budget", "30s"]).start();
    let is_member = |process: &Process| process.words.iter().any(|word| word.starts_with("tree:"));
    run.until("the tree", |run| {
        run.processes().iter().filter(|process| is_member(process)).count() >= 30
    });
    run.kills("the worker", |all| all.iter().find(|process| process.is_worker()));
    run.wait_clean();
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let place = Place::new();
    let bad = |spec: &str, words: &str| {
        place.run(&["native", spec], &["null"]).run().exits(2).complains(words);
    };
    bad("wine:fast", "`fast` is not an option of `wine`: write `wine` or `wine:prefix=DIR`");
    bad("wine:prefix=/no/such", "`/no/such` is not a Wine prefix");
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let run =
        |spec: &str| place.run(&["native", spec], &["null"]).args(["--budget", "1s", "--force"]);
    // Without Wine, the other environments go on.
    run("wine").variable("PATH", &empty).run().complains("there is no `wine` on the search path");
    if needs_wine() {
        // The binary alone, without a build for Windows beside it.
        let alone = run("wine").own_binary().variable("ENVTAX_AGENTS", &empty);
        alone.run().complains("there is no `envtax.exe`").complains("cargo build --release");
        fs::write(place.path("empty/system.reg"), "WINE REGISTRY Version 2\n#arch=win32\n")
            .unwrap();
        let spec = format!("wine:prefix={empty}");
        with_agent(run(&spec)).run().complains("is a 32-bit prefix");
        place.is_clean();
    }
}
