//! However a run ends, nothing of it stays: no process, file, scratch folder or mount.

use std::thread;
use std::time::Duration;

use crate::processes::{self, Process};
use crate::support::{Envtax, Place, Running, SHORT, needs};

/// Probes that leave the most behind when they are cut off: files, children and peers.
const PROBES: [&str; 8] = [
    "file.create",
    "file.read size=1MiB*",
    "process.exec*",
    "thread.create",
    "pipe.roundtrip*",
    "pipe.throughput*reader=other cpu=same",
    "socket.*tcp cpu=same",
    "futex.*same",
];

/// Probes whose worker is many processes.
const CROWDS: [&str; 2] =
    ["process.teardown n=100 shape=tree*", "bystander.latency op=fork during=teardown*"];

/// A long run, in a target directory of its own, over native and one other environment.
fn long_run<'a>(place: &'a Place, other: &str) -> Envtax<'a> {
    let probes = [&PROBES[..], &CROWDS[..]].concat();
    let run = place.run(&["native", &format!("other={other}")], &probes).own_binary();
    run.endless().args(["--dir", &format!("d={}", place.path("target"))])
}

/// A container of sorts: the system's programs and nothing else.
const SYSTEM: &str = "bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
    --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp";

/// A container that does not see envtax: the binary has to go in through its shell, and what stays
/// in its temporary folder stays in ours.
fn container(place: &Place) -> String {
    let (tmp, target) = (place.path("tmp"), place.path("target"));
    let files = format!("--bind {tmp} /var/tmp --bind {target} {target}");
    format!("cmd:{SYSTEM} {files} --setenv TMPDIR /var/tmp --")
}

type Moment = (&'static str, fn(&mut Running<'_>));

const MOMENTS: [Moment; 6] = [
    ("the first agent", |run| run.until("an agent", |run| !run.processes().is_empty())),
    ("the second launch", |run| run.until("two", |run| run.processes().len() > 1)),
    ("before tuning", |run| run.until_recorded("header", 1)),
    ("tuning", |run| run.until_recorded("tuned", 3)),
    ("the first blocks", |run| run.until_recorded("block", 1)),
    ("later blocks", |run| run.until_recorded("block", 50)),
];

/// Kills envtax without a warning, at several moments.
fn killed_controller(other: impl Fn(&Place) -> String) {
    for (name, moment) in MOMENTS {
        let place = Place::new();
        let mut run = long_run(&place, &other(&place)).start();
        moment(&mut run);
        run.processes();
        run.signal("KILL");
        let done = run.wait_clean();
        assert_eq!(done.status.code(), None, "{name}");
        if name.contains("block") {
            let comparison = place.comparison("run.jsonl");
            comparison.remarks("the run was ended from outside before it was done");
        }
    }
}

/// Asks envtax to end, at several moments.
fn interrupted(other: impl Fn(&Place) -> String) {
    for (at, (name, moment)) in MOMENTS.into_iter().enumerate() {
        let place = Place::new();
        let mut run = long_run(&place, &other(&place)).start();
        moment(&mut run);
        run.processes();
        run.signal(["INT", "TERM", "HUP"][at % 3]);
        let done = run.wait_clean();
        if place.has("run.jsonl") {
            done.exits(3).prints("the run was interrupted by the user");
            place.comparison("run.jsonl").remarks("the run was interrupted by the user");
        } else {
            assert!(!name.contains("block") && name != "tuning", "no file at {name}");
            done.exits(2).complains("interrupted before anything was measured");
        }
    }
}

