//! The table of runs that leave more than an environment: directories, commands, data, and workers
//! with many processes.

use super::kinds::{BLOCK, FIRST, HEADER, LATER, SOME, USUAL, both, eldest_of_a_tree};
use super::{Kind, Moment, Start, Victim, goes_on, loses_a_row, more_rounds};
use crate::env_file::{counts, with_commands};
use crate::env_wine::{needs_wine, with_agent, with_prefix};
use crate::made_dirs::may_mount;
use crate::processes::Process;
use crate::support::{Envtax, Place, needs};
use crate::traces::loop_devices;

const SHORT_PROBES: [&str; 2] = ["file.create", "syscall.getppid"];

pub fn wine() -> Kind {
    const PROBES: [&str; 3] =
        ["file.create", "process.exec target=tiny", "pipe.roundtrip cpu=same"];
    const RUN: Start = |place| {
        let run = both(place, "wine", &["file.open", "thread.create"]);
        (with_prefix(run.endless().started_once().args(["--answer-timeout", "50s"])), None)
    };
    fn server(found: &[Process]) -> Option<&Process> {
        found.iter().find(|process| process.program().contains("wineserver"))
    }
    Kind {
        needs: needs_wine,
        run: |place| {
            let run = both(place, "wine", &PROBES).endless().args(["--answer-timeout", "50s"]);
            (with_prefix(run), None)
        },
        killed_at: &[HEADER, BLOCK],
        victims: vec![Victim {
            name: "a server",
            run: RUN,
            at: BLOCK,
            pick: server,
            then: |run, place| {
                more_rounds(run, place);
                place.comparison("run.jsonl");
            },
        }],
        ..USUAL
    }
}

/// A Wine prefix while it is being made.
pub fn wine_prefix() -> Kind {
    const REGISTRY: Moment = Moment {
        name: "a registry",
        wait: |run| {
            let own = run.place().path("cache/envtax");
            run.until("it", |run| {
                run.processes();
                let made = std::fs::read_dir(&own).into_iter().flatten().flatten();
                made.map(|folder| folder.path()).any(|folder| folder.join("dosdevices").exists())
            });
        },
    };
    Kind {
        needs: needs_wine,
        run: |place| {
            let cache = place.path("cache");
            std::fs::create_dir(&cache).unwrap();
            let run = place.run(&["native", "wine"], &["null"]);
            (with_agent(run).variable("XDG_CACHE_HOME", &cache), None)
        },
        killed_at: &[REGISTRY],
        after: |place| {
            let left = std::fs::read_dir(place.path("cache/envtax")).unwrap().count();
            assert_eq!(left, 0, "of the unfinished prefix nothing is left");
        },
        ..USUAL
    }
}

/// Filesystems that are made in all ways, and an environment that makes scratch folders in them.
pub fn made_directories() -> Kind {
    const STAGE: Moment = Moment {
        name: "the folder",
        wait: |run| {
            let tmp = run.place().path("tmp");
            run.until("it", |_| std::fs::read_dir(&tmp).unwrap().count() > 0);
        },
    };
    const DEVICE: Moment = Moment {
        name: "a loop device",
        wait: |run| {
            let place = run.place().path("");
            run.until("it", |_| !loop_devices(&place).is_empty());
        },
    };
    const SERVER: Moment = Moment {
        name: "the server",
        wait: |run| run.until("it", |run| server(&run.processes()).is_some()),
    };
    fn server(found: &[Process]) -> Option<&Process> {
        found.iter().find(|process| process.program() == "bindfs")
    }
    const AGENT: Start = |place| {
        let run = place.run(&["native", "namespace"], &["file.stat", "file.create"]).own_binary();
        (run.args(["--dir", "e=loop:ext4:64MiB"]).endless().started_once(), None)
    };
    // When the server of the directory is gone, its rows fail (ENOTCONN), and the run goes on.
    const SERVED: Start = |place| {
        let run = place.run(&["native"], &SHORT_PROBES).own_binary();
        (run.args(["--dir", "f=fuse"]).endless(), None)
    };
    Kind {
        needs: || may_mount() && needs("bindfs"),
        run: |place| (on_directories(place).endless(), None),
        killed_at: &[STAGE, DEVICE, SERVER, FIRST, BLOCK, LATER],
        interrupted_at: &[STAGE, DEVICE, SERVER, FIRST, BLOCK, LATER],
        victims: vec![
            Victim {
                name: "an agent",
                run: AGENT,
                at: SOME,
                pick: |found| found.iter().rev().find(|process| process.is_agent()),
                then: goes_on,
            },
            Victim {
                name: "the server",
                run: SERVED,
                at: SOME,
                pick: server,
                then: |run, place| {
                    loses_a_row(run, place);
                    let comparison = place.comparison("run.jsonl");
                    // ENOTCONN, or ECONNABORTED if the server died during a call.
                    comparison.all_failed("f", "native", "(os error 10");
                    comparison.measured("syscall.getppid", "native");
                },
            },
        ],
        ..USUAL
    }
}

