//! Containers of crun, runc, podman and docker, each started for real; what they leave: nothing.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::processes;
use crate::support::{Envtax, Place, Running, SHORT, needs, on_path};

const PROBES: [&str; 3] = ["syscall.getppid", "process.exec target=tiny", "file.create"];
/// How long things outside of a test's place may take to come and go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Commands that list containers and images.
type Lists = Vec<Vec<String>>;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn output(words: &[String]) -> String {
    let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The mark that everything of this run carries in its name, once a launch shows it.
fn token(run: &mut Running<'_>) -> Option<String> {
    let found = run.processes();
    let words = found.iter().flat_map(|process| &process.words);
    let mut names = words.flat_map(|word| word.split("envtax-")).map(|rest| {
        let rest = rest.trim_start_matches("stage-");
        rest.chars().take_while(char::is_ascii_hexdigit).collect::<String>()
    });
    names.find(|name| name.len() == 8)
}

fn until_launched(run: &mut Running<'_>) -> String {
    let mut found = None;
    run.until("a container", |run| {
        found = token(run);
        found.is_some()
    });
    found.unwrap()
}

/// Of what carries that mark, no control group and no state of a runtime is left, and nothing is in
/// the lists.
fn is_clean_outside(token: &str, lists: &Lists) {
    let groups = words("find /sys/fs/cgroup -type d -name *envtax-*");
    let states = words("grep -rhos envtax-[0-9a-f]* /run/runc /run/crun");
    let until = Instant::now() + PATIENCE;
    loop {
        let now: String = lists.iter().chain([&groups, &states]).map(|list| output(list)).collect();
        let left: Vec<&str> = now.lines().filter(|line| line.contains(token)).collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left behind: {left:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// A folder that can be a root, with a folder in it for the place's target directory.
fn root_of(place: &Place) -> String {
    let target = place.path("target");
    for folder in ["dev", "proc", "sys", "tmp", "etc", target.trim_start_matches('/')] {
        fs::create_dir_all(format!("{}/{folder}", place.path("root"))).unwrap();
    }
    place.path("root")
}

/// Measures in environments `a`, `b`, … of these specifications, where `ROOT` stands for a folder
/// that is a root. It is as it was afterwards, and nothing is left elsewhere.
pub fn are_measured(specs: &[&str], lists: &Lists, variables: &[(&str, &str)]) {
    let place = Place::new();
    let root = root_of(&place);
    let listing = || output(&words(&format!("find {root}")));
    let before = listing();
    let names = ["a", "b", "c", "d"].iter().zip(specs);
    let specs: Vec<String> = names
        .clone()
        .map(|(name, spec)| format!("{name}={}", spec.replace("ROOT", &root)))
        .collect();
    let environments: Vec<&str> =
        ["native"].into_iter().chain(specs.iter().map(String::as_str)).collect();
    let dir = format!("d={}", place.path("target"));
    let mut run = place.run(&environments, &PROBES).own_binary().args(["--dir", &dir]);
    for (name, value) in variables {
        run = run.variable(name, value);
    }
    let mut run = run.args(["--budget", "4s", "--answer-timeout", "30s"]).start();
    let token = until_launched(&mut run);
    run.wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for (column, _) in names {
        for row in PROBES {
            comparison.measured(row, column);
        }
    }
    assert_eq!(listing(), before);
    is_clean_outside(&token, lists);
}

/// A long run in that environment.
fn long_run<'a>(place: &'a Place, spec: &str) -> Envtax<'a> {
    let run = place.run(&["native", &format!("x={spec}")], &PROBES).own_binary();
    run.endless().args(["--dir", &format!("d={}", place.path("target"))])
}

type Moment = (&'static str, fn(&mut Running<'_>));

const MOMENTS: [Moment; 4] = [
    ("the runtime", |_| {}),
    ("before tuning", |run| run.until_recorded("header", 1)),
    ("tuning", |run| run.until_recorded("tuned", 2)),
    ("blocks", |run| run.until_recorded("block", 20)),
];

/// Whenever the controller is killed, container, files and control groups go.
pub fn leaves_nothing(spec: &str, lists: &Lists, variables: &[(&str, &str)]) {
    for (name, moment) in MOMENTS {
        let place = Place::new();
        let mut run = long_run(&place, spec);
        for (name, value) in variables {
            run = run.variable(name, value);
        }
        let mut run = run.start();
        let token = until_launched(&mut run);
        moment(&mut run);
        run.processes();
        run.signal("KILL");
        assert_eq!(run.wait_clean().status.code(), None, "{name}");
        is_clean_outside(&token, lists);
    }
}

/// A runtime that is killed under its container: the run goes on with another one.
pub fn is_started_again(spec: &str, lists: &Lists, mark: &str) {
    let place = Place::new();
    let run = place.run(&["native", &format!("x={spec}")], &PROBES[..2]).own_binary();
    // Long before that everything is precise, unless the machine is busy with something else; and
    // a launcher that outlives its container is not waited for.
    let run = run.started_once().args(["--budget", "60s", "--answer-timeout", "1h"]);
    let mut run = run.start();
    let token = until_launched(&mut run);
    run.until_recorded("block", 5);
    let mut found = run.processes();
    found.extend(processes::in_group(&token));
    let all: Vec<String> = found.iter().map(|process| process.words.join(" ")).collect();
    let victim = all.iter().zip(&found).find(|(words, _)| words.contains(mark));
    let (_, victim) = victim.unwrap_or_else(|| panic!("no `{mark}` in {all:#?}"));
    processes::signal(victim.pid, "KILL");
    run.wait_clean().exits(0);
    place.comparison("run.jsonl").measured("syscall.getppid", "x");
    is_clean_outside(&token, lists);
}

/// Whether this is root, who alone can start everything here.
pub fn needs_root() -> bool {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        eprintln!("not tested: only root can do this here");
    }
    root
}

