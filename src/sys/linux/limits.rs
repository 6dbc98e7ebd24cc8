//! How many more processes and how much more memory are possible, and which limit decides that.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::shared::types::Room;

/// How many more processes or threads are possible; none where no limit can be seen.
pub fn process_room() -> Option<Room> {
    let mut rooms = cgroup_rooms(&Cgroups::own("pids"), &PIDS);
    rooms.extend(user_room());
    // The fourth field of loadavg is runnable/all threads.
    let threads = fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok());
    for name in ["pid_max", "threads-max"] {
        if let Some((limit, threads)) = number(format!("/proc/sys/kernel/{name}")).zip(threads) {
            let text = format!("kernel.{name} is {limit}");
            rooms.push(Room { left: limit.saturating_sub(threads), limit: text });
        }
    }
    tightest(rooms)
}

/// How many more bytes of memory can be used; none where the environment does not tell.
pub fn memory_room() -> Option<Room> {
    let mut rooms = cgroup_rooms(&Cgroups::own("memory"), &MEMORY);
    let available = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    if let Some(kib) = available {
        rooms.push(Room { left: kib * 1024, limit: "MemAvailable of the system".into() });
    }
    tightest(rooms)
}

fn tightest(rooms: Vec<Room>) -> Option<Room> {
    rooms.into_iter().min_by_key(|room| room.left)
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What RLIMIT_NPROC leaves to this user. It does not apply to root and to users who may exceed it.
fn user_room() -> Option<Room> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is written to a whole rlimit that lives through the call; the user's number
    // is only asked for.
    let (result, user) =
        unsafe { (libc::getrlimit(libc::RLIMIT_NPROC, &mut limit), libc::getuid()) };
    if result != 0 || limit.rlim_cur == libc::RLIM_INFINITY || may_exceed(user) {
        return None;
    }
    let processes = fs::read_dir("/proc").ok()?.flatten().filter(|entry| {
        let number = entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        number && entry.metadata().is_ok_and(|data| data.uid() == user)
    });
    let threads = |path: PathBuf| fs::read_dir(path).map_or(0, |tasks| tasks.count() as u64);
    let threads: u64 = processes.map(|entry| threads(entry.path().join("task"))).sum();
    let left = limit.rlim_cur.saturating_sub(threads);
    Some(Room { left, limit: format!("RLIMIT_NPROC is {}", limit.rlim_cur) })
}

/// The kernel exempts the first user, CAP_SYS_RESOURCE and CAP_SYS_ADMIN, all of the first user
/// namespace (copy_process in kernel/fork.c).
fn may_exceed(user: libc::uid_t) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !map.split_whitespace().eq(["0", "0", "4294967295"]) {
        return false;
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    user == 0 || capabilities.unwrap_or(0) & (1 << 21 | 1 << 24) != 0
}

