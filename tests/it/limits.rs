//! Environments that allow few processes: fewer are held, a note says so, and none is left.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::support::{Place, needs};

/// A user id that runs nothing else. A limit counts all processes of a user, so each limit, and
/// each run of the tests, has one of its own.
fn user(limit: u32) -> u32 {
    60_000 + std::process::id() % 1000 * 5 + limit % 5
}

/// An environment in which that user may have this number of processes; none if it cannot be made.
fn limited_user(place: &Place, processes: u32) -> Option<String> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("not tested: only root can become another user");
        return None;
    }
    if !needs("setpriv") || !needs("prlimit") {
        return None;
    }
    for (folder, mode) in [("", 0o755), ("tmp", 0o777)] {
        fs::set_permissions(place.path(folder), Permissions::from_mode(mode)).unwrap();
    }
    let user = user(processes);
    let user = format!("setpriv --reuid {user} --regid {user} --clear-groups");
    Some(format!("limited=cmd:{user} prlimit --nproc={processes}:{processes}"))
}

/// Measures holds of 300 in the environment. Returns the environment's records.
fn records(place: &Place, environment: &str, probes: &[&str]) -> Vec<String> {
    let run = place.run(&["native", environment], probes).own_binary();
    // Both cases are measured however slow the machine is, and the run ends soon where it is fast.
    run.args(["--budget", "20s", "--precision", "400"]).start().wait_clean();
    let text = place.read("run.jsonl");
    let lines = text.lines().filter(|line| line.contains("\"limited\"")).map(str::to_owned);
    lines.collect()
}

#[track_caller]
fn some_line_has(lines: &[String], words: &[&str]) {
    let found = lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(found, "no line with {words:?} in\n{}", lines.join("\n"));
}

#[test]
fn a_limit_of_the_user_lowers_the_number_and_is_named() {
    let place = Place::new();
    let Some(environment) = limited_user(&place, 100) else { return };
    let probes = ["process.hold n=300", "thread.hold n=300"];
    let records = records(&place, &environment, &probes);
    // Of 100, agent and worker take two, and a tenth of the rest is left to others.
    let note = "n lowered from 300 to 89: RLIMIT_NPROC is 100";
    some_line_has(&records, &["\"block\"", "\"case\":0", "\"iterations\":89", note]);
    some_line_has(&records, &["\"block\"", "\"case\":1", "\"iterations\":89", note]);
}

#[test]
fn a_limit_below_ten_is_no_measurement() {
    let place = Place::new();
    let Some(environment) = limited_user(&place, 8) else { return };
    let records = records(&place, &environment, &["process.hold n=300"]);
    some_line_has(&records, &["only 6 of 300 could be held: RLIMIT_NPROC is 8; raise that limit"]);
}

/// A new cgroup below that of the tests. It is removed when dropped.
struct Cgroup(PathBuf);

impl Cgroup {
    /// None where this process cannot make one.
    fn with_pids_max(pids: u32) -> Option<Cgroup> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let path = |mark: &str| {
            let (_, path) = own.lines().find_map(|line| line.split_once(mark))?;
            Some(path.trim_start_matches('/').to_owned())
        };
        let places = [(":pids:", "/sys/fs/cgroup/pids"), ("0::", "/sys/fs/cgroup")];
        for (mark, mount) in places {
            let Some(path) = path(mark) else { continue };
            let name = format!("envtax-test-{}", std::process::id());
            let cgroup = Cgroup(Path::new(mount).join(path).join(name));
            if fs::create_dir(&cgroup.0).is_ok()
                && fs::write(cgroup.0.join("pids.max"), pids.to_string()).is_ok()
            {
                return Some(cgroup);
            }
        }
        eprintln!("not tested: no cgroup with a limit on processes can be made here");
        None
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Killed processes leave it a moment later.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_limit_of_the_cgroup_lowers_the_number_and_is_named() {
    let Some(cgroup) = Cgroup::with_pids_max(150) else { return };
    let place = Place::new();
    let script = format!("echo $$ >{}/cgroup.procs && exec \"$@\"", cgroup.0.display());
    let records = records(&place, &place.fake("limited", &script), &["process.hold n=300"]);
    let note = "n lowered from 300 to 134: pids.max of the cgroup is 150";
    some_line_has(&records, &["\"iterations\":134", note]);
}
