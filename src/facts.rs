//! What an environment says of itself. Absent where it does not say: nothing is guessed.

use std::fs;
use std::path::Path;

use crate::model::Facts;
use crate::sys;

/// The facts of the environment this process is in.
pub fn environment() -> Facts {
    let mut facts = Facts::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    put("os", Some(std::env::consts::OS.to_owned()));
    put("kernel", first_line("/proc/sys/kernel/osrelease"));
    put("kernel_version", first_line("/proc/sys/kernel/version"));
    put("command_line", first_line("/proc/cmdline"));
    put("distribution", value_of("/etc/os-release", "PRETTY_NAME", '='));
    put("cpu", value_of("/proc/cpuinfo", "model name", ':'));
    put("memory", value_of("/proc/meminfo", "MemTotal", ':'));
    put("hypervisor", hypervisor());
    put("emulator", sys::emulator().map(|path| path.display().to_string()));
    let sources = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    put("clock_source", first_line(sources));
    put("huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
    put("mitigations", mitigations(Path::new("/sys/devices/system/cpu/vulnerabilities")));
    put("seccomp", value_of("/proc/self/status", "Seccomp", ':'));
    put("no_new_privileges", value_of("/proc/self/status", "NoNewPrivs", ':'));
    put("traced", value_of("/proc/self/status", "TracerPid", ':').map(traced));
    put("uid", value_of("/proc/self/status", "Uid", ':').map(|ids| first_word(&ids)));
    put("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    put("uptime_s", first_line("/proc/uptime").map(|text| first_word(&text)));
    put("load_1min", first_line("/proc/loadavg").map(|text| first_word(&text)));
    for (name, value) in sys::facts() {
        put(name, Some(value));
    }
    facts
}

/// The facts of the filesystem that serves `path`, from the mount table: `statfs` is no witness,
/// as 9p answers with the type of the filesystem behind it.
pub fn filesystem(path: &Path) -> Facts {
    let own = sys::volume_facts(path).into_iter();
    let mut facts: Facts = own.map(|(name, value)| (name.to_owned(), value)).collect();
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(volume) = sys::volume(&path)
        && volume.size > 0
    {
        facts.insert("size".into(), volume.size.to_string());
    }
    let Ok(table) = fs::read_to_string("/proc/self/mountinfo") else { return facts };
    let Some(mount) = mount_of(&table, &path) else { return facts };
    if let Some(file) = mount.source.strip_prefix("/dev/").and_then(file_of_loop_device) {
        let below = mount_of(&table, Path::new(&file)).map(|below| below.kind);
        facts.extend(below.map(|kind| ("backing_filesystem".into(), kind)));
        facts.insert("backing_file".into(), file);
    }
    facts.insert("filesystem".into(), mount.kind);
    facts.insert("source".into(), mount.source);
    facts.insert("options".into(), mount.options);
    facts.insert("filesystem_options".into(), mount.filesystem_options);
    facts
}

/// The file behind a loop device, where the environment shows it.
fn file_of_loop_device(name: &str) -> Option<String> {
    first_line(&format!("/sys/block/{name}/loop/backing_file"))
}

/// What the kernel does about weaknesses of the CPU that it has, as `name: text; name: text`: it is
/// a part of the cost of every system call. Weaknesses that the CPU does not have are left out.
fn mitigations(folder: &Path) -> Option<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let Some(text) = entry.path().to_str().and_then(first_line) else { continue };
        if !text.is_empty() && text != "Not affected" {
            let text = text.strip_prefix("Mitigation: ").unwrap_or(&text).replace("; ", ", ");
            found.push(format!("{}: {text}", entry.file_name().to_string_lossy()));
        }
    }
    found.sort();
    Some(found.join("; "))
}

/// Steal and total CPU time of the whole machine in clock ticks, from `/proc/stat`.
pub fn cpu_ticks() -> Option<(u64, u64)> {
    let line = first_line("/proc/stat")?;
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: proc(5)
    (ticks.len() == 8).then(|| (ticks[7], ticks.iter().sum()))
}

/// A line of the mount table.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    kind: String,
    source: String,
    /// Of this mount.
    options: String,
    /// Of the filesystem, wherever it is mounted.
    filesystem_options: String,
}

/// The deepest mount that holds `path` (proc(5), mountinfo).
fn mount_of(table: &str, path: &Path) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in table.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (mut left, mut right) = (left.split(' ').skip(4), right.split(' '));
        let (Some(point), Some(options)) = (left.next(), left.next()) else { continue };
        let (Some(kind), Some(source)) = (right.next(), right.next()) else { continue };
        let point = point.replace("\\040", " ");
        // A later mount on the same point hides the earlier one, hence `>=`.
        if path.starts_with(&point) && best.as_ref().is_none_or(|(len, _)| point.len() >= *len) {
            let (kind, source, options) = (kind.into(), source.into(), options.into());
            let filesystem_options = right.next().unwrap_or_default().into();
            best = Some((point.len(), Mount { kind, source, options, filesystem_options }));
        }
    }
    best.map(|(_, found)| found)
}

fn first_line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()?.lines().next().map(|line| line.trim().to_owned())
}

fn value_of(path: &str, key: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = pairs.find(|(name, _)| name.trim() == key)?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

fn traced(tracer: String) -> String {
    if tracer == "0" { "no".into() } else { "yes".into() }
}

fn hypervisor() -> Option<String> {
    let flags = value_of("/proc/cpuinfo", "flags", ':')?;
    let virtual_machine = flags.split(' ').any(|flag| flag == "hypervisor");
    Some(if virtual_machine { "yes" } else { "no" }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime - ext4 /dev/root rw
40 22 0:30 / /proc rw - proc proc rw
41 22 0:31 / /mnt/with\\040space ro,nodev shared:5 - tmpfs none rw
42 22 0:32 / /mnt rw - 9p host rw
43 22 0:33 / /mnt rw - fuse.x top rw
";

    #[test]
    fn the_deepest_and_last_mount_counts() {
        let kind = |path: &str| mount_of(TABLE, Path::new(path)).unwrap().kind;
        assert_eq!(kind("/home/x"), "ext4");
        assert_eq!(kind("/mnt/with space/x"), "tmpfs");
        assert_eq!(kind("/mnt/other"), "fuse.x");
        assert_eq!(kind("/mntx"), "ext4");
        assert_eq!(mount_of("", Path::new("/")), None);
        let space = mount_of(TABLE, Path::new("/mnt/with space")).unwrap();
        let all = [space.source, space.options, space.filesystem_options];
        assert_eq!(all, ["none", "ro,nodev", "rw"]);
    }

    #[test]
    fn mitigations_are_those_of_weaknesses_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("spectre_v2", "Mitigation: Retpolines; RSB filling\n");
        write("mds", "Not affected\n");
        write("retbleed", "Vulnerable\n");
        let found = mitigations(folder.path()).unwrap();
        assert_eq!(found, "retbleed: Vulnerable; spectre_v2: Retpolines, RSB filling");
        assert_eq!(mitigations(Path::new("/no/such/folder")), None);
    }

    #[test]
    fn unknown_facts_are_absent() {
        assert_eq!(value_of("/no/such/file", "a", ':'), None);
        assert!(environment().values().all(|value| !value.is_empty()));
    }
}
