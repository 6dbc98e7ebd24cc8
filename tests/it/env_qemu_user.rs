//! QEMU's user mode: what is measured in it, and what must not be taken for it.

use std::path::{Path, PathBuf};

use crate::support::{Place, SHORT, missing, needs};

const PROBE: &str = "syscall.getppid";
const NATIVE: &str = "qemu-x86_64-static";
const FOREIGN: &str = "qemu-aarch64-static";

/// Whether the build of envtax for aarch64 is where cargo puts it.
fn needs_foreign_build() -> bool {
    let targets = Path::new(env!("CARGO_BIN_EXE_envtax")).ancestors().nth(3).unwrap();
    let build = |profile: &str| {
        targets.join("aarch64-unknown-linux-musl").join(profile).join("envtax").exists()
    };
    let found = build("debug") || build("release");
    if !found {
        missing("there is no build for aarch64: cargo build --target aarch64-unknown-linux-musl");
    }
    found
}

/// The first bytes of a program for aarch64, in a file that may be executed.
fn foreign_program(place: &Place, name: &str) -> String {
    let header = [&b"\x7fELF"[..], &[2, 1, 1, 0], &[0; 8], &[2, 0, 183, 0, 1, 0, 0, 0], &[0; 40]];
    place.write_program(name, header.concat())
}

