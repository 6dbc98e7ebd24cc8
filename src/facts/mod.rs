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

/// Steal and total CPU time of the whole machine in clock ticks, from `/proc/stat`.
pub fn cpu_ticks() -> Option<(u64, u64)> {
    let line = Root(Path::new("/")).first_line("/proc/stat")?;
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: proc(5)
    (ticks.len() == 8).then(|| (ticks[7], ticks.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
