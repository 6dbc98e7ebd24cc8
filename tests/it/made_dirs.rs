//! Target directories whose filesystems are made for the run: each kind is made for real, and
//! nothing of it is left.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::kills::runs::on_directories;
use crate::processes;
use crate::support::{Envtax, Place, SHORT, needs};
use crate::traces::loop_devices;

/// A kind with its option, the filesystem that it makes, and the program that it needs.
const KINDS: [(&str, &str, &str, &str); 7] = [
    ("ext4", "loop:ext4:64MiB", "ext4", "mkfs.ext4"),
    ("xfs", "loop:xfs", "xfs", "mkfs.xfs"),
    ("btrfs", "loop:btrfs:256MiB", "btrfs", "mkfs.btrfs"),
    ("mem", "tmpfs:16MiB", "tmpfs", "mount"),
    ("layers", "overlay", "overlay", "mount"),
    ("bound", "fuse", "fuse", "bindfs"),
    ("merged", "fuse:fuse-overlayfs", "fuse.fuse-overlayfs", "fuse-overlayfs"),
];

const PROBES: [&str; 2] = ["file.stat", "file.create"];

/// Whether this user may mount; no package can change this.
pub fn may_mount() -> bool {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut trial = Command::new("unshare");
    trial.args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    let may = root && needs("unshare") && trial.status().is_ok_and(|status| status.success());
    if !may {
        eprintln!("not tested: only root may mount");
    }
    may
}

/// `--dir` for all kinds whose program is installed and whose filesystem this kernel has.
fn usable() -> Vec<(&'static str, &'static str, &'static str)> {
    let known = fs::read_to_string("/proc/filesystems").unwrap();
    let has = |kind: &str| known.lines().any(|line| line.split('\t').nth(1) == Some(kind));
    let kinds = KINDS.into_iter().filter(|(_, made, filesystem, program)| {
        needs(program) && (has(filesystem) || made.starts_with("fuse"))
    });
    kinds.map(|(name, made, filesystem, _)| (name, made, filesystem)).collect()
}

fn with_dirs<'a>(run: Envtax<'a>, dirs: &[(&str, &str, &str)]) -> Envtax<'a> {
    run.args(dirs.iter().flat_map(|(name, made, _)| ["--dir".into(), format!("{name}={made}")]))
}

/// The facts of each environment about its target directories.
fn facts(place: &Place) -> Vec<Value> {
    let file = place.read("run.jsonl");
    let records = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let environments = records.filter(|record| record["record"] == "environment");
    environments.map(|record| record["dirs"].clone()).collect()
}

