//! Limits of control groups: the tightest one of this process's own group and its parents.

use std::fs;
use std::path::{Path, PathBuf};

use super::Sheet;

/// Folders of a controller's groups, the own group first, each with whether it is of version 1.
type Folders<'a> = &'a dyn Fn(&str) -> Vec<(PathBuf, bool)>;

/// The text where no group sets a limit.
const UNLIMITED: &str = "unlimited";

pub(super) fn put(facts: &mut Sheet, folders: Folders<'_>) {
    let (cpu, memory) = (folders("cpu"), folders("memory"));
    let of_version = |one: bool| cpu.iter().chain(&memory).any(|(_, first)| *first == one);
    let version = match (of_version(true), of_version(false)) {
        (true, true) => Some("1 and 2"),
        (true, false) => Some("1"),
        (false, true) => Some("2"),
        (false, false) => None,
    };
    facts.put("cgroups", version.map(str::to_owned));
    facts.put("cgroup_cpu", tightest(&cpu, cpus, |cpus| format!("{cpus} CPUs")));
    let memory = tightest(&memory, bytes, |bytes| format!("{} kB", (bytes / 1024.0) as u64));
    facts.put("cgroup_memory", memory);
    facts.put("cgroup_pids", tightest(&folders("pids"), pids, |pids| pids.to_string()));
    facts.put("cgroup_cpuset", folders("cpuset").iter().find_map(allowed));
}

/// The least of the limits in words; `unlimited` where there is none, nothing where none can be
/// read.
fn tightest(
    folders: &[(PathBuf, bool)],
    limit: impl Fn(&Path, bool) -> Option<f64>,
    words: impl Fn(f64) -> String,
) -> Option<String> {
    let limits = folders.iter().filter_map(|(folder, first)| limit(folder, *first));
    let least = limits.reduce(f64::min)?;
    Some(if least.is_finite() { words(least) } else { UNLIMITED.to_owned() })
}

fn line(folder: &Path, name: &str) -> Option<String> {
    Some(fs::read_to_string(folder.join(name)).ok()?.trim().to_owned())
}

/// A limit as a number; `max` and -1 are infinite.
fn number(text: &str) -> Option<f64> {
    if text == "max" || text == "-1" { Some(f64::INFINITY) } else { text.parse().ok() }
}

/// CPU time that the group may use, in seconds a second.
fn cpus(folder: &Path, first_version: bool) -> Option<f64> {
    let (quota, period) = if first_version {
        (line(folder, "cpu.cfs_quota_us")?, line(folder, "cpu.cfs_period_us")?)
    } else {
        let text = line(folder, "cpu.max")?;
        let (quota, period) = text.split_once(' ')?;
        (quota.to_owned(), period.to_owned())
    };
    Some(number(&quota)? / number(&period)?)
}

fn bytes(folder: &Path, first_version: bool) -> Option<f64> {
    /// Version 1 has no word for no limit: it shows the largest number of whole pages.
    const NO_LIMIT: f64 = (1u64 << 62) as f64;
    let name = if first_version { "memory.limit_in_bytes" } else { "memory.max" };
    let bytes = number(&line(folder, name)?)?;
    Some(if bytes < NO_LIMIT { bytes } else { f64::INFINITY })
}

fn pids(folder: &Path, _: bool) -> Option<f64> {
    number(&line(folder, "pids.max")?)
}

fn allowed((folder, first_version): &(PathBuf, bool)) -> Option<String> {
    let name = if *first_version { "cpuset.effective_cpus" } else { "cpuset.cpus.effective" };
    line(folder, name).filter(|cpus| !cpus.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::root::made;
    use super::*;

    fn facts_in(root: &tempfile::TempDir, folders: &[&str], first: bool) -> Sheet {
        let folders: Vec<(PathBuf, bool)> =
            folders.iter().map(|name| (root.path().join(name), first)).collect();
        let mut facts = Sheet::default();
        put(&mut facts, &|_| folders.clone());
        facts
    }

    #[test]
    fn the_tightest_group_of_version_2_counts() {
        let root = made::system(&[
            ("a/b/cpu.max", "max 100000\n"),
            ("a/b/pids.max", "max\n"),
            ("a/b/memory.max", "max\n"),
            ("a/b/cpuset.cpus.effective", "0-1\n"),
            ("a/cpu.max", "50000 100000\n"),
            ("a/memory.max", "536870912\n"),
            ("a/pids.max", "max\n"),
        ]);
        let facts = facts_in(&root, &["a/b", "a"], false).0;
        assert_eq!(facts["cgroups"], "2");
        assert_eq!(facts["cgroup_cpu"], "0.5 CPUs");
        assert_eq!(facts["cgroup_memory"], "524288 kB");
        assert_eq!(facts["cgroup_pids"], "unlimited");
        assert_eq!(facts["cgroup_cpuset"], "0-1");
    }

    #[test]
    fn version_1_has_its_own_files_and_its_own_word_for_no_limit() {
        let root = made::system(&[
            ("a/cpu.cfs_quota_us", "-1\n"),
            ("a/cpu.cfs_period_us", "100000\n"),
            ("a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("a/cpuset.effective_cpus", "1\n"),
        ]);
        let facts = facts_in(&root, &["a"], true).0;
        assert_eq!((facts["cgroups"].as_str(), facts["cgroup_cpu"].as_str()), ("1", "unlimited"));
        assert_eq!(facts["cgroup_memory"], "unlimited");
        assert_eq!(facts["cgroup_cpuset"], "1");
        assert!(!facts.contains_key("cgroup_pids"), "it does not say");
        assert!(facts_in(&root, &[], true).0.is_empty());
    }
}
