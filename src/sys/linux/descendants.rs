//! The descendants of this process: the processes of the environments that it started. With this
//! process as their subreaper (prctl(2)), those that detach themselves remain descendants.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::pin_process;

/// Makes this process the parent of its orphaned descendants.
pub fn adopt_orphans() {
    // SAFETY: sets a flag of this process. Where it is refused, detached processes are not seen.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Every descendant of this process, including ended ones that nobody reaped.
pub fn descendants() -> BTreeSet<u32> {
    let parents: BTreeMap<u32, u32> = stats().map(|(pid, stat)| (pid, stat.parent)).collect();
    let own = std::process::id();
    let below = |pid: &u32| {
        let mut at = *pid;
        // A table that changes while it is read may contain a ring, but no chain is longer than the
        // table.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == own => return true,
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    parents.keys().copied().filter(below).collect()
}

/// Reaps the ended children of this process, except those that somebody else waits for.
pub fn reap_orphans(except: &BTreeSet<u32>) {
    let own = std::process::id();
    let ended = |(_, stat): &(u32, Stat)| stat.parent == own && stat.ended;
    for (pid, _) in stats().filter(ended).filter(|(pid, _)| !except.contains(pid)) {
        // SAFETY: waits for one child that has ended already; its status is of no interest.
        unsafe { libc::waitpid(pid as libc::pid_t, std::ptr::null_mut(), libc::WNOHANG) };
    }
}

/// The environment variable that marks everything that a launch starts, in whatever session.
pub const LAUNCH_VARIABLE: &str = "ENVTAX_LAUNCH";

/// Kills the processes of other sessions whose launch, by that variable, `is_meant`.
pub fn end_launched(is_meant: impl Fn(&str) -> bool) {
    let meant = |pid: &u32| {
        let Ok(variables) = fs::read(format!("/proc/{pid}/environ")) else { return false };
        let mut variables = variables.split(|byte| *byte == 0);
        variables.any(|variable| {
            let variable = String::from_utf8_lossy(variable);
            let launch = variable.strip_prefix(LAUNCH_VARIABLE).and_then(|it| it.strip_prefix('='));
            launch.is_some_and(&is_meant)
        })
    };
    // A process may have started another one just before it was killed.
    for _ in 0..100 {
        let living = stats().filter(|(_, stat)| !stat.ended).map(|(pid, _)| pid);
        let found: Vec<u32> = living.filter(meant).collect();
        for pid in &found {
            // SAFETY: the process carries the mark of a launch of ours.
            unsafe { libc::kill(*pid as libc::pid_t, libc::SIGKILL) };
        }
        if found.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// CPU time in ns of these processes and of their children that were waited for; none when no
/// process of them exists. The children's time is known to the clock tick only.
pub fn cpu_ns(pids: &[u32]) -> Option<u64> {
    // SAFETY: reads a constant of the system.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    let tick_ns = 1_000_000_000 / ticks;
    let time = |pid: &u32| {
        let stat = stat(*pid)?;
        // Ended threads are counted in clock ticks; running ones count for themselves, more finely.
        let own = scheduled_ns(*pid).max(stat.own_ticks * tick_ns);
        Some(own + stat.children_ticks * tick_ns)
    };
    pids.iter().filter_map(time).reduce(|a, b| a + b)
}

/// CPU time in ns of the threads of a process, where the kernel counts it so finely.
fn scheduled_ns(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let time = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    tasks.filter_map(time).sum()
}

/// Memory in bytes of these processes: the sum of their proportional set sizes. None when one that
/// exists does not show it.
pub fn memory_bytes(pids: &[u32]) -> Option<u64> {
    let mut sum = 0;
    for pid in pids {
        let Some(stat) = stat(*pid) else { continue };
        if stat.ended {
            continue;
        }
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        sum += line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10;
    }
    (sum > 0).then_some(sum)
}

/// Those of these processes that have not ended.
pub fn living(pids: &[u32]) -> Vec<u32> {
    pids.iter().copied().filter(|pid| stat(*pid).is_some_and(|stat| !stat.ended)).collect()
}

/// Whether the process is a program of Wine's own Windows folder, such as `services.exe`: Wine
/// starts them beside what a user starts, and they end by themselves.
pub fn is_wine_helper(pid: u32) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    is_in_windows_folder(&command)
}

fn is_in_windows_folder(command: &[u8]) -> bool {
    const FOLDER: &[u8] = b"c:\\windows\\";
    command.get(..FOLDER.len()).is_some_and(|start| start.eq_ignore_ascii_case(FOLDER))
}

/// Pins those of these processes that `tracer` traces, and what they fork from here on, to `cpus`.
/// The number of an ended process may belong to another one by now, which is not touched.
pub fn pin_traced(pids: &[u32], tracer: u32, cpus: &[usize]) {
    for pid in pids.iter().filter(|pid| tracer_of(**pid) == Some(tracer)) {
        let _ = pin_process(*pid, cpus);
    }
}

/// The thread that traces a process; 0 means none.
fn tracer_of(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim().parse().ok()
}

/// Living processes of the session with that leader.
pub(super) fn of_session(leader: u32) -> impl Iterator<Item = u32> {
    let own = move |(_, stat): &(u32, Stat)| stat.session == leader && !stat.ended;
    stats().filter(own).map(|(pid, _)| pid)
}

struct Stat {
    parent: u32,
    session: u32,
    ended: bool,
    /// CPU time in clock ticks: its own, and that of the children it waited for.
    own_ticks: u64,
    children_ticks: u64,
}

fn stats() -> impl Iterator<Item = (u32, Stat)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, stat(pid)?))
    })
}