#[test]
fn each_kind_is_made_seen_and_taken_down() {
    if !may_mount() || !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let dirs = usable();
    let run = place.run(&["native", "namespace", "bwrap"], &PROBES);
    let mut run = with_dirs(run, &dirs).endless().start();
    // The warm-up and one more round of every case, however long this takes, with the disk below.
    run.until_recorded("block", 2 * 3 * PROBES.len() * (dirs.len() + 1));
    run.signal("INT");
    let done = run.wait_clean().exits(3);
    done.prints("Target directories: cost against `disk`");
    let comparison = place.comparison("run.jsonl");
    for column in ["native", "namespace", "bwrap"] {
        for name in dirs.iter().map(|(name, ..)| *name).chain(["disk"]) {
            assert!(comparison.all_measured(name, column) >= PROBES.len(), "{name} in {column}");
        }
    }
    let all = facts(&place);
    assert_eq!(all.len(), 3);
    for seen in &all {
        for (name, made, filesystem) in &dirs {
            let facts = &seen[name];
            assert_eq!(
                (&facts["made"], &facts["filesystem"]),
                (&Value::from(*made), &Value::from(*filesystem))
            );
            assert!(facts["size"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{facts:#}");
            if made.starts_with("loop") {
                let file = facts["backing_file"].as_str().unwrap();
                assert!(file.starts_with(&place.path("tmp")), "{facts:#}");
                assert!(facts["backing_filesystem"].is_string(), "{facts:#}");
            }
        }
    }
}

#[test]
fn options_reach_the_filesystem() {
    if !may_mount() {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native"], &["file.stat"]).args(SHORT);
    let run = run.args(["--dir", "e=loop:ext4:48MiB:noatime,commit=7", "--dir", "t=tmpfs:3MiB"]);
    run.start().wait_clean().exits(0);
    let facts = &facts(&place)[0];
    let text = |dir: &str, fact: &str| facts[dir][fact].as_str().unwrap().to_owned();
    assert!(text("e", "options").contains("noatime"), "{facts:#}");
    assert!(text("e", "filesystem_options").contains("commit=7"), "{facts:#}");
    let size = text("e", "size").parse::<u64>().unwrap();
    assert!((30 << 20..48 << 20).contains(&size), "{facts:#}");
    assert_eq!(text("t", "size"), (3 << 20).to_string(), "{facts:#}");
}

/// Other processes do not see the mounts.
#[test]
fn others_do_not_see_what_is_mounted() {
    if !may_mount() {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native"], &["file.stat"]).endless();
    let mut run = run.args(["--dir", "t=tmpfs", "--dir", "e=loop:ext4:16MiB"]).start();
    run.until_recorded("block", 1);
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!table.contains(&place.path("")), "{table}");
    assert_eq!(loop_devices(&place.path("")).len(), 1);
    run.signal("INT");
    run.wait_clean().exits(3);
}

/// As in a container whose daemon started before: it sees the folder below the mount, which must
/// not be measured in its place.
#[test]
fn an_environment_that_sees_the_folder_below_the_mount_is_told_from_others() {
    if !may_mount() || !needs("nsenter") {
        return;
    }
    let place = Place::new();
    let outside = format!("outside=cmd:nsenter --mount=/proc/{}/ns/mnt", std::process::id());
    let run = place.run(&["native", &outside], &["file.stat", "syscall.getppid"]).args(SHORT);
    let done = run.args(["--dir", "t=tmpfs"]).start().wait_clean().exits(3);
    done.prints("`outside` does not see the filesystem that was made for `--dir t`");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("file.stat", "native").measured("syscall.getppid", "outside");
    comparison.failed("file.stat", "outside", "does not see the filesystem");
}

#[test]
fn a_root_folder_without_the_directory_fails_there_only() {
    if !may_mount() {
        return;
    }
    let place = Place::new();
    fs::create_dir_all(place.path("root/tmp")).unwrap();
    let other = format!("other=chroot:{}", place.path("root"));
    let run = place.run(&["native", &other], &["file.stat", "syscall.getppid"]).args(SHORT);
    let done = run.args(["--dir", "t=tmpfs"]).start().wait_clean().exits(3);
    done.prints("`other` does not see the filesystem");
    place
        .comparison("run.jsonl")
        .measured("file.stat", "native")
        .measured("syscall.getppid", "other");
}

/// Nobody is left to undo anything: mounts, loop devices and servers end by themselves, and the
/// next run removes the folder.
#[test]
fn a_run_killed_with_its_guard_leaves_a_folder_at_most() {
    if !may_mount() || !needs("bindfs") {
        return;
    }
    let place = Place::new();
    let mut run = on_directories(&place).endless().start();
    run.until_recorded("block", 3);
    let all = run.processes();
    let guards: Vec<_> =
        all.iter().filter(|process| process.words.iter().any(|word| word == "guard")).collect();
    assert_eq!(guards.len(), 1, "{all:?}");
    processes::signal(guards[0].pid, "KILL");
    run.signal("KILL");
    run.wait();
    thread::sleep(Duration::from_millis(2100));
    place.envtax(["doctor", "--clean"]).run().exits(0).prints("undone");
    place.is_clean();
}

/// The run is refused with these words, with exit code 2, and leaves nothing.
#[track_caller]
fn refused(dir: &str, words: &[&str]) {
    let place = Place::new();
    let run = place.run(&["native"], &["file.stat"]).args(["--dir", &format!("x={dir}")]);
    let mut done = run.start().wait_clean().exits(2).complains(&format!("`--dir x={dir}`"));
    for words in words {
        done = done.complains(words);
    }
    assert!(!place.has("run.jsonl"));
}

#[test]
fn what_cannot_be_asked_for_is_named() {
    refused("disk", &["is not an absolute path", "no kind of filesystem `disk`", "virtiofs"]);
    refused("loop", &["the type is missing", "`loop:ext4`"]);
    refused("loop:ext4:huge", &["`huge` is no size", "512MiB"]);
    refused("fuse:sshfs", &["no FUSE filesystem `sshfs`", "fuse:fuse-overlayfs"]);
    refused("9p", &["only a virtual machine mounts it", "--env vm"]);
    refused("virtiofs", &["only a virtual machine mounts it"]);
}

#[test]
fn what_cannot_be_made_says_why() {
    if !may_mount() {
        return;
    }
    refused("loop:ext4:900000GiB", &["free, and the image may grow to 900000GiB", "TMPDIR"]);
    refused("loop:nosuchfs", &["there is no `mkfs.nosuchfs` on the search path"]);
    refused("loop:ext4:16MiB:nosuchoption", &["`mount`: ended with exit", "OPTIONS that it takes"]);
    if needs("mkfs.xfs") {
        refused("loop:xfs:100MiB", &["`mkfs.xfs`: ended with exit", "300MB", "another SIZE"]);
    }
    if needs("mkfs.btrfs") {
        refused("loop:btrfs:50MiB", &["minimum size for each btrfs device", "another SIZE"]);
    }
    let known = fs::read_to_string("/proc/filesystems").unwrap();
    if needs("mkfs.minix") && !known.contains("minix") {
        refused("loop:minix", &["unknown filesystem type 'minix'", "/proc/filesystems"]);
    }
}

#[test]
fn a_missing_program_names_its_package() {
    if !may_mount() {
        return;
    }
    for (dir, package) in [("loop:xfs", "xfsprogs"), ("fuse", "bindfs")] {
        let place = Place::new();
        let run = place.run(&["native"], &["file.stat"]).args(["--dir", &format!("x={dir}")]);
        let run = run.variable("PATH", &place.path("target"));
        let done = run.start().wait_clean().exits(2);
        done.complains("on the search path").complains(&format!("apt-get install {package}"));
    }
}

#[test]
fn without_the_right_to_mount_the_remedy_is_named() {
    if !may_mount() || !needs("setpriv") {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native"], &["file.stat"]).args(["--dir", "t=tmpfs"]);
    let mut done =
        run.through(&["setpriv", "--bounding-set", "-sys_admin"]).start().wait_clean().exits(2);
    for words in ["`--dir t=tmpfs`: mounting is refused", "as root", "--dir t=PATH"] {
        done = done.complains(words);
    }
}

/// Runs as a user without rights, with `/dev/fuse` open to all as on a desktop. The first word is a
/// run file: unless it is `-`, the program is killed as soon as the file has a block. The last line
/// is the number of mounts that are left after at most eight seconds.
const AS_NOBODY: &str = r#"
    set -e
    file="$1"; device="$2"; shift 2
    mknod "$device" c 10 229; chmod 666 "$device"; mount --bind "$device" /dev/fuse
    code=0
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@" & pid=$!
    while [ "$file" != - ] && kill -0 $pid; do
        if grep -q '"record":"block"' "$file"; then break; fi
        sleep 0.05
    done
    [ "$file" = - ] || kill -KILL $pid
    wait $pid || code=$?
    left() { grep -c -e '-dirs/' /proc/self/mountinfo || true; }
    for try in 1 2 3 4 5 6 7 8; do [ "$(left)" = 0 ] && break; sleep 1; done
    left
    umount /dev/fuse; rm "$device"
    exit $code"#;

#[test]
fn users_make_fuse_directories_and_leave_none() {
    if !may_mount() || !["setpriv", "bindfs", "fusermount3"].into_iter().all(needs) {
        return;
    }
    let place = Place::new();
    for folder in ["", "tmp", "target"] {
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o1777)).unwrap();
    }
    for (killed, code) in [(true, 137), (false, 0)] {
        let _ = fs::remove_file(place.path("run.jsonl"));
        let run = place.run(&["native"], &["file.stat"]).own_binary();
        let (budget, file) = match killed {
            true => ("1h", place.path("run.jsonl")),
            false => ("1s", "-".to_owned()),
        };
        let run = run.args(["--dir", "f=fuse", "--budget", budget, "--precision", "0"]);
        let device = place.path("device");
        let words = ["unshare", "-m", "sh", "-c", AS_NOBODY, "sh", &file, &device];
        let output = run.through(&words).command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.lines().last(), Some("0"), "{said}{err}");
        assert_eq!(output.status.code(), Some(code), "{said}{err}");
        place.is_clean();
    }
    place.comparison("run.jsonl").measured("file.stat", "native");
}

#[test]
fn the_list_says_what_can_be_made() {
    let place = Place::new();
    let done = place.envtax(["list", "filesystems"]).run().exits(0);
    done.prints("loop:TYPE[:SIZE[:OPTIONS]]").prints("virtiofs[:CACHE]");
    let done = place.envtax(["list", "filesystems", "--long"]).run().exits(0);
    done.prints("# Filesystems").prints("## overlay");
}
