//! The probes: one file each, in the list below in the order in which documents show them.
//!
//! A probe is a description and a way to prepare its operation. May use `sys`, `measure`, `model`,
//! `units` and `cleanup`. Must not read clocks, print, or ask which system it runs on: `measure`
//! times what a probe prepared.

mod aligned;
mod bystander_latency;
mod bystander_writeback;
mod clock_read;
mod cpu_float;
mod cpu_integer;
mod epoll_wakeup;
mod file_blocks;
mod file_cold;
mod file_copy;
mod file_create;
mod file_durable;
mod file_fault;
mod file_latency;
mod file_list;
mod file_mkdir;
mod file_open;
mod file_random;
mod file_read;
mod file_rename;
mod file_scan;
mod file_stat;
mod file_symlink;
mod file_sync;
mod file_walk;
mod file_write;
mod futex_handoff;
mod held;
mod memory_bandwidth;
mod memory_fault;
mod memory_latency;
mod memory_map;
mod null;
mod params;
mod pipe_roundtrip;
mod pipe_throughput;
mod process_ballast;
mod process_exec;
mod process_fork;
mod process_hold;
mod process_replace;
mod process_spawn;
mod process_teardown;
mod scratch;
mod script_shell;
mod signal_deliver;
mod signal_install;
mod socket_roundtrip;
mod syscall_call;
mod syscall_getppid;
mod syscall_mix;
mod thread_create;
mod thread_hold;

use anyhow::{Context, Result, bail};

use crate::measure::Workload;
use crate::model::{Availability, Case, Params, Phase};
use crate::{sys, units};

pub use params::{Param, complete};
pub use scratch::Scratch;

/// Every probe.
pub const PROBES: &[&dyn Probe] = &[
    &null::Null,
    &clock_read::ClockRead,
    &cpu_integer::CpuInteger,
    &cpu_float::CpuFloat,
    &syscall_getppid::SyscallGetppid,
    &syscall_call::SyscallCall,
    &syscall_mix::SyscallMix,
    &signal_install::SignalInstall,
    &signal_deliver::SignalDeliver,
    &process_fork::ProcessFork,
    &process_ballast::ProcessBallast,
    &process_hold::ProcessHold,
    &process_exec::ProcessExec,
    &process_teardown::ProcessTeardown,
    &process_spawn::ProcessSpawn,
    &process_replace::ProcessReplace,
    &thread_create::ThreadCreate,
    &thread_hold::ThreadHold,
    &pipe_roundtrip::PipeRoundtrip,
    &pipe_throughput::PipeThroughput,
    &socket_roundtrip::SocketRoundtrip,
    &futex_handoff::FutexHandoff,
    &epoll_wakeup::EpollWakeup,
    &file_stat::FileStat,
    &file_open::FileOpen,
    &file_create::FileCreate,
    &file_rename::FileRename,
    &file_symlink::FileSymlink,
    &file_mkdir::FileMkdir,
    &file_list::FileList,
    &file_walk::FileWalk,
    &file_read::FileRead,
    &file_write::FileWrite,
    &file_scan::FileScan,
    &file_random::FileRandom,
    &file_sync::FileSync,
    &file_copy::FileCopy,
    &file_fault::FileFault,
    &memory_fault::MemoryFault,
    &memory_map::MemoryMap,
    &bystander_latency::BystanderLatency,
    &bystander_writeback::BystanderWriteback,
    &memory_latency::MemoryLatency,
    &memory_bandwidth::MemoryBandwidth,
    &script_shell::ScriptShell,
];

/// The publications and programs that [`ProbeInfo::source`] names, as a section of
/// `docs/PROBES.md`.
pub const SOURCES: &str = include_str!("sources.md");

/// What a probe is, for people and for the plan. The text is what `docs/PROBES.md` is made of.
pub struct ProbeInfo {
    /// `area.name`.
    pub id: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// What is done between the timestamps.
    pub timed: &'static str,
    /// What is done but not timed, and what a reader might wrongly expect in the figure.
    pub excluded: &'static str,
    /// What one iteration is; costs are of one of these.
    pub unit: &'static str,
    /// The publication or program whose protocol this follows, or with which it can be compared.
    pub source: &'static str,
    /// The parts that have figures of their own, the timed ones first; [`WHOLE`] when there is one.
    pub phases: &'static [Phase],
    /// Every parameter, in the order in which they are written.
    pub params: &'static [Param],
    /// The parameter sets that `--suite full` measures. Each names every parameter that has no
    /// silent value.
    pub cases: &'static [&'static str],
    /// Measured in every target directory.
    pub on_files: bool,
}

/// Bytes of the largest buffer that a memory probe may be asked for.
const MOST_MEMORY: u64 = 1 << 30;

