//! Virtual machines, started for real; they are emulated if there is no KVM.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Place, needs, needs_kernel};

/// Boots are slow under emulation, and slower beside other tests.
const ARGS: [&str; 4] = ["--budget", "5s", "--answer-timeout", "50s"];

fn ready() -> bool {
    needs("qemu-system-x86_64") && needs_kernel()
}

/// One short run. The machine's folder for temporary files is on that filesystem.
fn measured_on(tmp: &str, filesystem: &str) {
    if !ready() {
        return;
    }
    let place = Place::new();
    let spec = format!("vm:{tmp}");
    let run = place.run(&["native", &spec], &["syscall.getppid", "file.open"]).args(ARGS);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("syscall.getppid", "vm").measured("file.open", "vm");
    let file = place.read("run.jsonl");
    assert!(file.contains(&format!("\"filesystem\":\"{filesystem}\"")), "{file}");
    let accelerator = ["tcg", "kvm"].map(|name| format!("\"accelerator\":\"{name}\""));
    assert!(accelerator.iter().any(|fact| file.contains(fact)), "{file}");
}

#[test]
fn a_virtual_machine_is_measured() {
    measured_on("cpus=1,memory=512MiB", "tmpfs");
}

#[test]
fn a_virtual_machine_has_a_disk() {
    measured_on("tmp=loop:ext4", "ext4");
}

#[test]
fn a_virtual_machine_shares_a_folder_by_9p() {
    measured_on("tmp=9p", "9p");
}

#[test]
fn a_virtual_machine_shares_a_folder_by_virtiofs() {
    let servers = ["/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd"];
    if servers.iter().any(|path| Path::new(path).is_file()) || needs("virtiofsd") {
        measured_on("tmp=virtiofs", "virtiofs");
    }
}

/// Programs and inputs of this machine, with the machine's own folder for temporary files.
#[test]
fn whole_commands_run_below_a_root() {
    if !ready() {
        return;
    }
    let place = Place::new();
    let options = ["--env", "native", "--env", "vm:root=/", "--runs", "2", "--verify-output"];
    let input = ["--input", "/etc/passwd", "--", "sh", "-c", "sort {} | tee {out}"];
    let run = place.envtax(["time", "--long", "-o", "run.jsonl"]).args(options).args(input);
    run.start().wait_clean().exits(0);
    place.comparison("run.jsonl").measured("command input=passwd", "vm");
    let run = place.envtax([
        "time",
        "--long",
        "-o",
        "no.jsonl",
        "--env",
        "vm:root=/",
        "--",
        "touch",
        "/x",
    ]);
    run.start().wait_clean().exits(3).prints("Read-only file system");
}