pub fn on_directories(place: &Place) -> Envtax<'_> {
    let probes = ["file.create", "file.read size=1MiB*", "file.write size=1MiB*"];
    let run = place.run(&["native", "namespace"], &probes).own_binary();
    run.args(["--dir", "e=loop:ext4", "--dir", "o=overlay", "--dir", "t=tmpfs", "--dir", "f=fuse"])
}

/// A command with children, one of which is detached, in two environments.
pub fn commands() -> Kind {
    const LINE: &str = "sh -c 'setsid sleep 1000 & sleep 1000 & sleep 1000'";
    const COMMAND: Moment = Moment {
        name: "the command",
        wait: |run| {
            run.until("it", |run| {
                run.processes().iter().filter(|it| it.words == ["sleep", "1000"]).count() == 3
            })
        },
    };
    const LIMITED: Start = |place| {
        let time = place.envtax([
            "time",
            "--long",
            "-o",
            "run.jsonl",
            "--runs",
            "3",
            "--timeout",
            "2s",
            LINE,
        ]);
        (time.own_binary(), None)
    };
    Kind {
        run: |place| {
            let time =
                place.envtax(["time", "--long", "-o", "run.jsonl", "--runs", "3"]).own_binary();
            (time.args(["--env", "native", "--env", "n=namespace", LINE]), None)
        },
        killed_at: &[COMMAND],
        interrupted_at: &[COMMAND, COMMAND],
        interrupted: |done, _| drop(done.exits(3)),
        victims: vec![Victim {
            name: "the agent",
            run: LIMITED,
            at: COMMAND,
            pick: |found| found.iter().find(|process| process.is_agent()),
            // The second agent's run ends at its time limit.
            then: |run, _| {
                let done = run.wait_clean().exits(3);
                done.complains("starting `native` again").complains("--timeout");
            },
        }],
        ..USUAL
    }
}

/// The user's commands that set an environment up and clean up after it.
pub fn setup() -> Kind {
    const RUN: Start = |place| {
        with_commands(place, "");
        let run = place.run(&["native", "made"], &["syscall.getppid", "null"]);
        (run.endless().started_once(), None)
    };
    fn inside(found: &[Process]) -> Option<&Process> {
        found.iter().find(|process| process.words.iter().any(|word| word.starts_with("chroot:")))
    }
    Kind {
        run: RUN,
        killed_at: &[HEADER, SOME],
        interrupted_at: &[SOME],
        victims: vec![Victim {
            name: "the agent in `made`",
            run: RUN,
            at: SOME,
            pick: inside,
            // The environment is set up again.
            then: |run, place| {
                goes_on(run, place);
                assert_eq!(counts(place), [2, 2]);
            },
        }],
        after: |place| {
            let [set, clean] = counts(place);
            assert!(set == clean && set > 0, "set up {set} times, cleaned up {clean} times");
            assert!(!place.has("mark"));
        },
        ..USUAL
    }
}

