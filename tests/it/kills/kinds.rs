//! The table of the kinds in which processes are killed: one function a kind.

use super::{Kind, Moment, Start, Victim, goes_on, loses_a_row};
use crate::docker_daemon::Daemon;
use crate::env_sandboxes::{needs_nspawn, root_folder};
use crate::env_ssh::{Server, needs_server};
use crate::env_uml::needs_uml;
use crate::processes::Process;
use crate::support::{Done, Envtax, Place, needs, needs_kernel, needs_root};

/// Probes that leave the most behind when they are killed: files, children, peers, and a worker
/// with many processes.
pub const PROBES: [&str; 10] = [
    "file.create",
    "file.read size=1MiB*",
    "process.exec*",
    "thread.create",
    "pipe.roundtrip*",
    "pipe.throughput*reader=other cpu=same",
    "socket.*tcp cpu=same",
    "futex.*same",
    TREES[0],
    TREES[1],
];
const TREES: [&str; 2] =
    ["process.teardown n=100 shape=tree*", "bystander.latency op=fork during=teardown*"];
/// Probes for slow environments.
const FEW: [&str; 3] = ["syscall.getppid", "process.exec target=tiny", "file.create"];

pub const FIRST: Moment = Moment {
    name: "the first launch",
    wait: |run| run.until("a launch", |run| run.processes().iter().any(is_launched)),
};
pub const SECOND: Moment = Moment {
    name: "the second launch",
    wait: |run| {
        run.until("two", |run| run.processes().iter().filter(|it| is_launched(it)).count() > 1)
    },
};
pub const HEADER: Moment =
    Moment { name: "before tuning", wait: |run| run.until_recorded("header", 1) };
pub const TUNING: Moment = Moment { name: "tuning", wait: |run| run.until_recorded("tuned", 2) };
pub const BLOCK: Moment =
    Moment { name: "the first block", wait: |run| run.until_recorded("block", 1) };
pub const SOME: Moment = Moment { name: "few blocks", wait: |run| run.until_recorded("block", 5) };
pub const LATER: Moment =
    Moment { name: "later blocks", wait: |run| run.until_recorded("block", 20) };
pub const MUCH_LATER: Moment =
    Moment { name: "much later blocks", wait: |run| run.until_recorded("block", 50) };

fn is_launched(process: &Process) -> bool {
    process.token.is_some()
}

/// Values that most kinds use.
pub const USUAL: Kind = Kind {
    needs: || true,
    run: |place| (beside(place, "native", &PROBES), None),
    killed_at: &[SECOND, HEADER, TUNING, LATER],
    interrupted_at: &[LATER],
    interrupted: ended_in_order,
    victims: Vec::new(),
    after: |_| {},
};

/// A run of `other`, with this specification, beside `native`, with a target directory.
pub fn both<'a>(place: &'a Place, spec: &str, probes: &[&str]) -> Envtax<'a> {
    let run = place.run(&["native", &format!("other={spec}")], probes).own_binary();
    run.args(["--dir", &format!("d={}", place.path("target"))])
}

/// The same as a run without an end.
pub fn beside<'a>(place: &'a Place, spec: &str, probes: &[&str]) -> Envtax<'a> {
    both(place, spec, probes).endless()
}

/// The same for tests that kill something in `other`. A process that is killed during its start may
/// cost the environment. Answers have no time limit, because a launcher may outlive what it
/// launched.
fn patient<'a>(place: &'a Place, spec: &str) -> Envtax<'a> {
    beside(place, spec, &FEW).started_once().args(["--answer-timeout", "1h"])
}

fn ended_in_order(done: Done, place: &Place) {
    if place.has("run.jsonl") {
        done.exits(3).prints("the run was interrupted by the user");
        place.comparison("run.jsonl").remarks("the run was interrupted by the user");
    } else {
        done.exits(2).complains("interrupted before anything was measured");
    }
}

/// The innermost agent: launchers have the agent's words in their commands, too.
fn agent(found: &[Process]) -> Option<&Process> {
    found.iter().rev().find(|process| process.is_agent())
}

fn worker(found: &[Process]) -> Option<&Process> {
    found.iter().rev().find(|process| process.is_worker())
}

/// The first of many workers, which are children of it.
pub fn eldest_of_a_tree(found: &[Process]) -> Option<&Process> {
    let workers = found.iter().filter(|process| process.is_worker());
    let grown = workers.clone().count() > 20;
    workers.min_by_key(|worker| worker.pid).filter(|_| grown)
}

/// The process that leads a session and has that program.
fn leader<'a>(found: &'a [Process], program: &str) -> Option<&'a Process> {
    found.iter().find(|process| process.leads() && process.program() == program)
}

/// The first process that has these words in its command.
fn with_words<'a>(found: &'a [Process], words: &str) -> Option<&'a Process> {
    found.iter().find(|process| process.words.join(" ").contains(words))
}