/// The phases of a probe that has one figure: a time.
const WHOLE: &[Phase] = &[Phase::timed("")];

/// A reason why something cannot be measured here, although nothing went wrong. As an error of
/// `prepare` it makes the row skipped and not failed.
#[derive(Debug)]
pub struct CannotMeasure(pub String);

impl std::fmt::Display for CannotMeasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotMeasure {}

/// Whether the error means that nothing went wrong and this cannot be measured here: a
/// [`CannotMeasure`], or an operating system that does not have what it was asked for.
pub fn cannot_measure(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    error.is::<CannotMeasure>()
        || cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::Unsupported)
}

/// One micro-benchmark.
pub trait Probe: Sync {
    fn info(&self) -> &'static ProbeInfo;

    /// Whether the probe can run in the environment that this process is in.
    fn availability(&self, _params: &Params) -> Availability {
        Availability::Available
    }

    /// Makes everything that the operation needs. An error becomes the row's outcome.
    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>>;
}

/// What a probe is given for its preparation.
pub struct Setup<'a> {
    pub params: &'a Params,
    /// The block's own folder, made on first use and removed with all that it holds at the end.
    pub scratch: &'a Scratch,
    /// The CPU that this worker is pinned to, and one other, where they exist.
    pub cpu: Option<usize>,
    pub other_cpu: Option<usize>,
    /// Every CPU the environment allows.
    pub allowed_cpus: &'a [usize],
}

impl Setup<'_> {
    /// For tests of probes to which the CPU does not matter.
    #[cfg(test)]
    fn of<'a>(params: &'a Params, scratch: &'a Scratch) -> Setup<'a> {
        Setup { params, scratch, cpu: None, other_cpu: None, allowed_cpus: &[] }
    }

    /// The value of a parameter that the probe's cases always give.
    pub fn param(&self, name: &str) -> Result<&str> {
        self.params.get(name).with_context(|| format!("parameter `{name}` is missing"))
    }

    /// The value of a parameter that texts leave out when it has the value `silent`.
    pub fn option<'b>(&'b self, name: &str, silent: &'b str) -> &'b str {
        self.params.get(name).unwrap_or(silent)
    }

    /// The number in a parameter.
    pub fn count(&self, name: &str) -> Result<u64> {
        let text = self.param(name)?;
        text.parse().with_context(|| format!("`{name}={text}` is no number"))
    }

    /// The bytes in a parameter such as `size=4KiB`.
    pub fn bytes(&self, name: &str) -> Result<u64> {
        let text = self.param(name)?;
        units::parse_bytes(text).with_context(|| format!("`{name}={text}` is no size"))
    }

    /// The CPUs for a peer process, by `cpu=same|other|free`. `free` also unpins this process.
    pub fn peer_cpus(&self) -> Result<Vec<usize>> {
        match self.param("cpu")? {
            // Unpinned, the figure would be the scheduler's choice under the name of this case.
            "same" => Ok(vec![self.cpu.context("this process cannot be pinned to a CPU")?]),
            "other" => Ok(vec![self.cpu.and(self.other_cpu).context("there is no second CPU")?]),
            "free" => {
                sys::pin_to(self.allowed_cpus).context("taking the pin off this process")?;
                Ok(self.allowed_cpus.to_vec())
            }
            other => bail!("there is no placement `cpu={other}`"),
        }
    }
}

/// Whether the CPUs are there that `cpu=other` needs.
fn second_cpu(params: &Params) -> Availability {
    let one = sys::allowed_cpus().is_ok_and(|cpus| cpus.len() < 2);
    if params.get("cpu") == Some("other") && one {
        return Availability::Unavailable {
            reason: "the environment has one CPU only".into(),
            remedy: "give it a second one, or leave `cpu=other` out".into(),
        };
    }
    Availability::Available
}

/// The probe of that id.
pub fn find(id: &str) -> Result<&'static dyn Probe> {
    let found = PROBES.iter().find(|probe| probe.info().id == id);
    found.copied().with_context(|| format!("no probe `{id}` in this version of envtax"))
}

/// Every standard case of every probe, with file probes once for each named target directory.
pub fn all_cases(dirs: &[&str]) -> Vec<Case> {
    let of_probe = |probe: &&dyn Probe| {
        let info = probe.info();
        info.cases.iter().flat_map(move |params| cases_of(info, &Params::new(params), dirs))
    };
    PROBES.iter().flat_map(of_probe).collect()
}