/// The specification does not start as another user than root, and these words say why; without
/// words, it does start.
pub fn as_nobody(spec: &str, complaint: Option<&str>) {
    let place = Place::new();
    let run =
        of_nobody(&place, &["setpriv"], place.run(&["native", &format!("x={spec}")], &PROBES[..1]));
    let mut run = run.args(SHORT);
    if spec.starts_with("gvisor") {
        // Where `go install` puts it, nobody else may look.
        let own = place.path("runsc");
        fs::copy(on_path("runsc").unwrap(), &own).unwrap();
        run = run.variable("ENVTAX_RUNSC", &own);
    }
    let done = run.start().wait_clean();
    match complaint {
        Some(words) => done.complains(words),
        None => done.exits(0),
    };
}

/// The run as a user without rights, who has a home in the place, by `setpriv` or by what takes its
/// words.
fn of_nobody<'a>(place: &Place, setpriv: &[&str], run: Envtax<'a>) -> Envtax<'a> {
    let home = place.path("home");
    fs::create_dir(&home).unwrap();
    for folder in [".", "tmp", "target"] {
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    chown(&home, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let words = [setpriv, &["--reuid", "65534", "--regid", "65534", "--clear-groups"]].concat();
    let run = run.own_binary().through(&words).variable("HOME", &home);
    run.variable("XDG_RUNTIME_DIR", &home)
}

/// Gives user ids to nobody, in a mount namespace of its own, and goes on as what it is told.
const WITH_IDS: &str = r#"
    mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift && exec setpriv "$@""#;

/// Podman keeps a user's ids by a process aside (its own, or catatonit), which ends with the run
/// that began it.
#[test]
fn another_user_gets_a_container_of_podman() {
    let programs = ["podman", "runc", "setpriv", "newuidmap", "unshare"];
    if !programs.into_iter().all(needs) || !needs_root() {
        return;
    }
    for killed in [false, true] {
        let place = Place::new();
        let ids = place.write("ids", "nobody:300000:65536\n");
        let run = place.run(&["native", "x=podman"], &PROBES);
        let run = run.args(["--dir", &format!("d={}", place.path("target"))]);
        let words = ["unshare", "-m", "sh", "-c", WITH_IDS, "sh", &ids];
        let run = of_nobody(&place, &words, run);
        if killed {
            let mut run = run.endless().start();
            run.until_recorded("block", 20);
            run.signal("KILL");
            run.wait_clean();
        } else {
            run.args(["--budget", "4s"]).start().wait_clean().exits(0);
            let comparison = place.comparison("run.jsonl");
            for probe in PROBES {
                comparison.measured(probe, "x");
            }
        }
    }
}

#[test]
fn crun_is_measured() {
    if needs("crun") && needs_root() {
        are_measured(&["crun", "crun:rootfs=ROOT"], &vec![], &[]);
    }
}

#[test]
fn crun_leaves_nothing() {
    if needs("crun") && needs_root() {
        leaves_nothing("crun", &vec![], &[]);
        is_started_again("crun", &vec![], "crun --root");
    }
}

#[test]
fn runc_is_measured() {
    if needs("runc") && needs_root() {
        are_measured(&["runc", "runc:rootfs=ROOT"], &vec![], &[]);
    }
}

#[test]
fn runc_leaves_nothing() {
    if needs("runc") && needs_root() {
        leaves_nothing("runc", &vec![], &[]);
        is_started_again("runc", &vec![], "runc --root");
    }
}

/// The filter is seen from inside, and is none of the runtime's own.
#[test]
fn a_filter_of_system_calls_is_what_was_asked_for() {
    if !needs("runc") || !needs("crun") || !needs_root() {
        return;
    }
    let place = Place::new();
    let filters = ["a=runc:seccomp=default", "b=crun:seccomp=default", "c=runc", "d=crun"];
    place.run(&filters, &PROBES[..1]).args(SHORT).start().wait_clean().exits(0);
    let file = place.read("run.jsonl");
    assert_eq!(file.matches("\"seccomp\":\"2\"").count(), 2, "{file}");
}

#[test]
fn another_user_gets_a_container_of_runc() {
    if needs("runc") && needs("setpriv") && needs_root() {
        as_nobody("runc", None);
    }
}

fn podman_lists() -> Lists {
    vec![words("podman ps --all --format {{.Names}}")]
}

#[test]
fn podman_is_measured() {
    if needs("podman") && needs("runc") && needs_root() {
        are_measured(&["podman", "podman:rootfs=ROOT"], &podman_lists(), &[]);
    }
}

#[test]
fn podman_leaves_nothing() {
    if needs("podman") && needs("runc") && needs_root() {
        leaves_nothing("podman", &podman_lists(), &[]);
        is_started_again("podman", &podman_lists(), "podman --cgroup-manager");
        is_started_again("podman", &podman_lists(), "/conmon ");
    }
}

#[test]
fn an_image_of_podman_is_measured() {
    if !needs("podman") || !needs("runc") || !needs_root() {
        return;
    }
    let image = format!("localhost/test-{}", std::process::id());
    let place = Place::new();
    let tar = tar_of(&place, &root_of(&place));
    output(&words(&format!("podman import {tar} {image}")));
    let spec = format!("podman:{image}");
    are_measured(&[&spec], &podman_lists(), &[]);
    output(&words(&format!("podman rmi {image}")));
}

#[test]
fn podman_says_what_is_missing() {
    if !needs("podman") || !needs("setpriv") || !needs_root() {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "x=podman:no/such:image"], &PROBES[..1]).args(SHORT);
    let done = run.start().wait_clean().exits(3);
    done.complains("podman has no image `no/such:image` here").complains("podman pull");
    as_nobody("podman", Some("/etc/subuid gives you none"));
}