/// A victim whose death loses no row.
fn started_again(
    name: &'static str,
    run: Start,
    pick: fn(&[Process]) -> Option<&Process>,
) -> Victim {
    Victim { name, run, at: SOME, pick, then: goes_on }
}

/// A worker: its death loses one row.
fn costs_a_row(run: Start) -> Victim {
    Victim { name: "a worker", run, at: SOME, pick: worker, then: loses_a_row }
}

pub fn native() -> Kind {
    const RUN: Start = |place| (patient(place, "native"), None);
    Kind {
        killed_at: &[FIRST, SECOND, HEADER, TUNING, BLOCK, MUCH_LATER],
        interrupted_at: &[FIRST, SECOND, HEADER, TUNING, BLOCK, MUCH_LATER],
        victims: vec![started_again("an agent", RUN, agent), costs_a_row(RUN)],
        ..USUAL
    }
}

/// A process outside stands for the agent inside the namespaces.
pub fn namespace() -> Kind {
    const RUN: Start = |place| (patient(place, "namespace"), None);
    fn outer(found: &[Process]) -> Option<&Process> {
        let enters = |process: &&Process| process.words.iter().any(|word| word == "--enter");
        found.iter().rev().filter(|process| process.is_agent()).find(enters)
    }
    Kind {
        run: |place| (beside(place, "namespace", &PROBES), None),
        victims: vec![
            started_again("an agent", RUN, agent),
            started_again("its outer process", RUN, outer),
            costs_a_row(RUN),
        ],
        ..native()
    }
}

pub fn bwrap() -> Kind {
    const RUN: Start = |place| (patient(place, "bwrap"), None);
    Kind {
        needs: || needs("bwrap"),
        run: |place| (beside(place, "bwrap", &PROBES), None),
        victims: vec![
            started_again("an agent", RUN, agent),
            started_again("bwrap", RUN, |it| it.iter().rev().find(|it| it.program() == "bwrap")),
            costs_a_row(RUN),
        ],
        ..native()
    }
}

pub fn proot() -> Kind {
    const RUN: Start = |place| (patient(place, "proot"), None);
    Kind {
        needs: || needs("proot"),
        run: |place| (beside(place, "proot", &PROBES), None),
        victims: vec![started_again("an agent", RUN, agent)],
        ..native()
    }
}

/// A simple container: the system's programs and nothing else.
pub const SYSTEM: &str = "bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
    --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp";

/// A container that does not see envtax: the binary is sent through its shell, and what is left in
/// its temporary folder is left in the test's.
pub fn container(place: &Place) -> String {
    let (tmp, target) = (place.path("tmp"), place.path("target"));
    let files = format!("--bind {tmp} /var/tmp --bind {target} {target}");
    format!("cmd:{SYSTEM} {files} --setenv TMPDIR /var/tmp --")
}

pub fn sent() -> Kind {
    Kind {
        needs: || needs("bwrap"),
        run: |place| (beside(place, &container(place), &PROBES), None),
        victims: Vec::new(),
        ..native()
    }
}

pub fn seccomp() -> Kind {
    Kind { run: |place| (beside(place, "seccomp", &PROBES), None), ..USUAL }
}

/// The tracer leads the session, and its tracees die with it.
pub fn ptrace() -> Kind {
    const RUN: Start = |place| (patient(place, "ptrace"), None);
    fn tracer(found: &[Process]) -> Option<&Process> {
        let traces = |process: &&Process| process.words.iter().any(|word| word == "ptrace");
        found.iter().filter(|process| process.leads()).find(traces)
    }
    Kind {
        run: |place| (beside(place, "ptrace", &PROBES), None),
        victims: vec![started_again("the tracer", RUN, tracer)],
        ..USUAL
    }
}

pub fn firejail() -> Kind {
    const RUN: Start = |place| (patient(place, "firejail"), None);
    Kind {
        needs: || needs("firejail"),
        run: |place| (beside(place, "firejail", &PROBES), None),
        victims: vec![started_again("firejail", RUN, |it| leader(it, "firejail"))],
        ..USUAL
    }
}

pub fn nspawn() -> Kind {
    const RUN: Start = |place| (patient(place, "nspawn"), None);
    Kind {
        needs: needs_nspawn,
        run: |place| (beside(place, "nspawn", &PROBES), None),
        victims: vec![started_again("nspawn", RUN, |it| leader(it, "systemd-nspawn"))],
        ..USUAL
    }
}

pub fn nspawn_root() -> Kind {
    Kind {
        run: |place| (beside(place, &format!("nspawn:{}", root_folder(place)), &PROBES), None),
        victims: Vec::new(),
        ..nspawn()
    }
}

pub fn crun() -> Kind {
    const RUN: Start = |place| (patient(place, "crun"), None);
    Kind {
        needs: || needs("crun") && needs_root(),
        run: |place| (beside(place, "crun", &FEW), None),
        victims: vec![started_again("crun", RUN, |it| with_words(it, "crun --root"))],
        ..USUAL
    }
}

