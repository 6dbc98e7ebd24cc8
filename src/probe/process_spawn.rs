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
            signal masks and a pipe for errors; on Windows one CreateProcess. Only on Windows: \
            `how=detached` without a console, `how=hidden` with one of its own that has no \
            window, and `how=suspended`, which creates the process and ends it before it has run.",
    excluded: "As in process.exec. The parent stands still until the child has executed the \
               program. posix_spawn of other C libraries may cost less.",
    unit: "process",
    source: "posix_spawn(3) and vfork(2); process.exec is the same with fork",
    phases: WHOLE,
    params: &[
        Param::one_of("target", &["tiny", "dynamic"]),
        Param::one_of("how", &["vfork", "posixspawn", "detached", "hidden", "suspended"]),
    ],
    cases: &[
        "target=tiny how=vfork",
        "target=tiny how=posixspawn",
        "target=dynamic how=vfork",
        "target=dynamic how=posixspawn",
        "target=tiny how=detached",
        "target=tiny how=hidden",
        "target=tiny how=suspended",
    ],
    on_files: false,
};

struct Start {
    program: sys::Executable,
    how: How,
}

enum How {
    Vfork(sys::Spawner),
    Spawn,
    WithConsole(sys::Console),
    Suspended,
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
        let how = match setup.param("how")? {
            "vfork" => How::Vfork(sys::Spawner::new()),
            "posixspawn" => How::Spawn,
            "suspended" => How::Suspended,
            console => How::WithConsole(super::process_teardown::console(console)?),
        };
        let mut start = Start { program, how };
        // What this system does not have is known before anything is timed.
        start.start()?;
        Ok(Box::new(start))
    }
}

impl Start {
    #[inline]
    fn start(&mut self) -> Result<()> {
        let child = match &mut self.how {
            How::Vfork(spawner) => spawner.vfork_exec(&self.program)?,
            How::Spawn => sys::posix_spawn(&self.program)?,
            How::WithConsole(console) => sys::fork_exec_with(&self.program, *console)?,
            How::Suspended => return Ok(sys::create_suspended(&self.program)?),
        };
        let status = sys::reap(child)?;
        ensure!(status == 0, "the started program ended with status {status}");
        Ok(())
    }
}

impl Workload for Start {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.start()?;
        }
        Ok(iterations)
    }
}