fn tar_of(place: &Place, root: &str) -> String {
    let tar = place.path("root.tar");
    output(&words(&format!("tar -C {root} -cf {tar} .")));
    tar
}

/// A daemon of docker for one test, with all that it keeps in a folder of its own.
struct Daemon {
    child: Child,
    folder: TempDir,
}

impl Daemon {
    fn start() -> Daemon {
        // Where its mounts are nobody else's leftovers.
        let folder = TempDir::new_in("/var/tmp").unwrap();
        let at = folder.path().display();
        let line = format!(
            "dockerd --data-root {at}/data --exec-root {at}/exec -H unix://{at}/sock -p {at}/pid \
             --iptables=false --ip6tables=false --bridge=none"
        );
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("dockerd");
        command.args(&words(&line)[1..]).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let mut daemon = Daemon { child, folder };
        let until = Instant::now() + PATIENCE;
        while output(&daemon.docker("version --format {{.Server.Version}}")).trim().is_empty() {
            let ended = daemon.child.try_wait().unwrap();
            let log = fs::read_to_string(daemon.folder.path().join("log")).unwrap();
            assert!(ended.is_none() && Instant::now() < until, "no dockerd: {log}");
            thread::sleep(Duration::from_millis(100));
        }
        daemon
    }

    fn host(&self) -> String {
        format!("unix://{}/sock", self.folder.path().display())
    }