pub fn runc() -> Kind {
    const RUN: Start = |place| (patient(place, "runc"), None);
    Kind {
        needs: || needs("runc") && needs_root(),
        run: |place| (beside(place, "runc", &FEW), None),
        victims: vec![started_again("runc", RUN, |it| with_words(it, "runc --root"))],
        ..USUAL
    }
}

pub fn podman() -> Kind {
    const RUN: Start = |place| (listed(patient(place, "podman"), place), None);
    fn listed<'a>(run: Envtax<'a>, place: &Place) -> Envtax<'a> {
        let list = ["podman", "ps", "--all", "--format", "{{.Names}}"];
        place.listed_by([list.map(str::to_owned).to_vec()]);
        run
    }
    Kind {
        needs: || needs("podman") && needs("runc") && needs_root(),
        run: |place| (listed(beside(place, "podman", &FEW), place), None),
        victims: vec![
            started_again("podman", RUN, |it| with_words(it, "podman --cgroup-manager")),
            started_again("its monitor", RUN, |it| with_words(it, "/conmon ")),
        ],
        ..USUAL
    }
}

pub fn docker() -> Kind {
    Kind {
        needs: || needs("docker") && needs("dockerd") && needs_root(),
        run: |place| {
            let daemon = Daemon::start();
            place.listed_by(daemon.lists());
            let run = beside(place, "docker", &FEW).variable("DOCKER_HOST", &daemon.host());
            (run, Some(Box::new(daemon)))
        },
        ..USUAL
    }
}

pub fn gvisor() -> Kind {
    const RUN: Start = |place| (patient(place, "gvisor"), None);
    Kind {
        needs: || needs("runsc") && needs_root(),
        run: |place| (beside(place, "gvisor", &FEW), None),
        victims: vec![started_again("its kernel", RUN, |it| with_words(it, "runsc-sandbox"))],
        ..USUAL
    }
}

pub fn qemu_user() -> Kind {
    Kind {
        needs: || needs("qemu-x86_64-static"),
        run: |place| {
            (beside(place, "qemu-user", &["file.create", "process.fork", "pipe.roundtrip*"]), None)
        },
        killed_at: &[BLOCK, LATER],
        ..USUAL
    }
}

/// Its processes are processes of the host, stopped by ptrace. None of them may stay.
pub fn uml() -> Kind {
    const BOOTING: Moment = Moment {
        name: "a booting machine",
        wait: |run| run.until("it", |run| runs(&run.processes(), "linux.uml")),
    };
    const RUN: Start = |place| (machine(place, "uml"), None);
    Kind {
        needs: needs_uml,
        run: |place| {
            let run = beside(place, "uml:tmp=loop:ext4", &["file.create", "process.fork"]);
            (run.args(["--answer-timeout", "50s"]), None)
        },
        killed_at: &[BOOTING, BLOCK],
        victims: vec![started_again("the machine", RUN, |it| leader(it, "linux.uml"))],
        ..USUAL
    }
}

/// A machine that is started once, for one case.
fn machine<'a>(place: &'a Place, spec: &str) -> Envtax<'a> {
    let run = place.run(&["native", spec], &["syscall.getppid"]).endless();
    run.started_once().args(["--answer-timeout", "1h"])
}

fn runs(found: &[Process], program: &str) -> bool {
    found.iter().any(|process| process.program() == program)
}

/// The controller is killed while a machine has not greeted, and while it measures. The death of a
/// machine is handled like that of any agent.
pub fn vm() -> Kind {
    const QEMU: &str = "qemu-system-x86_64";
    const BOOTING: Moment = Moment {
        name: "a booting machine",
        wait: |run| run.until("it", |run| runs(&run.processes(), QEMU)),
    };
    const RUN: Start = |place| (machine(place, "vm"), None);
    fn qemu(found: &[Process]) -> Option<&Process> {
        found.iter().rev().find(|process| process.program() == QEMU)
    }
    Kind {
        needs: || needs(QEMU) && needs_kernel(),
        run: |place| {
            let run = beside(place, "vm:tmp=loop:ext4", &["file.open"]);
            (run.args(["--answer-timeout", "50s"]), None)
        },
        killed_at: &[BOOTING, BLOCK],
        interrupted_at: &[BOOTING, BLOCK],
        victims: vec![started_again("the machine", RUN, qemu)],
        ..USUAL
    }
}

pub fn ssh() -> Kind {
    const CONNECTION: Moment = Moment {
        name: "the connection",
        wait: |run| {
            run.until("it", |run| {
                run.processes().iter().any(|it| it.words.join(" ").contains("BatchMode"))
            })
        },
    };
    Kind {
        needs: needs_server,
        run: |place| {
            let server = Server::start(place);
            let spec = server.spec("key", "known");
            let (_, spec) = spec.split_once('=').unwrap();
            let run = beside(place, spec, &["file.create", "process.fork"]);
            (run, Some(Box::new(server)))
        },
        killed_at: &[CONNECTION, LATER],
        ..USUAL
    }
}
