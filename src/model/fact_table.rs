//! The table of facts: one row for each thing that an environment tells about itself.
//!
//! A row has the fact's name and how two of its values are compared. If the fact is the text of one
//! file, the row names the file. Reports list differences in the order of the rows. To add a fact
//! that is one file's first line, add a row. Any other fact needs a row here and the code in
//! `src/facts/` or `src/sys/` that finds its value.

/// A fact and its properties.
#[derive(Debug)]
pub struct Fact {
    pub name: &'static str,
    pub value: FactValue,
    /// The file whose first line is the value; none where code finds the value.
    pub file: Option<&'static str>,
    /// It tells who made the run or where: `envtax redact` removes it.
    pub private: bool,
}

/// How two values of a fact are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactValue {
    /// By the whole text.
    Text,
    /// By the whole text. Reports show the elements, which are separated by this text.
    List(&'static str),
    /// By the number at its beginning. Two values are the same if they differ by at most this share
    /// of the reference's: such amounts vary a little with each start of a machine.
    Amount(f64),
    /// Not at all: it changes from moment to moment, or names a place.
    Volatile,
}

impl Fact {
    const fn new(name: &'static str, value: FactValue) -> Fact {
        Fact { name, value, file: None, private: false }
    }

    const fn file(mut self, path: &'static str) -> Fact {
        self.file = Some(path);
        self
    }

    const fn private(mut self) -> Fact {
        self.private = true;
        self
    }
}

const fn text(name: &'static str) -> Fact {
    Fact::new(name, FactValue::Text)
}

const fn list(name: &'static str, separator: &'static str) -> Fact {
    Fact::new(name, FactValue::List(separator))
}

const fn amount(name: &'static str) -> Fact {
    Fact::new(name, FactValue::Amount(0.01))
}

const fn volatile(name: &'static str) -> Fact {
    Fact::new(name, FactValue::Volatile)
}

/// All facts: first those that affect most costs, then the others in alphabetical order.
pub const FACTS: &[Fact] = &[
    text("environment"),
    text("launcher"),
    text("os"),
    text("kernel"),
    text("kernel_version"),
    text("architecture"),
    text("target"),
    text("cpu"),
    text("cpus"),
    list("cpu_flags", " "),
    text("microcode"),
    list("mitigations", "; "),
    list("command_line", " ").private(),
    text("hypervisor"),
    text("clock_source").file("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    text("clock_read"),
    text("seccomp"),
    text("no_new_privileges"),
    text("traced"),
    list("security_modules", ",").file("/sys/kernel/security/lsm"),
    text("security_label").file("/proc/self/attr/current"),
    text("selinux_enforcing").file("/sys/fs/selinux/enforce"),
    text("cgroup_cpu"),
    text("cgroup_cpuset"),
    text("cgroup_memory"),
    text("cgroup_pids"),
    text("huge_pages").file("/sys/kernel/mm/transparent_hugepage/enabled"),
    text("huge_page_defrag").file("/sys/kernel/mm/transparent_hugepage/defrag"),
    text("proactive_reclaim"),
    text("governor").file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    text("boost").file("/sys/devices/system/cpu/cpufreq/boost"),
    text("no_turbo").file("/sys/devices/system/cpu/intel_pstate/no_turbo"),
    text("power_plan"),
    text("defender_realtime"),
    text("idle_driver").file("/sys/devices/system/cpu/cpuidle/current_driver"),
    text("idle_governor").file("/sys/devices/system/cpu/cpuidle/current_governor"),
    amount("memory"),
    amount("swap"),
    text("distribution"),
    text("libc"),
    text("filesystem"),
    list("options", ","),
    list("filesystem_options", ","),
    text("accelerator"),
    text("address_randomisation").file("/proc/sys/kernel/randomize_va_space"),
    volatile("backing_file").private(),
    text("backing_filesystem"),
    volatile("boot").file("/proc/sys/kernel/random/boot_id").private(),
    text("build"),
    text("capabilities"),
    text("cgroups"),
    volatile("clock_read_costs"),
    text("device_model"),
    text("dirty_background_ratio").file("/proc/sys/vm/dirty_background_ratio"),
    text("dirty_ratio").file("/proc/sys/vm/dirty_ratio"),
    text("edition"),
    text("emulator"),
    text("energy_preference")
        .file("/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"),
    text("envtax"),
    text("frequency_driver").file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
    text("huge_pages_in_tmpfs").file("/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
    text("init").file("/proc/1/comm"),
    text("isolated_cpus").file("/sys/devices/system/cpu/isolated"),
    volatile("load_1min"),
    text("load_beside"),
    text("machine"),
    text("made"),
    text("namespaces"),
    text("numa_balancing").file("/proc/sys/kernel/numa_balancing"),
    text("overcommit").file("/proc/sys/vm/overcommit_memory"),
    volatile("path").private(),
    text("perf_event_paranoid").file("/proc/sys/kernel/perf_event_paranoid"),
    text("release"),
    text("rotational"),
    text("same_page_merging").file("/sys/kernel/mm/ksm/run"),
    text("scheduler"),
    text("size"),
    volatile("source").private(),
    text("swappiness").file("/proc/sys/vm/swappiness"),
    text("tickless_cpus").file("/sys/devices/system/cpu/nohz_full"),
    text("uid"),
    volatile("uptime_s"),
    text("wine"),
    text("wine_help"),
    text("write_cache"),
];

/// The row of a fact; none for a name that this version does not know.
pub fn fact(name: &str) -> Option<&'static Fact> {
    FACTS.iter().find(|fact| fact.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fact_has_one_row() {
        let mut names: Vec<&str> = FACTS.iter().map(|fact| fact.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert_eq!(fact("swap").unwrap().value, FactValue::Amount(0.01));
        assert!(fact("no such fact").is_none());
    }
}