/// The files of one kind of limit.
struct Files {
    /// Names of the files in cgroups of version 2 and version 1: limit, use.
    names: [(&'static str, &'static str); 2],
    /// Line of `memory.stat`: memory in use that is given back on demand.
    reclaimable: [&'static str; 2],
}

const PIDS: Files = Files { names: [("pids.max", "pids.current"); 2], reclaimable: ["", ""] };

const MEMORY: Files = Files {
    names: [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")],
    reclaimable: ["inactive_file", "total_inactive_file"],
};

/// The folders of this process's cgroups that can limit it, as far as they can be seen: its own
/// first, then the parents'. Each with whether it is of version 1.
struct Cgroups(Vec<(PathBuf, bool)>);

impl Cgroups {
    fn own(controller: &str) -> Cgroups {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Cgroups::of(controller, &text("/proc/self/cgroup"), &text("/proc/self/mountinfo"))
    }

    /// From the lines of cgroups(7) and proc(5).
    fn of(controller: &str, cgroups: &str, mounts: &str) -> Cgroups {
        let mut folders = Vec::new();
        for line in mounts.lines() {
            let Some((left, right)) = line.split_once(" - ") else { continue };
            let (mut left, mut right) = (left.split(' ').skip(3), right.split(' '));
            let (Some(root), Some(mount)) = (left.next(), left.next()) else { continue };
            let (kind, options) = (right.next().unwrap_or(""), right.nth(1).unwrap_or(""));
            let first_version = match kind {
                "cgroup2" => false,
                "cgroup" if options.split(',').any(|option| option == controller) => true,
                _ => continue,
            };
            // `8:pids:/path`, or `0::/path` of version 2.
            let own = cgroups.lines().find_map(|line| {
                let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                let wanted = match first_version {
                    true => controllers.split(',').any(|name| name == controller),
                    false => controllers.is_empty(),
                };
                wanted.then_some(path)
            });
            let mount = Path::new(mount);
            // Inside a container, the path may be relative to another root than the mount.
            let below = own.and_then(|own| Path::new(own).strip_prefix(root).ok());
            let folder = below.map(|below| mount.join(below)).filter(|folder| folder.is_dir());
            let folder = folder.unwrap_or_else(|| mount.to_owned());
            let up = folder.ancestors().take_while(|folder| folder.starts_with(mount));
            folders.extend(up.map(|folder| (folder.to_owned(), first_version)));
        }
        Cgroups(folders)
    }
}

/// The folders of this process's cgroups with that controller, its own first, then the parents',
/// each with whether it is of version 1.
pub fn cgroup_folders(controller: &str) -> Vec<(PathBuf, bool)> {
    Cgroups::own(controller).0
}

/// What each of the cgroups leaves.
fn cgroup_rooms(cgroups: &Cgroups, files: &Files) -> Vec<Room> {
    let room = |(folder, first_version): &(PathBuf, bool)| {
        let version = usize::from(*first_version);
        let (limit_name, used_name) = files.names[version];
        // `max` is not a number: there is no limit.
        let limit = number(folder.join(limit_name))?;
        let used = number(folder.join(used_name))?;
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let reclaimable = stat.lines().find_map(|line| {
            let (name, value) = line.split_once(' ')?;
            if name == files.reclaimable[version] { value.parse::<u64>().ok() } else { None }
        });
        let used = used.saturating_sub(reclaimable.unwrap_or(0));
        let text = format!("{limit_name} of the cgroup is {limit}");
        Some(Room { left: limit.saturating_sub(used), limit: text })
    };
    cgroups.0.iter().filter_map(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn the_tightest_of_the_cgroup_and_its_parents_counts() {
        let root = tempfile::tempdir().unwrap();
        let mount = root.path().to_str().unwrap();
        write(&root.path().join("a"), &[("pids.max", "100\n"), ("pids.current", "40\n")]);
        write(&root.path().join("a/b"), &[("pids.max", "max\n"), ("pids.current", "30\n")]);
        let mounts = format!("31 1 0:1 / {mount} rw - cgroup2 cgroup2 rw\n");
        let cgroups = Cgroups::of("pids", "0::/a/b\n", &mounts);
        assert_eq!(cgroups.0.len(), 3);
        let rooms = cgroup_rooms(&cgroups, &PIDS);
        let limit = "pids.max of the cgroup is 100".to_owned();
        assert_eq!(tightest(rooms), Some(Room { left: 60, limit }));
    }

    #[test]
    fn memory_that_is_given_back_on_demand_counts_as_free() {
        let root = tempfile::tempdir().unwrap();
        let mount = root.path().to_str().unwrap();
        let files = [
            ("memory.limit_in_bytes", "1000\n"),
            ("memory.usage_in_bytes", "900\n"),
            ("memory.stat", "inactive_file 1\ntotal_inactive_file 300\n"),
        ];
        write(root.path(), &files);
        // The folder of a container is the root of its mount, but not of the path that it is told.
        let mounts = format!("31 1 0:1 /docker/x {mount} rw - cgroup cgroup rw,memory\n");
        let cgroups = Cgroups::of("memory", "4:memory:/elsewhere\n8:pids:/\n", &mounts);
        assert_eq!(cgroup_rooms(&cgroups, &MEMORY)[0].left, 400);
        assert!(Cgroups::of("pids", "4:memory:/\n", &mounts).0.is_empty());
    }

    #[test]
    fn this_system_has_room() {
        assert!(process_room().unwrap().left > 10);
        assert!(memory_room().unwrap().left > 1 << 20);
    }
}
