//! Containers of crun, runc, podman and docker: each is started for real and leaves nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::docker_daemon::{Daemon, Lists, words};
use crate::support::{Envtax, Place, SHORT, needs, needs_root, on_path};
use crate::traces::output;

const PROBES: [&str; 3] = ["syscall.getppid", "process.exec target=tiny", "file.create"];
/// How long things outside a test's place may take to appear and disappear.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A folder that can be a root, with a folder in it for the place's target directory.
fn root_of(place: &Place) -> String {
    let target = place.path("target");
    for folder in ["dev", "proc", "sys", "tmp", "etc", target.trim_start_matches('/')] {
        fs::create_dir_all(format!("{}/{folder}", place.path("root"))).unwrap();
    }
    place.path("root")
}

/// Measures environments `a`, `b`, … of these specifications, in which `ROOT` stands for a folder
/// that can be a root. This folder is unchanged afterwards, and nothing is left elsewhere.
pub fn are_measured(specs: &[&str], lists: Lists, variables: &[(&str, &str)]) {
    let place = Place::new();
    place.listed_by(lists);
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
    run.args(["--budget", "4s", "--answer-timeout", "30s"]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for (column, _) in names {
        for row in PROBES {
            comparison.measured(row, column);
        }
    }
    assert_eq!(listing(), before);
}

/// Starts the specification as another user than root. With words, the start fails and they say
/// why; without words it succeeds.
pub fn as_nobody(spec: &str, complaint: Option<&str>) {
    let place = Place::new();
    let run =
        of_nobody(&place, &["setpriv"], place.run(&["native", &format!("x={spec}")], &PROBES[..1]));
    // Long enough for a start on a slow machine.
    let mut run = run.args(["--budget", "10s"]);
    if spec.starts_with("gvisor") {
        // Other users may not look into the folder of `go install`.
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

/// The run as a user without rights, who has a home in the place. `setpriv` or a program with the
/// same words starts it.
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

/// Gives subordinate user ids to nobody, in a mount namespace of its own, and then executes its
/// arguments.
const WITH_IDS: &str = r#"
    mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift && exec setpriv "$@""#;

/// Podman keeps a user's ids by a background process (its own, or catatonit). It ends with the run
/// that started it.
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
        are_measured(&["crun", "crun:rootfs=ROOT"], Lists::new(), &[]);
    }
}

#[test]
fn runc_is_measured() {
    if needs("runc") && needs_root() {
        are_measured(&["runc", "runc:rootfs=ROOT"], Lists::new(), &[]);
    }
}

/// The filter can be seen from inside, and differs from the runtime's own.
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
        are_measured(&["podman", "podman:rootfs=ROOT"], podman_lists(), &[]);
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
    are_measured(&[&spec], podman_lists(), &[]);
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

#[test]
fn docker_is_measured() {
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
    are_measured(&specs, daemon.lists(), &variables);
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

/// A folder that can be a root but lacks the folders of the target directories.
fn bare_root(place: &Place) -> String {
    for folder in ["dev", "proc", "sys", "tmp"] {
        fs::create_dir_all(place.path(&format!("root/{folder}"))).unwrap();
    }
    place.path("root")
}

/// The run that ends first must not take the folder away on which the other one mounts.
#[test]
fn two_runs_share_a_folder_in_the_root_and_the_last_one_removes_it() {
    if !needs("crun") || !needs_root() {
        return;
    }
    let place = Place::new();
    let root = bare_root(&place);
    let before = output(&words(&format!("find {root}")));
    let run = |file: &str, launches: &str, budget: &str| {
        let run = place.envtax(["run", "-o", file, "--env", &format!("box=crun:rootfs={root}")]);
        let run = run.args(["--dir", &format!("d={}", place.path("target"))]);
        let run = run.args(["--probe", "file.create", "--precision", "1000"]);
        run.args(["--launches", launches, "--budget", budget]).start()
    };
    // The second one is started again when the first one has long ended, unless that is slow.
    let (first, second) = (run("first.jsonl", "1", "300s"), run("second.jsonl", "3", "10s"));
    first.wait().exits(0);
    second.wait_clean().exits(0);
    assert_eq!(output(&words(&format!("find {root}"))), before);
    for file in ["first.jsonl", "second.jsonl"] {
        place.comparison(file).measured("file.create", "box");
    }
}

/// Folders that runtimes would make in a user's root, and leave there, exist during the run only.
/// Each environment is started several times while the other one uses the same folder.
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
    let until = Instant::now() + TIME_LIMIT;
    while output(&words(&format!("find {root}"))) != before {
        assert!(Instant::now() < until, "{}", output(&words(&format!("find {root}"))));
        thread::sleep(Duration::from_millis(20));
    }
}

/// A folder that the first run made stays until the second run has ended, which has something
/// mounted on it.
#[test]
fn two_runs_use_a_folder_in_a_root_that_one_of_them_made() {
    if !needs("runc") || !needs_root() {
        return;
    }
    let place = Place::new();
    let root = bare_root(&place);
    let before = output(&words(&format!("find {root}")));
    let spec = format!("x=runc:rootfs={root}");
    let run = |file: &str| {
        let run = place.envtax(["run", "-o", file, "--env", "native", "--env", &spec]);
        let run =
            run.args(["--probe", "file.create", "--dir", &format!("d={}", place.path("target"))]);
        run.own_binary().endless().started_once()
    };
    let mut first = run("first.jsonl").start();
    first.until_recorded_in("first.jsonl", "block", 3);
    let mut second = run("run.jsonl").start();
    second.until_recorded("block", 3);
    first.signal("INT");
    first.wait().exits(3);
    assert_ne!(output(&words(&format!("find {root}"))), before, "the second uses it");
    let blocks = place.read("run.jsonl").matches("{\"record\":\"block\"").count();
    second.until_recorded("block", blocks + 6);
    second.signal("INT");
    second.wait_clean().exits(3);
    assert_eq!(output(&words(&format!("find {root}"))), before);
    assert!(!place.read("run.jsonl").contains("{\"record\":\"outcome\""));
    place.comparison("run.jsonl").measured("file.create", "x");
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