    fn docker(&self, line: &str) -> Vec<String> {
        words(&format!("docker --host {} {line}", self.host()))
    }

    fn lists(&self) -> Lists {
        let images = "images --format {{.Repository}}";
        vec![self.docker("ps --all --format {{.Names}}"), self.docker(images)]
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        processes::signal(self.child.id(), "TERM");
        let _ = self.child.wait();
        // The parent of all its containers' control groups, which docker leaves.
        output(&words("find /sys/fs/cgroup -depth -type d -path */docker* -delete"));
    }
}

#[test]
fn docker_is_measured_and_leaves_nothing() {
    if !needs("docker") || !needs("dockerd") || !needs_root() {
        return;
    }
    let daemon = Daemon::start();
    let host = daemon.host();
    let variables = [("DOCKER_HOST", host.as_str())];
    let place = Place::new();
    let tar = tar_of(&place, &root_of(&place));
    output(&daemon.docker(&format!("import {tar} own:1")));
    let specs = ["docker", "docker:own:1,seccomp=unconfined", "docker:rootfs=ROOT"];
    are_measured(&specs, &daemon.lists(), &variables);
    leaves_nothing("docker", &daemon.lists(), &variables);
    let run = place.run(&["native", "x=docker:no/such:image"], &PROBES[..1]).args(SHORT);
    let done = run.variable("DOCKER_HOST", &host).start().wait_clean().exits(3);
    done.complains("docker has no image `no/such:image` here").complains("docker pull");
    assert_eq!(output(&daemon.docker("images --format {{.Repository}}")).trim(), "own");
}

#[test]
fn docker_without_a_daemon_says_so() {
    if !needs("docker") {
        return;
    }
    let place = Place::new();
    let run = place.run(&["native", "x=docker"], &PROBES[..1]).args(SHORT);
    let host = format!("unix://{}", place.path("none"));
    let done = run.variable("DOCKER_HOST", &host).start().wait_clean().exits(3);
    done.complains("docker's daemon does not answer").complains("name one in DOCKER_HOST");
}

#[test]
fn a_runtime_that_is_not_there_is_a_row_with_the_remedy() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    for kind in ["crun", "runc", "podman", "docker"] {
        let run = place.run(&["native", &format!("x={kind}")], &PROBES[..1]).args(SHORT);
        let run = run.args(["--force"]).variable("PATH", &place.path("bin"));
        let done = run.start().wait_clean().exits(3);
        done.complains(&format!("there is no `{kind}` on the search path"))
            .complains(&format!("apt-get install {}", kind.replace("docker", "docker.io")));
        place.comparison("run.jsonl").measured("syscall.getppid", "native");
    }
}

