//! Single cheap calls that do the least of their kind.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct SyscallCall;

static INFO: ProbeInfo = ProbeInfo {
    id: "syscall.call",
    summary: "one system call that does the least of its kind",
    timed: "`read`: one byte of /dev/zero. `write`: one byte to /dev/null. `stat`: of /etc/passwd. \
            `openclose`: open of /etc/passwd for reading, and close. `dupclose`: dup of the \
            reading end of a pipe, and close of the duplicate. Each by its number.",
    excluded: "Files of the target directories: see file.stat and file.open. lmbench uses \
             /usr/include/linux/types.h, whose path is longer and which few containers have.",
    unit: "call, or open or dup with its close",
    source: "lmbench lat_syscall read, write, stat, open; UnixBench syscall close (dupclose)",
    phases: WHOLE,
    params: &[Param::one_of("call", &["read", "write", "stat", "openclose", "dupclose"])],
    cases: &["call=read", "call=write", "call=stat", "call=openclose", "call=dupclose"],
    on_files: false,
};

/// A file that every environment with users has.
const FILE: &str = "/etc/passwd";
const SOURCE: &str = "/dev/zero";
const SINK: &str = "/dev/null";

enum Call {
    Read(sys::ReadFile),
    Write(sys::WriteFile),
    Stat(sys::FilePath),
    OpenClose(sys::FilePath),
    DupClose(sys::IdleDescriptor),
}

impl Probe for SyscallCall {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let call = match setup.param("call")? {
            "read" => Call::Read(
                sys::ReadFile::open(&existing(SOURCE)?)
                    .with_context(|| format!("opening `{SOURCE}`"))?,
            ),
            "write" => Call::Write(
                sys::WriteFile::open(&existing(SINK)?)
                    .with_context(|| format!("opening `{SINK}`"))?,
            ),
            "stat" => Call::Stat(existing(FILE)?),
            "openclose" => Call::OpenClose(existing(FILE)?),
            "dupclose" => Call::DupClose(sys::IdleDescriptor::open()?),
            other => bail!("`syscall.call` has no call `{other}`"),
        };
        Ok(Box::new(call))
    }
}

/// The path, if this environment has a file there.
fn existing(path: &str) -> Result<sys::FilePath> {
    if !Path::new(path).exists() {
        let remedy = match sys::HAS_UNIX_SHELL {
            true => "; put one there",
            false => ": devices and such files exist on Unix only",
        };
        let text = format!("there is no {path} in this environment{remedy}");
        return Err(CannotMeasure(text).into());
    }
    Ok(sys::FilePath::new(Path::new(path))?)
}

impl Call {
    #[inline]
    fn times(iterations: u64, mut call: impl FnMut() -> std::io::Result<()>) -> Result<()> {
        for _ in 0..iterations {
            call()?;
        }
        Ok(())
    }
}

impl Workload for Call {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        match self {
            Call::Read(file) => Call::times(iterations, || file.read_byte().map(drop)),
            Call::Write(file) => Call::times(iterations, || file.write_byte()),
            Call::Stat(path) => Call::times(iterations, || sys::stat_size(path).map(drop)),
            Call::OpenClose(path) => Call::times(iterations, || sys::ReadFile::open(path)?.close()),
            Call::DupClose(descriptor) => {
                Call::times(iterations, || descriptor.duplicate_and_close())
            }
        }?;
        Ok(iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_no_failure() {
        let error = existing("/no/such/file").map(drop).unwrap_err();
        assert!(error.is::<CannotMeasure>() && error.to_string().contains("/no/such/file"));
    }
}
