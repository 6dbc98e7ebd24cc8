//! A process that executes its own program again and again.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};

use super::process_exec::{carried, carried_stays_inside, not_executable};
use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct ProcessReplace;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.replace",
    summary: "a process that executes itself again and again",
    timed: "execve of a carried program of twenty instructions, by itself: it subtracts one from \
             the number in its argument and executes its own file until the number is zero. Its \
             old memory is released and the new program is loaded; no process is created. \
             `program=tiny`: static, one page. `program=dynamic`: the same instructions, linked \
             with the C library, which the dynamic linker maps, binds and initialises each time.",
    excluded: "Nothing; but one fork, exit and waitpid for all executions of a sample are timed \
             with them. A sample has at least 200 executions, so these are below 1 % of the \
             figure.",
    unit: "execution",
    source: "UnixBench execl, which is linked dynamically as well, and formats its arguments anew",
    phases: WHOLE,
    params: &[Param::one_of("program", &["tiny", "dynamic"]).silent("tiny")],
    cases: &["", "program=dynamic"],
    on_files: false,
};

/// Fewest executions in a sample: the one fork stays below 1 %.
const FEWEST: u64 = 200;
/// The largest number that the program's ten digits can hold.
const MOST: u64 = 9_999_999_999;

struct Replace {
    path: String,
    program: sys::Executable,
}

impl Probe for ProcessReplace {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, _: &Params) -> Availability {
        if sys::REPLACING_EXECUTABLE.is_empty() {
            return Availability::Unavailable {
                reason: "this system has no call by which a process executes another program in \
                         its own place"
                    .into(),
                remedy: "measure `process.exec`, which starts a program as a new process".into(),
            };
        }
        carried_stays_inside()
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let dynamic = match setup.option("program", "tiny") {
            "dynamic" => Some(sys::dynamic_replacing_executable().ok_or_else(|| {
                let reason = "no loader of glibc or musl is at its place in this environment";
                CannotMeasure(reason.into())
            })?),
            _ => None,
        };
        let program = dynamic.as_deref().unwrap_or(sys::REPLACING_EXECUTABLE);
        let path = carried(setup.scratch.folder()?, program)?;
        let program = sys::Executable::new(&[&path, &digits(2)])?;
        let status = sys::reap(sys::fork_exec(&program)?)?;
        if status == 127 {
            return Err(not_executable(&path).into());
        }
        ensure!(status == 0, "`{path}` cannot execute itself (status {status})");
        Ok(Box::new(Replace { path, program }))
    }
}

/// The program's argument, by which it is executed `executions` times in all: once by its parent.
fn digits(executions: u64) -> String {
    format!("{:010}", executions - 1)
}

impl Workload for Replace {
    fn before_sample(&mut self, iterations: u64) -> Result<()> {
        self.program = sys::Executable::new(&[&self.path, &digits(iterations)])?;
        Ok(())
    }

    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        let status = sys::reap(sys::fork_exec(&self.program)?)?;
        ensure!(status == 0, "the program that executes itself ended with status {status}");
        Ok(iterations)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        FEWEST..=MOST
    }
}
