//! Processes of the machine, found by what they cannot hide.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub session: i32,
    pub words: Vec<String>,
}

impl Process {
    /// The first word of its command; nothing while it is becoming another program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// An agent: on its own or as the argument of its launcher.
    pub fn is_agent(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "agent")
    }

    pub fn is_worker(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "worker")
    }
}

/// Living processes that carry the mark in the path of their executable, in a word of their
/// command or in a variable of their environment, or that are in one of the sessions.
pub fn of(mark: &str, sessions: &BTreeSet<i32>) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = ids.filter(|pid| *pid != std::process::id());
    others.filter_map(|pid| read(pid, mark, sessions)).collect()
}

/// Living processes in a control group of that name, such as what a runtime leaves to itself.
pub fn in_group(name: &str) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_in = |pid: &u32| {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        groups.contains(name)
    };
    ids.filter(is_in).filter_map(|pid| read(pid, "", &BTreeSet::new())).collect()
}

/// None if the process is not one of them, is dead, or went while it was being read.
fn read(pid: u32, mark: &str, sessions: &BTreeSet<i32>) -> Option<Process> {
    let file = |name: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (state, session) = state_and_session(&file("stat"))?;
    let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let executable = executable.display().to_string();
    let command = file("cmdline");
    let marked = [&executable, &command, &file("environ")].iter().any(|it| it.contains(mark));
    // A dead process that its parent has not looked at yet holds nothing any more.
    if "ZX".contains(&state) || !marked && !sessions.contains(&session) {
        return None;
    }
    let words = command.split_terminator('\0').map(str::to_owned).collect();
    Some(Process { pid, session, words })
}

/// How many processes of these sessions are dead and not reaped.
pub fn dead(sessions: &BTreeSet<i32>) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let states = stats.filter_map(|stat| state_and_session(&stat));
    states.filter(|(state, session)| state == "Z" && sessions.contains(session)).count()
}

/// The program's name in the second field may have spaces and brackets of its own.
fn state_and_session(stat: &str) -> Option<(String, i32)> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(2)?.parse().ok()?))
}

/// The session of the tests themselves.
pub fn own_session() -> i32 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    state_and_session(&stat).unwrap().1
}

/// Sends a signal to one process.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).output().unwrap();
    // The process may have ended by itself a moment ago; what matters is checked afterwards.
    drop(sent);
}
