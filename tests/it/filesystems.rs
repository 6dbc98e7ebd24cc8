//! The probes of whole files on filesystems that are full, read-only, in memory, or lack some
//! operation.

use std::process::{Command, Stdio};

use crate::support::{Done, Place, needs, needs_bwrap_size};

/// Cases that fit on every filesystem below.
const BUFFERED: &str = "file.write size=4KiB total=64KiB mode=buffered data=random";
const DIRECT: &str = "file.write size=4KiB total=64KiB mode=direct data=random";
const WARM: &str = "file.scan size=4KiB total=64KiB cache=warm";
const COLD: &str = "file.scan size=4KiB total=64KiB cache=cold";
const RANDOM: &str = "file.random op=write size=4KiB total=64KiB cache=warm";
const SYNC: &str = "file.sync size=4KiB how=fdatasync";

/// Measures these cases in a folder of the place and expects that exit code.
fn measure(place: &Place, environments: &[&str], cases: &[&str], folder: &str, code: i32) -> Done {
    let run = place.run(environments, cases).args(["--budget", "4s", "--answer-timeout", "20s"]);
    run.args(["--dir", &format!("d={}", place.path(folder))]).run().exits(code)
}

/// Every case was measured in that environment.
fn all_measured(place: &Place, cases: &[&str], environment: &str) {
    let comparison = place.comparison("run.jsonl");
    for case in cases {
        comparison.measured(case, environment);
    }
}

/// An environment that sees a new filesystem in the place's target directory.
fn mounted(place: &Place, name: &str, kind: &str) -> String {
    let target = place.path("target");
    let inner = format!("mount -t {kind} none '{target}' && exec \"$@\"");
    place.fake(name, &format!("exec unshare -rm sh -c '{}' sh \"$@\"", quoted(&inner)))
}

fn quoted(text: &str) -> String {
    text.replace('\'', r"'\''")
}

/// Whether a user may mount in a namespace of its own here; no package can change this.
fn may_mount() -> bool {
    if !needs("unshare") {
        return false;
    }
    let mut trial = Command::new("unshare");
    trial.args(["-rm", "mount", "-t", "ramfs", "none", "/mnt"]).stderr(Stdio::null());
    let may = trial.status().unwrap().success();
    if !may {
        eprintln!("not tested: namespaces may not be made here");
    }
    may
}

#[test]
fn what_does_not_fit_is_skipped_with_both_figures() {
    if !needs_bwrap_size() {
        return;
    }
    let place = Place::new();
    let environment = format!("small=bwrap:--size 1048576 --tmpfs {}", place.path("target"));
    let large = "file.write size=1MiB total=16MiB mode=buffered data=random";
    let done = measure(&place, &[&environment], &[large, BUFFERED], "target", 0);
    done.prints("`small`: 2 rows skipped:").prints("has 1.00 MiB free, and this needs 16MiB");
    place.comparison("run.jsonl").skipped(large, "small", "`total=`").measured(BUFFERED, "small");
    place.is_clean();
}

#[test]
fn a_limit_on_files_is_named() {
    let place = Place::new();
    let environment = place.fake("limited", "ulimit -f 16; exec \"$@\"");
    let done = measure(&place, &[&environment], &[BUFFERED], "target", 3);
    let done = done.complains("nothing was measured: every row was skipped");
    done.prints("skipped").prints("may have 8.00 KiB here (`ulimit -f`) and this needs 64KiB");
    place.is_clean();
}

#[test]
fn parts_of_a_block_are_refused() {
    let place = Place::new();
    let odd = "file.write size=4KiB total=65KiB";
    let done = measure(&place, &["native"], &[odd], "target", 3);
    done.prints("`total=65KiB` is not a multiple of `size=4KiB`");
    place.is_clean();
}

