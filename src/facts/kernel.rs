//! The kernel, its settings that affect costs, and the restrictions of this process.

use super::Sheet;
use super::root::{Root, value_in};
use crate::sys;

pub(super) fn put(facts: &mut Sheet, root: &Root<'_>) {
    facts.put("proactive_reclaim", proactive_reclaim(root));
    facts.put("command_line", root.first_line("/proc/cmdline").map(|it| known_parameters(&it)));
    let status = root.text("/proc/self/status").unwrap_or_default();
    let of_process = |key: &str| value_in(&status, key, ':');
    facts.put("seccomp", of_process("Seccomp"));
    facts.put("no_new_privileges", of_process("NoNewPrivs"));
    let traced = |tracer: String| if tracer == "0" { "no" } else { "yes" }.to_owned();
    facts.put("traced", of_process("TracerPid").map(traced));
    facts.put("uid", of_process("Uid").and_then(first_word));
    facts.put("capabilities", of_process("CapEff"));
    facts.put("uptime_s", root.first_line("/proc/uptime").and_then(first_word));
    facts.put("load_1min", root.first_line("/proc/loadavg").and_then(first_word));
}

/// Kernel parameters that bear on costs and tell nothing else, by the beginnings of their names.
/// Others may be secrets: installers and cloud images pass tokens and addresses to the first
/// process in this way.
const PARAMETERS: &[&str] = &[
    "acpi",
    "amd_iommu",
    "amd_pstate",
    "apparmor",
    "audit",
    "cgroup",
    "clocksource",
    "cpufreq",
    "cpuidle",
    "debug_pagealloc",
    "default_hugepagesz",
    "elevator",
    "gather_data_sampling",
    "haltpoll",
    "highres",
    "hpet",
    "hugepages",
    "ibt",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "kaslr",
    "kfence",
    "kvm",
    "l1tf",
    "lsm",
    "maxcpus",
    "mds",
    "mem",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "noapic",
    "nohz",
    "nokaslr",
    "nolapic",
    "nopti",
    "nosmt",
    "nospectre",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "page_alloc",
    "page_poison",
    "preempt",
    "processor",
    "psi",
    "pti",
    "quiet",
    "random.trust_cpu",
    "rcu_nocb",
    "retbleed",
    "rodata",
    "security",
    "selinux",
    "skew_tick",
    "slab_nomerge",
    "slub_debug",
    "spec_",
    "spectre",
    "srbds",
    "swapaccount",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "vdso",
    "vsyscall",
    "zswap",
];

/// The known parameters of a kernel command line, and how many others there are.
fn known_parameters(line: &str) -> String {
    let known = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        PARAMETERS.iter().any(|known| name.starts_with(known)) && !word.contains("//")
    };
    // What follows `--` goes to the first process.
    let all: Vec<&str> = line.split_whitespace().take_while(|word| *word != "--").collect();
    let kept: Vec<&str> = all.iter().copied().filter(known).collect();
    match line.split_whitespace().count() - kept.len() {
        0 => kept.join(" "),
        others => format!("{} and-{others}-others", kept.join(" ")).trim_start().to_owned(),
    }
}

fn first_word(text: String) -> Option<String> {
    text.split_whitespace().next().map(str::to_owned)
}

/// What DAMON does with memory that it finds unused, such as `pageout`: then a file that was read a
/// minute ago may not be in memory any more.
fn proactive_reclaim(root: &Root<'_>) -> Option<String> {
    const ALL: &str = "/sys/kernel/mm/damon/admin/kdamonds";
    let mut actions = Vec::new();
    let threads = root.names(ALL);
    for thread in threads.iter().map(|thread| format!("{ALL}/{thread}")) {
        if root.first_line(&format!("{thread}/state")).as_deref() != Some("on") {
            continue;
        }
        for context in root.names(&format!("{thread}/contexts")) {
            let schemes = format!("{thread}/contexts/{context}/schemes");
            for scheme in root.names(&schemes) {
                actions.extend(root.first_line(&format!("{schemes}/{scheme}/action")));
            }
        }
    }
    if threads.is_empty() {
        return None;
    }
    Some(if actions.is_empty() { "off".into() } else { actions.join(", ") })
}