#[test]
fn agent_and_workers_are_emulated() {
    if !needs(NATIVE) {
        return;
    }
    let place = Place::new();
    let probes = [PROBE, "process.fork", "file.create", "process.exec target=tiny"];
    let dir = format!("d={}", place.path("target"));
    let run = place.run(&["native", "qemu-user"], &probes).args(["--dir", &dir]);
    run.args(["--budget", "8s"]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for row in [PROBE, "process.fork", "file.create"] {
        comparison.measured(row, "native").measured(row, "qemu-user");
    }
    comparison.measured("process.exec target=tiny", "native");
    comparison.skipped("process.exec target=tiny", "qemu-user", "leaves the emulator");
    assert!(place.read("run.jsonl").contains("qemu-x86_64-static\""), "a fact");
}

/// The kernel itself runs what an emulated program executes. Without a check, workers would measure
/// the machine and call it the emulator.
#[test]
fn workers_that_leave_the_emulator_are_refused() {
    if !needs(NATIVE) {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", &format!("x=cmd:{NATIVE}")], &[PROBE]).args(SHORT);
    run.start().wait_clean().exits(3);
    let comparison = place.comparison("run.jsonl");
    comparison.measured(PROBE, "native").failed(PROBE, "x", "its worker in no emulator");
}

#[test]
fn an_agent_that_should_be_emulated_and_is_not_is_refused() {
    let place = Place::new();
    let agent = env!("CARGO_BIN_EXE_envtax");
    let run = place.envtax(["agent", "--self", agent, "--via", NATIVE]).run();
    run.exits(2).complains("this agent does not run in `qemu-x86_64-static`");
}

#[test]
fn another_processor_is_measured() {
    if !needs(FOREIGN) || !needs_foreign_build() {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "qemu-user:aarch64"], &[PROBE, "process.exec"]);
    run.args(["--budget", "8s"]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured(PROBE, "qemu-user");
    comparison.skipped("process.exec target=shell", "qemu-user", "leaves the emulator");
    assert!(place.read("run.jsonl").contains("\"aarch64-linux\""), "what the agent is built for");
}

#[test]
fn programs_of_another_processor_are_executed_where_the_kernel_is_told_how() {
    if !needs(FOREIGN) || !needs("unshare") || !needs_foreign_build() {
        return;
    }
    let place = Place::new();
    let probes = ["process.exec target=tiny", "process.exec target=dynamic"];
    let run = place.run(&["native", "qemu-user:aarch64,binfmt=yes"], &probes);
    run.args(["--budget", "8s"]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("process.exec target=tiny", "qemu-user");
    comparison.skipped("process.exec target=dynamic", "qemu-user", "leaves the emulator");
}

#[test]
fn without_the_build_it_says_which_and_how_to_make_it() {
    if !needs(FOREIGN) {
        return;
    }
    let place = Place::new();
    let run = || place.run(&["native", "x=qemu-user:aarch64"], &[PROBE]).own_binary().args(SHORT);
    run().run().exits(3).prints("there is no `envtax-aarch64`").prints("cargo build --release");
    // A build for the wrong processor under the right name.
    let agents = PathBuf::from(place.path("agents"));
    std::fs::create_dir(&agents).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_envtax"), agents.join("envtax-aarch64")).unwrap();
    let run = run().args(["--force"]).variable("ENVTAX_AGENTS", agents.to_str().unwrap());
    run.run().exits(3).prints("is no build for aarch64-unknown-linux-musl; replace it");
}

#[test]
fn an_agent_for_another_processor_says_what_helps() {
    if !needs("bash") {
        return;
    }
    let place = Place::new();
    let helps = "the agent is built for another processor than the environment has";
    // The kernel refuses to execute it.
    let program = foreign_program(&place, "foreign");
    let script = format!("exec bash -c 'exec {program}'");
    let run = place.run(&["native", &place.fake("x", &script)], &[PROBE]).args(SHORT);
    run.start().wait_clean().exits(3).complains("Exec format error").complains(helps);
    // The environment's own shell reports it before anything is sent.
    place.write_program("uname", "#!/bin/sh\necho riscv64\n");
    let path = format!("PATH={}:$PATH", place.path(""));
    let script = format!("[ \"$1\" = sh ] || exit 9; {path}; exec \"$@\"");
    let run = place.run(&["native", &place.fake("x", &script)], &[PROBE]).args(SHORT);
    let done = run.args(["--force"]).start().wait_clean().exits(3);
    done.complains("this system is riscv64, and the agent that is sent is built for")
        .complains(helps);
}

#[test]
fn arguments_that_are_none_are_refused() {
    let place = Place::new();
    let refused = |spec: &str, words: &str| {
        place.run(&[spec], &[PROBE]).run().exits(2).complains(words);
    };
    refused("qemu-user:riscv64", "emulates x86_64 and aarch64 here, not `riscv64`");
    refused("qemu-user:aarch64,binfmt", "write `qemu-user[:MACHINE[,binfmt=yes]]`");
    refused("appv:Firefox", "Get-AppvClientPackage -Name NAME");
    refused("thinapp", "write `thinapp:ENTRYPOINT`");
    refused("wsl:Debian,root", "`root` is not an option of `wsl`");
    refused("windows:C", "`windows` takes no argument");
}

/// Options that only Windows has are reported as such.
#[test]
fn what_windows_has_is_not_started_here() {
    let package = "0dc50b1c-1f5b-4a3e-8f0f-aaaaaaaaaaaa_7c0f0d52-2f0e-4c39-9d05-bbbbbbbbbbbb";
    let place = Place::new();
    let specs = ["native", &format!("appv:{package}"), "thinapp:cmd.exe"];
    let done = place.run(&specs, &[PROBE]).args(SHORT).run().exits(3);
    done.prints("envtax starts `appv` on Windows only")
        .prints("envtax starts `thinapp` on Windows");
}

/// The kernel itself runs the command, so its time would not be the emulator's.
#[test]
fn whole_commands_that_leave_the_emulator_are_skipped() {
    if !needs(NATIVE) {
        return;
    }
    let place = Place::new();
    let script = place.write_program("script", "#!/bin/sh\n:\n");
    for command in ["true", &script] {
        let timed = [
            "time",
            "--long",
            "-o",
            "run.jsonl",
            "--force",
            "--env",
            "native",
            "--env",
            "qemu-user",
        ];
        let timed = place.envtax(timed).args(["--runs", "2", "--", command]);
        timed.start().wait_clean().exits(0);
        let comparison = place.comparison("run.jsonl");
        comparison.measured("command", "native");
        comparison.skipped("command", "qemu-user", "it leaves the emulator");
    }
}