#[test]
fn arguments_that_are_none_say_what_to_write() {
    let place = Place::new();
    let bare = place.path("target");
    let roots = [("runc:rootfs=/no/such", "`/no/such` is not a folder here".to_owned())];
    let empty = (&*format!("crun:rootfs={bare}"), format!("`{bare}` has no folder `dev`"));
    let others = [
        ("crun:debian", "`debian` is no option: write `crun[:OPTIONS]`"),
        ("podman:a,b", "a second image `b`"),
        ("podman:a,rootfs=/", "exclude each other"),
        ("podman:speed=1", "there is no option `speed`; there are rootfs, runtime, seccomp"),
        ("docker:rootfs=/,runtime=runc", "use `podman:rootfs=/`"),
        ("docker:speed=1", "there is no option `speed`; there are rootfs, runtime, seccomp"),
        ("runc:seccomp=/no/such", "`seccomp=/no/such` is not `default`, `unconfined` or a file"),
    ];
    let others = others.map(|(spec, words)| (spec, words.to_owned()));
    for (spec, words) in roots.into_iter().chain([empty]).chain(others) {
        place.run(&["native", spec], &PROBES[..1]).run().exits(2).complains(&words);
    }
    assert!(Path::new(&bare).read_dir().unwrap().next().is_none());
}

/// A folder that can be a root and has no place for the target directories.
fn bare_root(place: &Place) -> String {
    for folder in ["dev", "proc", "sys", "tmp"] {
        fs::create_dir_all(place.path(&format!("root/{folder}"))).unwrap();
    }
    place.path("root")
}

/// What runtimes would make in the root of a user, and leave there, is there for the run only. Each
/// environment is started several times while the other one is over the same folder.
#[test]
fn a_target_without_a_folder_in_the_root_has_one_for_the_run() {
    if !needs("runc") || !needs("crun") || !needs_root() {
        return;
    }
    let place = Place::new();
    let root = bare_root(&place);
    let before = output(&words(&format!("find {root}")));
    let spec = |name: &str| format!("{name}={name}:rootfs={root}");
    let run = || {
        let run = place.run(&["native", &spec("runc"), &spec("crun")], &["file.create"]);
        run.args(["--dir", &format!("d={}", place.path("target"))]).own_binary()
    };
    let short = run().args(["--launches", "3", "--budget", "4s", "--answer-timeout", "30s"]);
    short.start().wait_clean().exits(0);
    assert_eq!(output(&words(&format!("find {root}"))), before);
    place.comparison("run.jsonl").measured("file.create", "runc").measured("file.create", "crun");
    fs::remove_file(place.path("run.jsonl")).unwrap();
    let mut run = run().endless().started_once().start();
    run.until_recorded("block", 5);
    assert_ne!(output(&words(&format!("find {root}"))), before);
    run.signal("KILL");
    run.wait_clean();
    let until = Instant::now() + PATIENCE;
    while output(&words(&format!("find {root}"))) != before {
        assert!(Instant::now() < until, "{}", output(&words(&format!("find {root}"))));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_target_that_no_folder_can_be_made_for_says_what_to_make() {
    if !needs("runc") {
        return;
    }
    let place = Place::new();
    let root = bare_root(&place);
    let target = place.path("target");
    let first = target[1..].split('/').next().unwrap();
    fs::remove_dir(format!("{root}/tmp")).unwrap();
    symlink("/somewhere", format!("{root}/{first}")).unwrap();
    let spec = format!("x=runc:rootfs={root}");
    let run = place.run(&["native", &spec], &PROBES[..1]).args(SHORT);
    let done = run.args(["--dir", &format!("d={target}")]).start().wait_clean().exits(3);
    let done = done.complains(&format!("`{root}/{first}` is a link"));
    done.complains(&format!("mkdir -p {root}{target}"));
}