/// How the clock is read: by code of the kernel in every process (vdso), or by a system call. The
/// costs of both tell, because the vdso may call the system by itself: where the kernel does not
/// trust the CPU's counter, and in the first second of gVisor.
pub(super) fn put_clock(facts: &mut Sheet) {
    let (mut usual, mut by_call) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..BATCHES {
        let Some(cost) = cost_of_reading(sys::clock_by_call_ns) else { return };
        by_call = by_call.min(cost);
        usual = usual.min(cost_of_reading(|| Some(sys::now_ns())).unwrap_or(cost));
    }
    let way = way_to_the_clock(sys::has_vdso(), usual, by_call);
    facts.put("clock_read", Some(way.to_owned()));
    let costs = format!("{usual:.0} ns, by system call {by_call:.0} ns");
    facts.put("clock_read_costs", Some(costs));
}

/// If the usual way costs nearly as much as the system call, it is a system call.
fn way_to_the_clock(has_vdso: bool, usual: f64, by_call: f64) -> &'static str {
    if has_vdso && usual < 0.6 * by_call { "vdso" } else { "system call" }
}

/// Batches of readings, of which the least cost counts.
const BATCHES: usize = 6;
/// Readings of a batch: few, so that a slow clock takes little time.
const READINGS: u64 = 5;

/// Ns of a reading.
fn cost_of_reading(read: impl Fn() -> Option<u64>) -> Option<f64> {
    let start = read()?;
    let mut last = start;
    for _ in 0..READINGS {
        last = read()?;
    }
    Some(last.saturating_sub(start) as f64 / READINGS as f64)
}

#[cfg(test)]
mod tests {
    use super::super::root::made;
    use super::*;

    #[test]
    fn settings_are_read_and_empty_ones_left_out() {
        let damon = "/sys/kernel/mm/damon/admin/kdamonds";
        let root = made::system(&[
            ("/proc/cmdline", "quiet  mitigations=off token=x url=http://u:p@h -- --key s\n"),
            ("/proc/self/attr/current", "docker-default (enforce)\n"),
            ("/sys/fs/selinux/enforce", ""),
            ("/proc/self/status", "Name:\tx\nUid:\t5\t5\t5\t5\nSeccomp:\t2\nTracerPid:\t7\n"),
            (&format!("{damon}/0/state"), "on\n"),
            (&format!("{damon}/0/contexts/0/schemes/0/action"), "pageout\n"),
            (&format!("{damon}/1/state"), "off\n"),
        ]);
        let mut facts = Sheet::default();
        facts.put_files(&Root(root.path()));
        put(&mut facts, &Root(root.path()));
        let told = |name: &str| facts.0.get(name).map(String::as_str);
        assert_eq!(told("command_line"), Some("quiet mitigations=off and-5-others"));
        assert_eq!(told("security_label"), Some("docker-default (enforce)"));
        assert_eq!(told("selinux_enforcing"), None);
        assert_eq!(told("proactive_reclaim"), Some("pageout"));
        assert_eq!(
            (told("uid"), told("seccomp"), told("traced")),
            (Some("5"), Some("2"), Some("yes"))
        );
    }

    #[test]
    fn the_way_to_the_clock_shows_in_what_it_costs() {
        assert_eq!(way_to_the_clock(true, 22.0, 130.0), "vdso");
        assert_eq!(way_to_the_clock(true, 15_000.0, 14_900.0), "system call");
        assert_eq!(way_to_the_clock(false, 400.0, 900.0), "system call");
        let mut facts = Sheet::default();
        put_clock(&mut facts);
        assert!(facts.0["clock_read_costs"].contains(" ns, by system call "));
    }
}
