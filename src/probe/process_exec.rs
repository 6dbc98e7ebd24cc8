//! Starts a program: three targets, from three instructions to a shell.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct ProcessExec;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.exec",
    summary: "fork, execute a program, and reap it",
    timed: "fork, execve in the child and waitpid in the parent, as one figure. Targets: `tiny`, a \
            static program of three instructions that envtax carries; `dynamic`, /bin/true with \
            its dynamic linker and C library; `shell`, /bin/sh -c :",
    excluded: "Writing the tiny program to the scratch folder. The targets' files are in the \
             page cache. The child's environment is empty.",
    unit: "process",
    source: "lmbench lat_proc exec and shell; UnixBench execl (which replaces itself instead)",
    phases: WHOLE,
    params: &[Param::one_of("target", &["tiny", "dynamic", "shell"])],
    cases: &["target=tiny", "target=dynamic", "target=shell"],
    on_files: false,
};

struct Start {
    program: sys::Executable,
}

impl Probe for ProcessExec {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        let needed = match params.get("target") {
            Some("dynamic") => sys::DYNAMIC_PROGRAM,
            Some("shell") => Some(sys::SHELL_PROGRAM[0]),
            _ => return carried_stays_inside(),
        };
        is_there(needed, INFO.id)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let program = match setup.param("target")? {
            "tiny" => {
                sys::Executable::new(&[&carried(setup.scratch.folder()?, sys::TINY_EXECUTABLE)?])?
            }
            "dynamic" => sys::Executable::new(sys::DYNAMIC_PROGRAM.as_slice())?,
            "shell" => sys::Executable::new(sys::SHELL_PROGRAM)?,
            other => bail!("`process.exec` has no target `{other}`"),
        };
        let status = sys::reap(sys::fork_exec(&program)?)?;
        let words = program.words();
        if status == 127 {
            return Err(not_executable(&words).into());
        }
        ensure!(status == 0, "`{words}` ends with status {status}");
        Ok(Box::new(Start { program }))
    }
}

/// Whether the target of this probe exists and runs in the environment; none where the system has
/// no such program.
pub fn is_there(program: Option<&str>, probe: &str) -> Availability {
    let reason = match program {
        Some(program) if Path::new(program).exists() => return stays_inside(program),
        Some(program) => format!("there is no {program} in this environment"),
        None => "this system has no program that does nothing".into(),
    };
    let remedy = format!("measure `{probe} target=tiny` only");
    Availability::Unavailable { reason, remedy }
}

/// Whether the program at that path, when it is executed, runs in the environment that is measured.
pub fn stays_inside(program: &str) -> Availability {
    inside(&sys::header_of(Path::new(program)))
}

/// The same for the programs that envtax carries, which are for one machine.
pub fn carried_stays_inside() -> Availability {
    inside(sys::TINY_EXECUTABLE)
}

fn inside(header: &[u8]) -> Availability {
    match sys::leaves_emulator(header) {
        false => Availability::Available,
        true => Availability::Unavailable {
            reason: "what is executed leaves the emulator: the machine itself runs it".into(),
            remedy: "measure a foreign machine, as `qemu-user:aarch64,binfmt=yes`".into(),
        },
    }
}

/// Why a program that was executed ended with 127.
pub fn not_executable(words: &str) -> CannotMeasure {
    CannotMeasure(match sys::emulator() {
        Some(_) => "what is executed is no program of this machine, and the kernel knows no \
                    emulator for it: add `binfmt=yes`"
            .into(),
        None => format!("`{words}` cannot be executed; is its folder mounted noexec?"),
    })
}

/// Writes a program that envtax carries into the scratch folder; returns its path.
pub fn carried(scratch: &Path, program: &[u8]) -> Result<String> {
    let path = scratch.join("tiny");
    sys::write_executable(&path, program)
        .with_context(|| format!("writing the program to execute to `{}`", path.display()))?;
    let absolute = fs::canonicalize(&path).unwrap_or(path);
    Ok(absolute.to_str().context("the scratch folder's path is not UTF-8")?.to_owned())
}

impl Workload for Start {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let status = sys::reap(sys::fork_exec(&self.program)?)?;
            ensure!(status == 0, "the executed program ended with status {status}");
        }
        Ok(iterations)
    }
}
