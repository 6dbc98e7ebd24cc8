//! Ends of runs that differ from those in the table of `kills/`: launchers that hang, agents that
//! are sent, and what the next run finds of one that was killed.

use std::thread;
use std::time::Duration;

use crate::kills::kinds::{PROBES, SYSTEM, beside, container};
use crate::processes;
use crate::support::{Place, SHORT, needs};

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

/// A killed launcher cannot clean up.
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

/// Nobody closes the input of a launcher that hangs, so the guard ends it.
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

/// The second Ctrl-C ends envtax at once; agents end by themselves.
#[test]
fn a_second_interrupt_leaves_nothing_either() {
    let place = Place::new();
    let mut run = beside(&place, "namespace", &PROBES).start();
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

/// Launchers pass our variables on, but the temporary folder that they name does not exist inside.
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

/// The connection breaks in the middle of the binary, so no program has arrived.
#[test]
fn half_an_agent_is_not_left_behind() {
    let place = Place::new();
    let script = "[ \"$1\" = sh ] || exit 127; head -c 1000 | \"$@\"";
    let run = place.run(&["native", &place.fake("x", script)], &["syscall.getppid"]);
    run.args(["--budget", "1s"]).start().wait_clean().exits(3).prints("the agent ended");
    place.comparison("run.jsonl").measured("syscall.getppid", "native");
}

/// Either the whole program arrives or nothing: a full disk keeps no part of it.
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

/// What is left of a controller and an agent that were killed at the same instant: a scratch folder
/// that nobody holds.
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

/// Controller, agents and workers are killed at the same instant, so nobody is left to clean up.
#[test]
fn a_run_killed_as_a_whole_is_cleaned_up_after() {
    let place = Place::new();
    let mut run = beside(&place, "native", &PROBES).start();
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