fn stat(pid: u32) -> Option<Stat> {
    parsed(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads the line of `/proc/PID/stat` (proc(5)); the name in brackets may contain anything.
fn parsed(line: &str) -> Option<Stat> {
    let words: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| words.get(index)?.parse::<u64>().ok();
    // Behind the name: state, ppid, pgrp, session, …; the 12th to 15th are utime, stime, cutime and
    // cstime.
    let own_ticks = number(11)? + number(12)?;
    let children_ticks = number(13)? + number(14)?;
    let ended = matches!(*words.first()?, "Z" | "X");
    let (parent, session) = (number(1)? as u32, number(3)? as u32);
    Some(Stat { parent, session, ended, own_ticks, children_ticks })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn helpers_of_wine_are_told_by_their_folder() {
        assert!(is_in_windows_folder(b"C:\\windows\\system32\\services.exe\0"));
        assert!(!is_in_windows_folder(b"Z:\\home\\envtax.exe\0agent\0"));
        assert!(!is_wine_helper(std::process::id()) && !is_in_windows_folder(b""));
    }

    #[test]
    fn a_line_of_the_process_table_is_read() {
        let line = "7 (a b) c) S 5 7 8 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 9 8 7";
        let stat = parsed(line).unwrap();
        let ticks = (stat.own_ticks, stat.children_ticks);
        assert_eq!((stat.parent, stat.session, stat.ended, ticks), (5, 8, false, (30, 70)));
        assert!(parsed("7 (a) Z 5 7").is_none());
    }

    #[test]
    fn children_of_children_are_descendants() {
        let mut command = Command::new("sh");
        let mut child =
            command.args(["-c", "sleep 60 & cat; kill $!"]).stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let seen = || {
            let descendants = descendants();
            let below: Vec<u32> = descendants
                .iter()
                .copied()
                .filter(|it| stat(*it).is_some_and(|s| s.parent == pid))
                .collect();
            (descendants.contains(&pid), below.len())
        };
        while seen() != (true, 2) {
            std::thread::yield_now();
        }
        assert!(memory_bytes(&[pid]).unwrap() >= 4096);
        assert!(cpu_ns(&[pid]).is_some());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(cpu_ns(&[pid]), None);
    }

    #[test]
    fn those_that_are_traced_are_pinned_and_no_others() {
        let start = || Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut children = [start(), start()];
        let pids = children.each_ref().map(|child| child.id());
        // SAFETY: attaches to a child of this process, which runs on; reads this thread's number.
        let tracer = unsafe {
            let (none, nothing) = (std::ptr::null_mut::<libc::c_void>(), 0usize);
            let seized = libc::ptrace(libc::PTRACE_SEIZE, pids[0] as libc::pid_t, none, nothing);
            assert_eq!(seized, 0, "{}", std::io::Error::last_os_error());
            libc::gettid() as u32
        };
        let may_run_on = |pid: u32| {
            let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            line.unwrap().trim().to_owned()
        };
        let before = may_run_on(pids[1]);
        let cpu = *super::super::allowed_cpus().unwrap().last().unwrap();
        pin_traced(&pids, tracer, &[cpu]);
        assert_eq!(pids.map(may_run_on), [cpu.to_string(), before]);
        for child in &mut children {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
}