/// Root of a guest may set its calendar's clock: each run of the command moves it by decades, forth
/// or back. Times come from another clock, and nothing waits for a date. Only a guest is asked, and
/// never this machine.
#[test]
fn a_clock_that_is_set_in_a_guest_changes_no_figure() {
    if !ready() {
        return;
    }
    let place = Place::new();
    let step = "if [ $(date +%Y) -gt 2020 ]; then to=2001; else to=2033; fi; \
                date -s $to-05-05 >/dev/null && sleep 0.3 && [ $(date +%Y) = $to ]";
    let run = place.envtax(["time", "-o", "run.jsonl", "--env", "vm:root=/", "--runs", "4"]);
    run.args(["--", "sh", "-c", step]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    let wall = comparison.cell("command", "vm")["measured"].clone();
    for figure in ["cost", "all_in", "p90"] {
        let ns = wall[figure].as_f64().unwrap();
        assert!((0.3e9..120e9).contains(&ns), "{figure}: {wall:#}");
    }
    let kinds = comparison.0["remarks"].as_array().unwrap().iter().map(|it| it["kind"].clone());
    let of_clock = ["clock_jump", "clock_backward", "clock_rate"];
    assert!(!kinds.clone().any(|kind| of_clock.contains(&kind.as_str().unwrap())), "{wall:#}");
}

/// The environment's rows fail with these words; the others go on.
fn fails(spec: &str, words: &[&str]) {
    let place = Place::new();
    let run = place.run(&["native", &format!("x={spec}")], &["null"]).args(ARGS);
    run.variable("XDG_CACHE_HOME", &cache()).start().wait_clean().exits(3);
    let comparison = place.comparison("run.jsonl");
    words.iter().for_each(|words| {
        comparison.failed("null", "x", words);
    });
    comparison.measured("null", "native");
}

/// The folder that is used without the variable, given explicitly.
fn cache() -> String {
    let named = std::env::var("XDG_CACHE_HOME").ok().filter(|path| path.starts_with('/'));
    named.unwrap_or_else(|| format!("{}/.cache", std::env::var("HOME").unwrap()))
}

#[test]
fn a_guest_that_never_boots_is_given_up() {
    if !ready() {
        return;
    }
    fails("vm:boot=1s", &["no answer within 1 s", "or still boot?", "qemu-system-x86_64"]);
    // The kernel's last messages are quoted.
    let stuck = "vm:append=rdinit=/nothing,append=root=/dev/nothing";
    fails(stuck, &["the agent ended", "Kernel panic - not syncing"]);
}

#[test]
fn what_is_no_kernel_is_not_started() {
    if !needs("qemu-system-x86_64") {
        return;
    }
    fails("vm:kernel=/etc/passwd", &["`/etc/passwd` is no bzImage"]);
    fails("vm:kernel=/etc", &["no kernel `boot/vmlinuz-VERSION` in `/etc`"]);
    let kernels = fs::read_dir("/boot").map(|entries| entries.count()).unwrap_or_default();
    if kernels == 0 {
        let place = Place::new();
        let run = place.run(&["native", "x=vm"], &["null"]).args(ARGS);
        let run = run.variable("XDG_CACHE_HOME", &place.path("cache"));
        run.start().wait_clean().exits(3);
        let comparison = place.comparison("run.jsonl");
        comparison.failed("null", "x", "there is no kernel to boot");
        comparison.failed("null", "x", "scripts/fetch-kernel");
        comparison.failed("null", "x", "dpkg-deb -x");
    }
}

/// A `/dev/kvm` alone is not enough. The start must not hang.
#[test]
fn kvm_that_cannot_be_used_says_why() {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap();
    let flag = cpu.split_whitespace().any(|word| ["vmx", "svm"].contains(&word));
    if !ready() || flag {
        eprintln!("not tested: KVM works here, or there is no QEMU");
        return;
    }
    let reason =
        if PathBuf::from("/dev/kvm").exists() { "neither `vmx` nor `svm`" } else { "/dev/kvm" };
    fails("vm:accel=kvm", &["option `accel=kvm`", reason]);
}

#[test]
fn options_of_machines_are_checked_before_anything_starts() {
    let place = Place::new();
    let says = |spec: &str, words: &str| {
        let done = place.run(&["native", spec], &["null"]).run().exits(2);
        done.complains(&format!("environment `{spec}`")).complains(words);
    };
    says("vm:kernel=/no/such", "there is no `/no/such`");
    says("vm:accel=xen", "there are `kvm` and `tcg`");
    says("vm:cpus=many", "option `cpus=many`: write a number, `cpus=2`");
    says("vm:memory=lots", "option `memory=lots`: write a number and its unit, `memory=512MiB`");
    says("vm:memory=1MiB", "at least 128MiB");
    says("vm:disk=x", "no option `disk`; there are root, kernel, accel");
    says("vm:boot=soon", "write `boot=90s`");
    says("vm:tmp=loop:fat", "a guest's disk can have ext4, xfs, btrfs");
    says("vm:memory", "option `memory` has no value");
    says("uml:cpus=2", "no option `cpus`; there are root, memory, tmp, append, boot");
    says("uml:memory=-1", "option `memory=-1`");
    place.is_clean();
}