#[test]
fn caches_that_may_not_be_dropped_are_named() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let dropped = "file.scan size=4KiB total=64KiB cache=dropped";
    let environment = "bwrap:--ro-bind /proc/sys /proc/sys";
    let done = measure(&place, &[environment], &[dropped], "target", 3);
    done.prints("may not be dropped here").prints("`cache=cold`");
    place.comparison("run.jsonl").skipped(dropped, "bwrap", "drop_caches");
    place.is_clean();
}

#[test]
fn nothing_is_measured_where_nothing_may_be_written() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let target = place.path("target");
    let environment = format!("ro=bwrap:--ro-bind {target} {target}");
    let cases = [BUFFERED, WARM, RANDOM, SYNC];
    measure(&place, &["native", &environment], &cases, "target", 3).prints("Read-only file system");
    let comparison = place.comparison("run.jsonl");
    for case in cases {
        comparison.failed(case, "ro", &target);
    }
    place.is_clean();
}

#[test]
fn a_filesystem_without_direct_access_is_named() {
    if !may_mount() {
        return;
    }
    let place = Place::new();
    let environment = mounted(&place, "ram", "ramfs");
    let direct = [DIRECT, "file.scan size=4KiB total=64KiB cache=direct"];
    let done = measure(&place, &[&environment], &[direct[0], direct[1], BUFFERED], "target", 0);
    done.prints("refuses direct access (O_DIRECT)").prints(&place.path("target"));
    let comparison = place.comparison("run.jsonl");
    comparison.measured(BUFFERED, "ram");
    for case in direct {
        comparison.skipped(case, "ram", "O_DIRECT");
    }
    place.is_clean();
}

#[test]
fn memory_is_neither_durable_nor_cold() {
    if !may_mount() {
        return;
    }
    let place = Place::new();
    let environment = mounted(&place, "memory", "tmpfs");
    let cases = [BUFFERED, COLD, RANDOM, SYNC];
    measure(&place, &[&environment], &cases, "target", 0);
    all_measured(&place, &cases, "memory");
    let records = place.read("run.jsonl");
    for words in [
        "the folder is in memory (tmpfs): nothing written there is durable",
        "requested cold, not verified: the folder is in memory (tmpfs)",
        "\"cold_verified\":0",
        "\"claimed_bytes\":",
    ] {
        assert!(records.contains(words), "no `{words}`");
    }
    assert!(!records.contains("device_bytes"), "memory is no device");
    place.is_clean();
}

/// A FUSE filesystem over a folder, unmounted when dropped.
struct Fuse(String);

impl Fuse {
    /// With `direct_io`: its files have no pages in the cache and cannot be mapped.
    fn over(source: &str, point: String) -> Option<Fuse> {
        let mut bindfs = Command::new("bindfs");
        bindfs.args(["--no-allow-other", "-o", "direct_io", source, &point]).stderr(Stdio::null());
        let mounted = bindfs.status().unwrap().success();
        mounted.then_some(Fuse(point))
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let unmount = |program: &str, option: &str| {
            let mut command = Command::new(program);
            command.args([option, &self.0]).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let _ = unmount("fusermount", "-u") || unmount("umount", "-l");
    }
}

#[test]
fn a_filesystem_that_cannot_be_mapped_is_measured_and_never_called_cold() {
    if !needs("bindfs") {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.path("fuse")).unwrap();
    let Some(fuse) = Fuse::over(&place.path("target"), place.path("fuse")) else {
        eprintln!("not tested: FUSE filesystems may not be mounted here");
        return;
    };
    let cases = [BUFFERED, DIRECT, WARM, COLD, RANDOM, SYNC];
    measure(&place, &["native"], &cases, "fuse", 0);
    all_measured(&place, &cases, "native");
    drop(fuse);
    let records = place.read("run.jsonl");
    for words in ["requested warm, ", "requested cold, not verified: ", "\"cold_verified\":0"] {
        assert!(records.contains(words), "no `{words}`");
    }
    assert!(!records.contains("device_bytes"), "the device is behind a process");
    place.is_clean();
}
