//! The machine as the environment shows it: CPU, memory, firmware, power saving.

use super::Sheet;
use super::root::{Root, value_in};
use crate::sys::{self, Hypervisor};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn put(facts: &mut Sheet, root: &Root<'_>) {
    let cpu = root.text("/proc/cpuinfo").unwrap_or_default();
    let of_cpu = |key: &str| value_in(&cpu, key, ':');
    facts.put("cpu", of_cpu("model name"));
    facts.put("cpu_flags", of_cpu("flags").or_else(|| of_cpu("Features")));
    facts.put("microcode", of_cpu("microcode"));
    facts.put("cpus", topology(root));
    facts.put("hypervisor", hypervisor(&sys::hypervisor(), of_cpu("flags")));
    facts.put("machine", machine(root));
    facts.put("mitigations", mitigations(root));
    let memory = root.text("/proc/meminfo").unwrap_or_default();
    facts.put("memory", value_in(&memory, "MemTotal", ':'));
    facts.put("swap", value_in(&memory, "SwapTotal", ':'));
}

/// Whether the CPU, or the environment's description of it, says that there is a hypervisor.
fn hypervisor(cpu: &Hypervisor, flags: Option<String>) -> Option<String> {
    let yes = match cpu {
        Hypervisor::Signed { .. } => true,
        Hypervisor::None => false,
        Hypervisor::Unknown => flags?.split(' ').any(|flag| flag == "hypervisor"),
    };
    Some(if yes { "yes" } else { "no" }.into())
}

/// Manufacturer and product by the firmware's tables.
fn machine(root: &Root<'_>) -> Option<String> {
    let parts = ["sys_vendor", "product_name"];
    let part = |name: &str| root.first_line(&format!("/sys/class/dmi/id/{name}"));
    let found: Vec<String> = parts.into_iter().filter_map(part).collect();
    Some(found.join(" ").trim().to_owned())
}

/// `8 online, 2 threads a core, 8 threads a socket`.
fn topology(root: &Root<'_>) -> Option<String> {
    let count = |file: &str| Some(count_of(&root.first_line(&format!("{CPUS}/{file}"))?));
    let mut text = format!("{} online", count("online").filter(|count| *count > 0)?);
    let siblings = [("thread_siblings_list", "core"), ("core_siblings_list", "socket")];
    for (file, place) in siblings {
        match count(&format!("cpu0/topology/{file}")) {
            Some(1) => text.push_str(&format!(", 1 thread a {place}")),
            Some(more) if more > 1 => text.push_str(&format!(", {more} threads a {place}")),
            _ => {}
        }
    }
    Some(text)
}

/// The number of CPUs in a list such as `0-3,8`.
fn count_of(list: &str) -> u64 {
    let one = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').filter_map(one).sum()
}

/// What the kernel does about weaknesses of the CPU, as `name: text; name: text`: it is a part of
/// the cost of every system call. Weaknesses that the CPU does not have are left out.
fn mitigations(root: &Root<'_>) -> Option<String> {
    let folder = format!("{CPUS}/vulnerabilities");
    let one = |name: String| {
        let text = root.first_line(&format!("{folder}/{name}"))?;
        if text.is_empty() || text == "Not affected" {
            return None;
        }
        let text = text.strip_prefix("Mitigation: ").unwrap_or(&text).replace("; ", ", ");
        Some(format!("{name}: {text}"))
    };
    let names = root.names(&folder);
    if names.is_empty() {
        return None;
    }
    let found: Vec<String> = names.into_iter().filter_map(one).collect();
    Some(if found.is_empty() { "none needed".into() } else { found.join("; ") })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::root::made;
    use super::*;

    #[test]
    fn mitigations_are_those_of_weaknesses_that_are_there() {
        let at = |name: &str| format!("{CPUS}/vulnerabilities/{name}");
        let root = made::system(&[
            (&at("spectre_v2"), "Mitigation: Retpolines; RSB filling\n"),
            (&at("mds"), "Not affected\n"),
            (&at("retbleed"), "Vulnerable\n"),
        ]);
        let found = mitigations(&Root(root.path())).unwrap();
        assert_eq!(found, "retbleed: Vulnerable; spectre_v2: Retpolines, RSB filling");
        let sound = made::system(&[(&at("mds"), "Not affected\n")]);
        assert_eq!(mitigations(&Root(sound.path())).as_deref(), Some("none needed"));
        assert_eq!(mitigations(&Root(Path::new("/no/such/folder"))), None);
    }

    #[test]
    fn a_cpu_is_described() {
        let root = made::system(&[
            (
                "/proc/cpuinfo",
                "processor\t: 0\nmodel name\t: A B\nmicrocode\t: 0x1\nflags\t\t: fpu avx\n",
            ),
            (&format!("{CPUS}/online"), "0-7\n"),
            (&format!("{CPUS}/cpu0/topology/thread_siblings_list"), "0,4\n"),
            (&format!("{CPUS}/cpu0/topology/core_siblings_list"), "0-7\n"),
            (&format!("{CPUS}/isolated"), "\n"),
            (&format!("{CPUS}/nohz_full"), "(null)\n"),
            ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("/sys/class/dmi/id/product_name", "Standard PC\n"),
        ]);
        let mut facts = Sheet::default();
        facts.put_files(&Root(root.path()));
        put(&mut facts, &Root(root.path()));
        let facts = facts.0;
        assert_eq!(facts["cpu_flags"], "fpu avx");
        assert_eq!(facts["cpus"], "8 online, 2 threads a core, 8 threads a socket");
        assert_eq!(
            (facts["microcode"].as_str(), facts["machine"].as_str()),
            ("0x1", "QEMU Standard PC")
        );
        assert!(!facts.contains_key("isolated_cpus") && !facts.contains_key("tickless_cpus"));
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        for (list, count) in [("0-3,8", 5), ("0", 1), ("", 0), ("x", 0), ("3-1", 0)] {
            assert_eq!(count_of(list), count, "{list}");
        }
    }
}
