//! However a run ends, it leaves nothing: no process, file, scratch folder, mount, loop device,
//! control group, or state of a runtime. One harness serves all kinds of environments and runs:
//! `kinds.rs` and `runs.rs` have the rows of the table, and `traces.rs` finds what is left.

pub mod kinds;
pub mod runs;

use std::any::Any;

use crate::processes::Process;
use crate::support::{Done, Envtax, Place, Running};

/// A row of the table: a run in which things are killed.
pub struct Kind {
    /// Whether this machine has the needed programs.
    needs: fn() -> bool,
    /// A run that does not end by itself. If it has environments, `other` is beside `native`.
    run: Start,
    /// The moments at which the controller is killed, each in a run of its own.
    killed_at: &'static [Moment],
    /// The moments at which the controller is asked to end, each in a run of its own.
    interrupted_at: &'static [Moment],
    /// Checks the end of an interrupted run.
    interrupted: fn(Done, &Place),
    /// Processes of the run that are killed, each in a run of its own.
    victims: Vec<Victim>,
    /// Checks after each of these that everything else is unchanged.
    after: fn(&Place),
}

/// Makes a command line, and a value that must live as long as it runs.
pub type Start = for<'a> fn(&'a Place) -> (Envtax<'a>, Option<Box<dyn Any>>);

pub struct Moment {
    name: &'static str,
    wait: fn(&mut Running<'_>),
}

/// A process that is killed during a run.
pub struct Victim {
    name: &'static str,
    /// A run that does not end by itself.
    run: Start,
    at: Moment,
    /// Picks the process, once it exists.
    pick: fn(&[Process]) -> Option<&Process>,
    /// Checks what becomes of the run.
    then: fn(Running<'_>, &Place),
}

/// Kills envtax without a warning. Its run file can be read afterwards.
fn killed(kind: &Kind) {
    if !(kind.needs)() {
        return;
    }
    assert!(!kind.killed_at.is_empty());
    for moment in kind.killed_at {
        let place = Place::new();
        let (run, _keep) = (kind.run)(&place);
        let mut run = run.start();
        (moment.wait)(&mut run);
        run.processes();
        run.signal("KILL");
        let done = run.wait_clean();
        assert_eq!(done.status.code(), None, "{}: {done:?}", moment.name);
        if records(&place).contains("{\"record\":\"block\"") {
            let comparison = place.comparison("run.jsonl");
            comparison.remarks("the run was ended from outside before it was done");
        }
        (kind.after)(&place);
    }
}

/// Asks envtax to end, by each signal that means this.
fn interrupted(kind: &Kind) {
    if !(kind.needs)() {
        return;
    }
    assert!(!kind.interrupted_at.is_empty());
    for (at, moment) in kind.interrupted_at.iter().enumerate() {
        let place = Place::new();
        let (run, _keep) = (kind.run)(&place);
        let mut run = run.start();
        (moment.wait)(&mut run);
        run.processes();
        run.signal(["INT", "TERM", "HUP"][at % 3]);
        let done = run.wait_clean();
        let blocks = moment.name.contains("block");
        assert!(place.has("run.jsonl") || !blocks, "no file at {}: {done:?}", moment.name);
        (kind.interrupted)(done, &place);
        (kind.after)(&place);
    }
}

/// Kills a process of the run; the run goes on.
fn survived(kind: &Kind) {
    if !(kind.needs)() {
        return;
    }
    assert!(!kind.victims.is_empty());
    for victim in &kind.victims {
        let place = Place::new();
        let (run, _keep) = (victim.run)(&place);
        let mut run = run.start();
        (victim.at.wait)(&mut run);
        run.kills(victim.name, victim.pick);
        (victim.then)(run, &place);
        (kind.after)(&place);
    }
}

/// The text of the run file so far.
fn records(place: &Place) -> String {
    if place.has("run.jsonl") { place.read("run.jsonl") } else { String::new() }
}

/// How many records of that kind the run file has.
fn count(place: &Place, record: &str) -> usize {
    let mark = format!("{{\"record\":\"{record}\"");
    records(place).lines().filter(|line| line.starts_with(&mark)).count()
}

/// No row was lost: all are measured in all columns.
fn goes_on(run: Running<'_>, place: &Place) {
    more_rounds(run, place);
    assert_eq!(count(place, "outcome"), 0, "{}", records(place));
    let comparison = place.comparison("run.jsonl");
    let rows = comparison.0["rows"].as_array().unwrap();
    let cells = rows.iter().flat_map(|row| row["cells"].as_array().unwrap());
    assert!(cells.clone().count() > 0);
    cells.for_each(|cell| assert!(cell["measured"].is_object(), "{cell:#}"));
}

/// One row is lost in one environment, and everything else goes on.
fn loses_a_row(mut run: Running<'_>, place: &Place) {
    run.until_recorded("outcome", 1);
    more_rounds(run, place);
    assert_eq!(count(place, "outcome"), 1, "{}", records(place));
    place.comparison("run.jsonl");
}

/// Waits for some more rounds, and ends the run.
fn more_rounds(mut run: Running<'_>, place: &Place) {
    let (cases, blocks) = (count(place, "tuned"), count(place, "block"));
    run.until_recorded("block", blocks + 3 * cases.max(1));
    run.signal("INT");
    run.wait_clean().exits(3).prints("the run was interrupted by the user");
}

/// Makes one test for each kind of these tables.
macro_rules! tests {
    ($name:ident: $check:ident, $($table:ident { $($kind:ident),* $(,)? })*) => {
        mod $name {
            $($(#[test]
            fn $kind() {
                super::$check(&super::$table::$kind());
            })*)*
        }
    };
}

tests! { a_killed_run_leaves_nothing: killed,
    kinds {
        native, namespace, bwrap, proot, sent, seccomp, ptrace, firejail, nspawn, nspawn_root, crun,
        runc, podman, docker, gvisor, qemu_user, uml, vm, ssh,
    }
    runs { wine, wine_prefix, made_directories, commands, setup, setup_command, workload_data }
}

tests! { an_interrupted_run_leaves_its_file_and_nothing_else: interrupted,
    kinds {
        native, namespace, bwrap, proot, sent, seccomp, ptrace, firejail, nspawn, crun, runc,
        podman, gvisor, qemu_user, uml, vm, ssh,
    }
    runs { wine, made_directories, commands, setup, setup_command, workload_data }
}

tests! { a_killed_process_is_survived_and_leaves_nothing: survived,
    kinds {
        native, namespace, bwrap, proot, ptrace, firejail, nspawn, crun, runc, podman, gvisor, uml,
        vm,
    }
    runs { wine, made_directories, commands, setup, process_trees, held_processes, copies }
}