/// Kills a process of the run while it measures. The run goes on, and loses so many rows.
fn killed_inside(other: &str, is_victim: fn(&Process) -> bool, rows: usize) {
    let place = Place::new();
    let environments = ["native", &format!("other={other}")];
    // Few, so that each is reached however slow the machine is.
    let run = place.run(&environments, &PROBES[..3]).own_binary();
    let dir = format!("d={}", place.path("target"));
    let mut run = run.started_once().args(["--budget", "8s", "--dir", &dir]).start();
    run.until_recorded("block", 5);
    run.until("a victim", |run| {
        let found = run.processes();
        let victim = found.iter().rev().find(|process| is_victim(process));
        // Stopped first: what is still there then can no longer finish what it was doing.
        let stopped = victim.filter(|process| {
            processes::signal(process.pid, "STOP");
            run.processes().iter().any(|still| still.pid == process.pid && is_victim(still))
        });
        stopped.inspect(|process| processes::signal(process.pid, "KILL")).is_some()
    });
    run.wait_clean().exits(if rows > 0 { 3 } else { 0 });
    let file = place.read("run.jsonl");
    let lost = file.lines().filter(|line| line.starts_with("{\"record\":\"outcome\""));
    assert_eq!(lost.count(), rows, "{file}");
    place.comparison("run.jsonl");
}

fn native(_: &Place) -> String {
    "native".into()
}

#[test]
fn a_killed_run_leaves_nothing_native() {
    killed_controller(native);
}

#[test]
fn a_killed_run_leaves_nothing_in_namespaces() {
    killed_controller(|_| "namespace".into());
}

#[test]
fn a_killed_run_leaves_nothing_in_bubblewrap() {
    if needs("bwrap") {
        killed_controller(|_| "bwrap".into());
    }
}

#[test]
fn a_killed_run_leaves_nothing_in_proot() {
    if needs("proot") {
        killed_controller(|_| "proot".into());
    }
}

#[test]
fn a_killed_run_leaves_nothing_in_a_container_it_was_sent_to() {
    if needs("bwrap") {
        killed_controller(container);
    }
}

#[test]
fn an_interrupted_run_leaves_its_file_and_nothing_else_native() {
    interrupted(native);
}

#[test]
fn an_interrupted_run_leaves_its_file_and_nothing_else_in_namespaces() {
    interrupted(|_| "namespace".into());
}

#[test]
fn an_interrupted_run_leaves_its_file_and_nothing_else_in_bubblewrap() {
    if needs("bwrap") {
        interrupted(|_| "bwrap".into());
    }
}

#[test]
fn an_interrupted_run_leaves_its_file_and_nothing_else_in_proot() {
    if needs("proot") {
        interrupted(|_| "proot".into());
    }
}

#[test]
fn an_interrupted_run_leaves_its_file_and_nothing_else_in_a_container_it_was_sent_to() {
    if needs("bwrap") {
        interrupted(container);
    }
}

#[test]
fn a_killed_agent_is_started_again_and_leaves_nothing() {
    killed_inside("native", Process::is_agent, 0);
    killed_inside("namespace", Process::is_agent, 0);
    if needs("bwrap") {
        killed_inside("bwrap", Process::is_agent, 0);
    }
    if needs("proot") {
        killed_inside("proot", Process::is_agent, 0);
    }
}

/// Inside namespaces the agent has a process outside that stands for it.
#[test]
fn a_killed_outer_process_is_started_again_and_leaves_nothing() {
    killed_inside(
        "namespace",
        |process| process.is_agent() && process.words.iter().any(|word| word == "--enter"),
        0,
    );
    if needs("bwrap") {
        killed_inside("bwrap", |process| process.program() == "bwrap", 0);
    }
}

#[test]
fn a_killed_worker_costs_one_row_and_leaves_nothing() {
    killed_inside("native", Process::is_worker, 1);
    killed_inside("namespace", Process::is_worker, 1);
    if needs("bwrap") {
        killed_inside("bwrap", Process::is_worker, 1);
    }
}

