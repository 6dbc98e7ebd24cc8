//! Forks many children that all wait: the time and the memory of one of them.

use anyhow::{Context, Result};

use super::{Param, Probe, ProbeInfo, Setup, held};
use crate::measure::Workload;
use crate::sys;
use crate::units::{bytes_exact, parse_bytes};

pub struct ProcessHold;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.hold",
    summary: "fork n children that all wait; memory of one of them",
    timed: "`create`: from before the first fork until the last has returned in the parent, by n. \
            Parent and children share one CPU, so what children do before they wait is in it as \
            far as they come to run in between. Not timed, in bytes of one process: `pss`, \
            proportional set size of parent and children; `tables`, their page tables (VmPTE); \
            `kernel`, kernel stacks, slab and per-CPU memory of the whole system; `memory`, the \
            sum of these three; `available`, the fall of MemAvailable and of the free pages in \
            the CPUs' lists, as a check; each the slope over five levels: none, all, and three \
            quarters, half and a quarter while they are ended. `crude`: used memory as `free` has \
            it, before and while all live, by n.",
    excluded: "Ending and reaping. The worker has more mappings and written pages than a bare C \
               program, which takes 0.75 to 0.93 of `create`. The topmost page table of each \
               process (4 to 8 KiB) is only in `available`. `kernel`, `available` and `crude` are \
               the system's: what others do meanwhile is in them. Slab that earlier processes \
               left is used again, so that `kernel` misses some of the slab when n is small. \
               `crude` misses what was taken from the CPUs' lists, which may be all. n is \
               lowered, with a note, where a limit asks for it. `mapped` and `written` give the \
               parent so much more memory in small pages before the first fork, only mapped or \
               with every page written; that is not timed. On Windows the children execute this \
               binary once more; `pss` is their commit charge, `kernel` the pools of the system, \
               and the counters `working_set_bytes` and `handles` are those of one child.",
    unit: "process",
    source: "\"A rough comparison of the performance of WSL and guest and native Ubuntu\" \
             (2017): 1000 children in pause(), `free` before and after (`crude`), also with 256 MB \
             of the parent untouched and written",
    phases: held::PHASES,
    params: &[
        Param::count("n", 1..=20_000),
        Param::bytes("mapped", 0..=1 << 30).silent("0B"),
        Param::bytes("written", 0..=1 << 30).silent("0B"),
    ],
    cases: &["n=100", "n=300", "n=1000"],
    on_files: false,
};

/// Most memory of one process, in bytes: three times what was measured.
const BYTES: u64 = 400 << 10;
/// Bytes of memory for which a process needs one byte of page table: eight for each page of 4 KiB.
const BYTES_BY_TABLE: u64 = 512;

impl Probe for ProcessHold {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let (mapped, written) = (extra(setup, "mapped")?, extra(setup, "written")?);
        let held = sys::hold_processes()?;
        held::fits_in_memory(written, "give a smaller `written`")?;
        let mut ballast = Vec::new();
        for bytes in [mapped, written].into_iter().filter(|bytes| *bytes > 0) {
            let made = sys::Ballast::map(bytes as usize, None);
            ballast.push(made.with_context(|| format!("mapping {}", bytes_exact(bytes)))?);
        }
        if let Some(last) = ballast.last_mut().filter(|_| written > 0) {
            last.write();
        }
        held::prepare(setup, held, BYTES + written / BYTES_BY_TABLE, ballast)
    }
}

/// The extra memory of the parent that a parameter asks for, in bytes.
fn extra(setup: &Setup<'_>, name: &str) -> Result<u64> {
    let text = setup.option(name, "0B");
    parse_bytes(text).with_context(|| format!("`{name}={text}` is no size"))
}