/// The case of a probe with these parameters: of a file probe one for each target directory.
pub fn cases_of(info: &ProbeInfo, params: &Params, dirs: &[&str]) -> Vec<Case> {
    let case = |dir: Option<&str>| Case {
        probe: info.id.to_owned(),
        params: params.clone(),
        dir: dir.map(str::to_owned),
    };
    match info.on_files {
        true => dirs.iter().map(|dir| case(Some(dir))).collect(),
        false => vec![case(None)],
    }
}

/// Bytes that do not compress, the same in every run.
fn incompressible(bytes: usize) -> Vec<u8> {
    let mut random = xorshift();
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        data.extend_from_slice(&random().to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// Random numbers, the same in every run: xorshift64* (Vigna 2016).
fn xorshift() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::measure::test_alloc::allocations_during;
    use crate::measure::{BlockSettings, MAX_PHASES, run_block};

    #[test]
    fn every_probe_is_described_and_unique() {
        let mut ids = HashSet::new();
        for info in PROBES.iter().map(|probe| probe.info()) {
            assert!(ids.insert(info.id), "{} twice", info.id);
            let lower = |c: char| c.is_ascii_lowercase() || c == '.';
            assert!(info.id.chars().all(lower), "{}", info.id);
            for text in [info.summary, info.timed, info.excluded, info.unit, info.source] {
                assert!(!text.is_empty() && text.is_ascii(), "{}: {text}", info.id);
            }
            assert!(info.summary.len() <= 60, "{}: the summary is one short line", info.id);
            assert!((1..=MAX_PHASES).contains(&info.phases.len()), "{}", info.id);
            assert!(!info.cases.is_empty(), "{}", info.id);
            assert!(info.phases[0].timed, "{}: some time passes in any case", info.id);
            let order = info.phases.iter().map(|phase| phase.timed);
            assert!(order.is_sorted_by(|a, b| a >= b), "{}: timed phases first", info.id);
        }
    }

    #[test]
    fn file_probes_have_a_case_for_each_directory() {
        let count =
            |dirs: &[&str]| all_cases(dirs).iter().filter(|case| case.probe == "file.stat").count();
        assert_eq!(count(&["a", "b"]), 2);
        assert_eq!(count(&[]), 0);
    }

    /// Runs every case, and checks that nothing is allocated while it is timed.
    #[test]
    fn every_case_runs_and_allocates_nothing_while_timed() {
        let cpus = sys::allowed_cpus().unwrap();
        for case in all_cases(&["here"]) {
            let probe = find(&case.probe).unwrap();
            if let Availability::Unavailable { reason, .. } = probe.availability(&case.params) {
                println!("skipped {case}: {reason}");
                continue;
            }
            let temporary = tempfile::tempdir().unwrap();
            let scratch = Scratch::at(temporary.path().join("block"));
            let setup = Setup {
                params: &case.params,
                scratch: &scratch,
                cpu: cpus.first().copied(),
                other_cpu: cpus.last().copied(),
                allowed_cpus: &cpus,
            };
            let mut workload = match probe.prepare(&setup) {
                Err(error) if cannot_measure(&error) => {
                    println!("skipped {case}: {error:#}");
                    continue;
                }
                other => other.unwrap_or_else(|error| panic!("{case}: {error:#}")),
            };
            let watched = &mut Watched { inner: workload.as_mut(), allocations: 0 };
            let phases = probe.info().phases.len();
            let range = watched.inner.iterations();
            let iterations = 3.clamp(*range.start(), *range.end());
            // A case that is defined by its number of iterations is long: two samples are enough.
            let samples = if range.start() == range.end() { 1 } else { 4 };
            let sized = BlockSettings::of(probe.info().phases);
            let settings = BlockSettings { iterations, samples, ..sized };
            let block = match run_block(watched, &settings, None) {
                Err(error) if cannot_measure(&error) => {
                    println!("skipped {case}: {error:#}");
                    continue;
                }
                other => other.unwrap_or_else(|error| panic!("{case}: {error:#}")),
            };
            assert_eq!(watched.allocations, 0, "{case} allocates while it is timed");
            assert_eq!(block.samples.len(), phases, "{case}");
            assert!(block.samples.iter().all(|phase| phase.len() == samples), "{case}");
            drop(workload);
        }
    }

    /// Counts the allocations inside `run`.
    struct Watched<'a> {
        inner: &'a mut dyn Workload,
        allocations: u64,
    }

    impl Workload for Watched<'_> {
        fn before_sample(&mut self, iterations: u64) -> Result<()> {
            self.inner.before_sample(iterations)
        }

        fn run(&mut self, iterations: u64, watch: &mut crate::measure::Stopwatch) -> Result<u64> {
            let mut result = Ok(0);
            self.allocations += allocations_during(|| result = self.inner.run(iterations, watch));
            result
        }

        fn after_sample(&mut self) -> Result<()> {
            self.inner.after_sample()
        }
    }
}
