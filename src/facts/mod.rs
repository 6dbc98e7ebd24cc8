//! Finds the facts of the environment that this process is in: kernel, CPU, limits, filesystems.
//!
//! `model/fact_table.rs` lists all facts; the files here find those values that are not simply one
//! file's text. A fact that the environment does not tell is absent: nothing is guessed.
//! May use `sys` and `model`. Must not start processes, write files or print.

mod c_library;
mod cgroup;
mod filesystem;
mod kernel;
mod machine;
mod recognise;
mod root;

use std::path::Path;

use crate::model::{FACTS, Facts, fact};

use crate::sys;

pub use filesystem::filesystem;
use recognise::Signs;
use root::Root;

/// The facts of the environment this process is in.
pub fn environment() -> Facts {
    let root = Root(Path::new("/"));
    let mut facts = Sheet::default();
    facts.put("os", Some(std::env::consts::OS.to_owned()));
    for (name, value) in sys::facts() {
        facts.put(name, Some(value));
    }
    facts.put("emulator", sys::emulator().map(|path| path.display().to_string()));
    let signs = Signs::of_this_process(&facts.0);
    facts.put("environment", Some(recognise::environment(&root, &signs)));
    facts.put("namespaces", recognise::namespaces(&root));
    facts.put("distribution", root.value_of("/etc/os-release", "PRETTY_NAME", '='));
    facts.put("libc", c_library::versions(&root, std::env::consts::ARCH));
    facts.put_files(&root);
    machine::put(&mut facts, &root);
    kernel::put(&mut facts, &root);
    kernel::put_clock(&mut facts);
    cgroup::put(&mut facts, &sys::cgroup_folders);
    facts.0
}

/// Facts as they are gathered.
#[derive(Default)]
struct Sheet(Facts);

impl Sheet {
    /// Notes the facts that are the first lines of files.
    fn put_files(&mut self, root: &Root<'_>) {
        for fact in FACTS {
            let line = fact.file.and_then(|file| root.first_line(file));
            let text = line.map(|text| text.trim_matches('\0').to_owned());
            // The kernel writes `(null)` for an empty set of CPUs.
            self.put(fact.name, text.filter(|text| text != "(null)"));
        }
    }

    /// Notes a fact, if there is one.
    fn put(&mut self, name: &str, value: Option<String>) {
        debug_assert!(fact(name).is_some(), "`{name}` has no row in model/fact_table.rs");
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// What else keeps the machine busy. Parts that the system does not tell are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    pub ticks: Option<CpuTicks>,
    /// The system's average over a minute of the tasks that run or wait.
    pub average: Option<f64>,
}

/// CPU time of the whole machine in clock ticks since boot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTicks {
    /// Taken by the hypervisor.
    pub steal: u64,
    /// Taken by anything, the hypervisor included.
    pub busy: u64,
    /// With the time in which CPUs were idle.
    pub total: u64,
}

/// The machine's load now.
pub fn load() -> Load {
    let root = Root(Path::new("/"));
    let average = root.first_line("/proc/loadavg");
    Load {
        ticks: root.first_line("/proc/stat").as_deref().and_then(cpu_ticks),
        average: average.and_then(|line| line.split(' ').next()?.parse().ok()),
    }
}

/// Tasks of the machine that run or wait for a CPU now, without the one that asks.
pub fn runnable() -> Option<u32> {
    runnable_in(&Root(Path::new("/")).first_line("/proc/loadavg")?)
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal, proc_stat(5).
fn cpu_ticks(line: &str) -> Option<CpuTicks> {
    let words = line.split_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let total = ticks.iter().sum();
    let &[_, _, _, idle, iowait, _, _, steal] = &ticks[..] else { return None };
    Some(CpuTicks { steal, busy: total - idle - iowait, total })
}

/// The fourth word of `/proc/loadavg` is `RUNNABLE/ALL`, proc_loadavg(5).
fn runnable_in(line: &str) -> Option<u32> {
    let (runnable, _) = line.split(' ').nth(3)?.split_once('/')?;
    let runnable: u32 = runnable.parse().ok()?;
    Some(runnable.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_read_as_the_manual_says() {
        let ticks = cpu_ticks("cpu  10 2 3 100 20 1 4 5 0 0").unwrap();
        assert_eq!((ticks.steal, ticks.busy, ticks.total), (5, 25, 145));
        assert_eq!(cpu_ticks("cpu 1 2 3"), None);
        assert_eq!(runnable_in("0.20 0.18 0.12 3/80 11206"), Some(2));
        assert_eq!(runnable_in("0.20 0.18 0.12 0/80 11206"), Some(0));
        assert_eq!(runnable_in("0.20"), None);
    }

    #[test]
    fn unknown_facts_are_absent_and_all_others_have_a_row() {
        let facts = environment().into_iter().chain(filesystem(&std::env::temp_dir()));
        for (name, value) in facts {
            assert!(!value.is_empty() && fact(&name).is_some(), "{name}: `{value}`");
        }
    }

    #[test]
    fn this_environment_is_recognised_as_something() {
        let facts = environment();
        assert!(!facts["environment"].is_empty() && facts.contains_key("kernel"), "{facts:#?}");
    }
}