/// A set-up command must make nothing after the clean-up.
pub fn setup_command() -> Kind {
    const CUT: Moment = Moment {
        name: "the set-up",
        wait: |run| {
            let mark = run.place().path("mark");
            run.until("it", |run| {
                !run.processes().is_empty() && std::path::Path::new(&mark).exists()
            });
        },
    };
    Kind {
        run: |place| {
            let mark = place.path("mark");
            let file = format!(
                "[environments.x]\nkind = 'native'\n\
                 setup = ['mkdir {mark}; sleep 40; mkdir {mark}']\n\
                 cleanup = ['rmdir {mark}', 'echo x >>{mark}.clean']\n"
            );
            place.write("environments.toml", file);
            (place.run(&["native", "x"], &["null"]), None)
        },
        killed_at: &[CUT],
        interrupted_at: &[CUT],
        after: |place| {
            assert_eq!(counts(place), [0, 1]);
            assert!(!place.has("mark"));
        },
        ..USUAL
    }
}

/// Data of workloads, while it is made and while it is used.
pub fn workload_data() -> Kind {
    const MADE: Moment = Moment {
        name: "data is made",
        wait: |run| {
            run.until("it", |run| run.processes().iter().any(|it| it.program() == "git"));
        },
    };
    Kind {
        needs: || needs("git"),
        run: |place| {
            let time = place.envtax(["time", "--long", "-o", "run.jsonl", "--env", "native"]);
            (time.args(["--workload", "git-status", "--runs", "1000"]), None)
        },
        killed_at: &[MADE, BLOCK],
        interrupted_at: &[MADE],
        ..USUAL
    }
}

/// A worker's children are copies of it. They die with it while they sleep, start others or exit.
pub fn process_trees() -> Kind {
    fn run<'a>(place: &'a Place, probe: &str) -> Envtax<'a> {
        place.run(&["native"], &[probe, "null"]).own_binary().endless()
    }
    fn tree(run: Start) -> Victim {
        Victim { name: "a process tree", run, at: TUNED, pick: eldest_of_a_tree, then: loses_a_row }
    }
    const TUNED: Moment = Moment { name: "tuning", wait: |run| run.until_recorded("tuned", 1) };
    Kind {
        victims: vec![
            tree(|place| (run(place, "process.teardown n=100 shape=tree*"), None)),
            tree(|place| (run(place, "bystander.latency op=fork during=teardown*"), None)),
        ],
        ..USUAL
    }
}

/// A worker that is killed while a hundred of its children wait cannot end them.
pub fn held_processes() -> Kind {
    const RUN: Start = |place| {
        let run = place.run(&["native", "other=native"], &["process.hold n=300", "null"]);
        (run.own_binary().endless(), None)
    };
    fn parent(found: &[Process]) -> Option<&Process> {
        found.iter().find(|process| children(process.pid) > 100)
    }
    fn children(pid: u32) -> usize {
        let path = format!("/proc/{pid}/task/{pid}/children");
        std::fs::read_to_string(path).unwrap_or_default().split_whitespace().count()
    }
    const NOW: Moment = Moment { name: "now", wait: |_| {} };
    Kind {
        victims: vec![Victim {
            name: "a worker with children",
            run: RUN,
            at: NOW,
            pick: parent,
            then: loses_a_row,
        }],
        ..USUAL
    }
}

/// The other copies must not wait for a killed one, and the row tells what happened.
pub fn copies() -> Kind {
    const RUN: Start = |place| {
        let run = place.run(&["native"], &["syscall.getppid", "file.stat"]).own_binary();
        (run.endless().args(["--copies", "4"]), None)
    };
    // The first copy is the leader. Another one is killed.
    fn last_of_four(found: &[Process]) -> Option<&Process> {
        let workers = found.iter().filter(|process| process.is_worker());
        let all = workers.clone().count() == 4;
        workers.max_by_key(|worker| worker.pid).filter(|_| all)
    }
    const NOW: Moment = Moment { name: "now", wait: |_| {} };
    Kind {
        victims: vec![Victim {
            name: "one of four",
            run: RUN,
            at: NOW,
            pick: last_of_four,
            then: |run, place| {
                loses_a_row(run, place);
                assert!(super::records(place).contains("ended with status 137"));
            },
        }],
        ..USUAL
    }
}
