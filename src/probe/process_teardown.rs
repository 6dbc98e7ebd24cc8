//! Starts many processes that sleep, then lets all of them exit at once.

use std::io::ErrorKind::{OutOfMemory, WouldBlock};
use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, held};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys::{self, Console, ProcessTree, Shape, Weight};

pub struct ProcessTeardown;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.teardown",
    summary: "start many processes, then have all exit at once",
    timed: "Two phases, each divided by `n`. `create`: from before the first fork until the last \
            process has said that it is up. `exit`: from the one call that wakes all of them until \
            the last is reaped. `shape=flat`: the worker starts all. `shape=tree`: it starts one \
            child for every 25 processes, and each child starts the other 24, says that it is up \
            after them and exits after them; with `n=1000` that is 40 children and 960 \
            grandchildren. `cpu=free`: on all CPUs; `cpu=same`: on one.",
    excluded: "A pause of `pause_ms` between the phases, in which the last processes fall \
             asleep, and one whole pass before the block, which shows whether there can be so \
             many. The processes are copies of the worker (below 2 MiB resident). They sleep on \
             a shared word and die with the worker, which costs each one call of prctl and one \
             of getppid. Each takes 10 page faults, as a static C program with glibc does; a \
             program of 30 KiB takes 6, and is created a fifth and ends a tenth faster. On \
             Windows, each executes this binary once more, as the original's program does, and \
             waits for a semaphore or the worker's end. There, `dll=NAME` has each of them, and \
               the worker, load that library first, such as user32; `console=detached` starts \
               them without a console, `console=hidden` each with one of its own that has no \
               window.",
    unit: "process",
    source: "Dawson, \"A Not-Called Function Can Cause a 5X Slowdown\" (2018): `n=1000 \
             shape=tree pause_ms=500` has its numbers, order and clocks; its program executes \
             itself, where this one forks on Linux",
    phases: &[Phase::timed("create"), Phase::timed("exit")],
    params: &[
        Param::count("n", MEMBERS),
        Param::one_of("shape", &["flat", "tree"]),
        Param::count("pause_ms", 0..=5000),
        Param::one_of("cpu", &["free", "same"]),
        Param::library("dll"),
        Param::one_of("console", CONSOLES).silent("attached"),
    ],
    cases: &[
        "n=100 shape=flat pause_ms=10 cpu=free",
        "n=100 shape=tree pause_ms=10 cpu=free",
        "n=1000 shape=flat pause_ms=10 cpu=free",
        "n=1000 shape=tree pause_ms=10 cpu=free",
    ],
    on_files: false,
};

/// Smallest and largest number of processes.
pub(super) const MEMBERS: RangeInclusive<u64> = 2..=20_000;

struct Teardown {
    tree: ProcessTree,
    n: u64,
    pause: Duration,
}

impl Probe for ProcessTeardown {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let shape = match setup.param("shape")? {
            "flat" => Shape::Flat,
            "tree" => Shape::Tree,
            other => bail!("`process.teardown` has no shape `{other}`"),
        };
        setup.peer_cpus()?;
        let n = setup.count("n")?;
        let pause = Duration::from_millis(setup.count("pause_ms")?);
        Ok(Box::new(Teardown { tree: possible_tree(n, shape, &weight(setup)?)?, n, pause }))
    }
}

impl Workload for Teardown {
    fn run(&mut self, _: u64, watch: &mut Stopwatch) -> Result<u64> {
        let created = self.tree.create();
        watch.lap(0);
        created.with_context(|| starting(self.n, &self.tree))?;
        thread::sleep(self.pause);
        watch.skip();
        self.tree.end().context("ending the processes")?;
        watch.lap(1);
        Ok(self.n)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.n..=self.n
    }
}

/// Values of the parameter `console`.
pub(super) const CONSOLES: &[&str] = &["attached", "detached", "hidden"];

/// What each process has beside its sleep, by the parameters `dll` and `console`.
pub(super) fn weight(setup: &Setup<'_>) -> Result<Weight> {
    let library = Some(setup.option("dll", "none")).filter(|name| *name != "none");
    let console = console(setup.option("console", "attached"))?;
    Ok(Weight { library: library.map(str::to_owned), console })
}

/// The console that the word asks for.
pub(super) fn console(word: &str) -> Result<Console> {
    match word {
        "attached" => Ok(Console::Attached),
        "detached" => Ok(Console::Detached),
        "hidden" => Ok(Console::Hidden),
        other => bail!("there is no console `{other}`"),
    }
}

/// What the probe was doing when an error came, for the error's text.
pub(super) fn starting(n: u64, tree: &ProcessTree) -> String {
    format!("starting {n} processes, of which {} came", tree.reached())
}

/// A process tree that was created as a whole once, which shows that it is possible. No process of
/// it exists now.
pub(super) fn possible_tree(n: u64, shape: Shape, weight: &Weight) -> Result<ProcessTree> {
    fits(n, sys::process_room().as_ref(), sys::memory_room().as_ref())?;
    let mut tree = ProcessTree::new(n as usize, shape, weight).context("making a process tree")?;
    match tree.create() {
        Ok(()) => {}
        Err(error) if [WouldBlock, OutOfMemory].contains(&error.kind()) => {
            let reached = tree.reached();
            let text = format!("of {n} processes {reached} could be started ({error}); {REMEDY}");
            return Err(CannotMeasure(text).into());
        }
        Err(error) => return Err(error).context(starting(n, &tree)),
    }
    tree.end().context("ending the processes")?;
    Ok(tree)
}

const REMEDY: &str = "choose a smaller `n=`";

/// Whether there is room for this number of processes.
fn fits(
    n: u64,
    processes: Option<&sys::Room>,
    memory: Option<&sys::Room>,
) -> Result<(), CannotMeasure> {
    let possible = held::possible(n, sys::TREE_PROCESS_BYTES, processes, memory);
    match possible.count < n {
        true => Err(CannotMeasure(format!(
            "only {} of {n} processes may be started: {}; {REMEDY}",
            possible.count, possible.limit
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_processes_are_not_tried() {
        let room = |left| Some(sys::Room { left, limit: "pids.max is 9".into() });
        let text = |processes: Option<sys::Room>, memory: Option<sys::Room>| {
            fits(1000, processes.as_ref(), memory.as_ref()).map_err(|e| e.to_string())
        };
        assert_eq!(text(None, None), Ok(()));
        assert_eq!(text(room(2000), room(1 << 30)), Ok(()));
        let limited =
            "only 900 of 1000 processes may be started: pids.max is 9; choose a smaller `n=`";
        assert_eq!(text(room(1000), None).unwrap_err(), limited);
        assert!(text(None, room(64 << 20)).unwrap_err().contains("too little memory"));
        assert!(text(None, room(0)).is_err());
    }
}