/// Its children are copies of it, and die with it whether they sleep, start others or exit.
#[test]
fn a_killed_worker_takes_its_process_tree_along() {
    for probe in CROWDS {
        let place = Place::new();
        let mut run =
            place.run(&["native"], &[probe]).own_binary().args(["--budget", "4s"]).start();
        run.until_recorded("tuned", 1);
        run.until("a process tree", |run| {
            let workers: Vec<Process> =
                run.processes().into_iter().filter(Process::is_worker).collect();
            let eldest = workers.iter().map(|worker| worker.pid).min();
            let grown = workers.len() > 20;
            eldest.filter(|_| grown).inspect(|pid| processes::signal(*pid, "KILL")).is_some()
        });
        run.wait_clean();
    }
}

#[test]
fn an_environment_that_hangs_at_its_start_can_be_interrupted() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        let spec = place.fake("x", "sleep 3600 & wait");
        let mut run = place.run(&["native", &spec], &["null"]).start();
        run.until("the hanging sleep", |run| {
            run.processes().iter().any(|process| process.words == ["sleep", "3600"])
        });
        run.signal(signal);
        run.wait_clean().exits(2).complains("interrupted before anything was measured");
        assert!(!place.has("run.jsonl"));
    }
}

/// A launcher that is killed cannot clean up after itself.
#[test]
fn launchers_end_by_themselves() {
    let launcher =
        |place: &Place| place.fake("x", &format!("\"$@\"; echo ended >{}", place.path("mark")));
    let place = Place::new();
    place.run(&["native", &launcher(&place)], &["null"]).args(["--budget", "1s"]).run().exits(0);
    assert!(place.has("mark"), "killed at the end of a run");
    let place = Place::new();
    let mut run = place.run(&["native", &launcher(&place)], &PROBES).start();
    run.until_recorded("block", 5);
    run.signal("INT");
    run.wait_clean().exits(3);
    assert!(place.has("mark"), "killed by an interrupt");
}

/// Nobody closes the input of a launcher that hangs: the guard ends it.
#[test]
fn a_killed_run_does_not_leave_a_launcher_that_hangs() {
    let place = Place::new();
    let spec = place.fake("x", "sleep 3600 & wait");
    let mut run = place.run(&["native", &spec], &["null"]).start();
    run.until("the hanging sleep", |run| {
        run.processes().iter().any(|process| process.words == ["sleep", "3600"])
    });
    run.signal("KILL");
    run.wait_clean();
}

/// The user has lost patience: the second Ctrl-C ends envtax at once, agents end by themselves.
#[test]
fn a_second_interrupt_leaves_nothing_either() {
    let place = Place::new();
    let mut run = long_run(&place, "namespace").start();
    run.until_recorded("block", 5);
    run.signal("INT");
    thread::sleep(Duration::from_millis(1));
    run.signal("INT");
    let code = run.wait_clean().status.code();
    assert!(matches!(code, Some(3 | 130)), "{code:?}");
    place.comparison("run.jsonl");
}

#[test]
fn a_run_through_a_shell_works_and_leaves_nothing() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let spec = format!("other={}", container(&place));
    let run = place.run(&["native", &spec], &["process.exec target=tiny", "file.stat"]);
    let dir = format!("d={}", place.path("target"));
    let run = run.own_binary().args(["--budget", "3s", "--dir", &dir]);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("process.exec target=tiny", "other").measured("file.stat", "other");
}

/// Launchers hand on our variables, and the temporary folder that they name is not in there.
#[test]
fn a_container_without_our_temporary_folder_is_entered_all_the_same() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let spec = format!("other=cmd:{SYSTEM} --");
    let probes = ["syscall.getppid", "process.exec target=tiny"];
    let run = place.run(&["native", &spec], &probes).own_binary().args(["--budget", "2s"]);
    run.start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("process.exec target=tiny", "other").measured("syscall.getppid", "other");
}

/// As ssh does: the words are joined, and another shell splits them again.
#[test]
fn an_agent_is_sent_through_a_command_that_joins_its_words() {
    let place = Place::new();
    let script = "case \"$*\" in sh*) exec sh -c \"$*\";; *) exit 127;; esac";
    let run = place.run(&["native", &place.fake("x", script)], &["process.exec target=tiny"]);
    run.args(SHORT).start().wait_clean().exits(0);
    place.comparison("run.jsonl").measured("process.exec target=tiny", "x");
}

