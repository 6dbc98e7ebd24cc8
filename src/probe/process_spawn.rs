//! Starts a program without a copy of the parent: vfork and posix_spawn.

use anyhow::{Result, ensure};

use super::process_exec::{carried, carried_stays_inside, is_there, not_executable};
use super::{Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct ProcessSpawn;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.spawn",
    summary: "start a program without fork, and reap it",
    timed: "Start and waitpid, as one figure, of the same programs as in process.exec. \
            `how=vfork`: clone with CLONE_VM and CLONE_VFORK, and execve in the child. \
            `how=posixspawn`: posix_spawn of the static build's C library (musl), which adds \
            signal masks and a pipe for errors.",
    excluded: "As in process.exec. The parent stands still until the child has executed the \
               program. posix_spawn of other C libraries may cost less.",
    unit: "process",
    source: "posix_spawn(3) and vfork(2); process.exec is the same with fork",
    phases: WHOLE,
    params: &[
        Param::one_of("target", &["tiny", "dynamic"]),
        Param::one_of("how", &["vfork", "posixspawn"]),
    ],
    cases: &[
        "target=tiny how=vfork",
        "target=tiny how=posixspawn",
        "target=dynamic how=vfork",
        "target=dynamic how=posixspawn",
    ],
    on_files: false,
};

struct Start {
    program: sys::Executable,
    /// None for posix_spawn.
    spawner: Option<sys::Spawner>,
}

impl Probe for ProcessSpawn {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        match params.get("target") {
            Some("dynamic") => is_there(sys::DYNAMIC_PROGRAM, INFO.id),
            _ => carried_stays_inside(),
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let program = match setup.param("target")? {
            "dynamic" => sys::Executable::new(sys::DYNAMIC_PROGRAM.as_slice())?,
            _ => sys::Executable::new(&[&carried(setup.scratch.folder()?, sys::TINY_EXECUTABLE)?])?,
        };
        // Checked here, because the error of posix_spawn names no program.
        let status = sys::reap(sys::fork_exec(&program)?)?;
        let words = program.words();
        if status == 127 {
            return Err(not_executable(&words).into());
        }
        let spawner = (setup.param("how")? == "vfork").then(sys::Spawner::new);
        Ok(Box::new(Start { program, spawner }))
    }
}

impl Workload for Start {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let child = match &mut self.spawner {
                Some(spawner) => spawner.vfork_exec(&self.program)?,
                None => sys::posix_spawn(&self.program)?,
            };
            let status = sys::reap(child)?;
            ensure!(status == 0, "the started program ended with status {status}");
        }
        Ok(iterations)
    }
}