/// The connection breaks in the middle of the binary: what arrived of it is no program.
#[test]
fn half_an_agent_is_not_left_behind() {
    let place = Place::new();
    let script = "[ \"$1\" = sh ] || exit 127; head -c 1000 | \"$@\"";
    let run = place.run(&["native", &place.fake("x", script)], &["syscall.getppid"]);
    run.args(["--budget", "1s"]).start().wait_clean().exits(3).prints("the agent ended");
    place.comparison("run.jsonl").measured("syscall.getppid", "native");
}

/// What is sent is a whole program or nothing: a full disk leaves no half of one.
#[test]
fn a_container_too_small_for_the_agent_says_so() {
    if !crate::support::needs_bwrap_size() {
        return;
    }
    let place = Place::new();
    let small = "--size 65536 --tmpfs /tmp --setenv TMPDIR /tmp";
    let spec = format!("other=cmd:{SYSTEM} {small} --");
    let run = place.run(&["native", &spec], &["syscall.getppid"]).own_binary();
    let done = run.args(["--budget", "1s"]).start().wait_clean().exits(3);
    done.complains("No space left on device");
    place.comparison("run.jsonl").failed("syscall.getppid", "other", "No space left on device");
}

/// What a controller and an agent that were killed at the same instant leave: a scratch folder
/// that nobody holds any more.
fn orphan(place: &Place, name: &str) {
    std::fs::create_dir(place.path(name)).unwrap();
    place.write(&format!("{name}/file"), "x");
    let old = std::time::SystemTime::now() - Duration::from_secs(60);
    std::fs::File::open(place.path(name)).unwrap().set_modified(old).unwrap();
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let place = Place::new();
    orphan(&place, "target/.envtax-0123abcd-7");
    orphan(&place, "tmp/.envtax-0123abcd-8");
    let dir = format!("d={}", place.path("target"));
    let run = place.run(&["native"], &["file.stat"]).args(SHORT).args(["--dir", &dir]);
    let done = run.run().exits(0).complains("removed what a killed run left");
    done.complains(".envtax-0123abcd-7").complains(".envtax-0123abcd-8");
    place.is_clean();
}

#[test]
fn doctor_cleans_up_when_asked() {
    let place = Place::new();
    orphan(&place, "target/.envtax-0123abcd-7");
    let clean = || {
        let target = place.path("target");
        place.envtax(["doctor", "--clean", "--env", "native", "--dir", &target]).run().exits(0)
    };
    clean().prints("removed").prints("target/.envtax-0123abcd-7");
    clean().prints("nothing was left by killed runs");
    let nowhere = place.envtax(["doctor", "--clean", "--dir", "/no/such/folder"]).run().exits(3);
    nowhere.prints("`/no/such/folder`");
    place.is_clean();
}

/// Controller, agents and workers at the same instant: nobody is left who could clean up.
#[test]
fn a_run_killed_as_a_whole_is_cleaned_up_after() {
    let place = Place::new();
    let mut run = long_run(&place, "native").start();
    run.until("a scratch folder", |run| {
        run.processes();
        let entries = std::fs::read_dir(place.path("target")).unwrap();
        let found = entries.flatten().next().is_some();
        if found {
            let all = run.processes();
            run.signal("STOP");
            all.iter().for_each(|process| processes::signal(process.pid, "STOP"));
            run.signal("KILL");
            all.iter().for_each(|process| processes::signal(process.pid, "KILL"));
        }
        found
    });
    run.wait();
    thread::sleep(Duration::from_millis(2100));
    let target = place.path("target");
    place.envtax(["doctor", "--clean", "--dir", &target]).run().exits(0);
    place.is_clean();
}
