//! Finds processes of the machine by properties that they cannot hide.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub session: i32,
    pub words: Vec<String>,
    /// The token of the run that launched it, if its variables tell.
    pub token: Option<String>,
}

impl Process {
    /// The first word of its command; empty while it is executing another program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Whether it is an agent, or a launcher with an agent's words in its command.
    pub fn is_agent(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "agent")
    }

    /// Whether it leads its session.
    pub fn leads(&self) -> bool {
        i32::try_from(self.pid) == Ok(self.session)
    }

    pub fn is_worker(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "worker")
    }
}

/// Living processes of a run: those that carry the mark in the path of their executable, in a word
/// of their command or in a variable; those in one of the sessions; and those in a control group
/// that is named after one of the tokens.
pub fn of(mark: &str, sessions: &BTreeSet<i32>, tokens: &BTreeSet<String>) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = ids.filter(|pid| *pid != std::process::id());
    others.filter_map(|pid| read(pid, mark, sessions, tokens)).collect()
}

/// The living processes below that one. This is faster than reading all processes.
pub fn below(pid: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        for task in fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children: Vec<u32> =
                children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
            let none = BTreeSet::new();
            found.extend(children.iter().filter_map(|pid| read(*pid, "", &none, &BTreeSet::new())));
            open.extend(children);
        }
    }
    found.sort_by_key(|process| process.pid);
    found
}

/// None if the process is not one of them, is dead, or ended while it was being read.
fn read(
    pid: u32,
    mark: &str,
    sessions: &BTreeSet<i32>,
    tokens: &BTreeSet<String>,
) -> Option<Process> {
    let file = |name: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (state, session) = state_and_session(&file("stat"))?;
    let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let executable = executable.display().to_string();
    let (command, variables) = (file("cmdline"), file("environ"));
    let marked = [&executable, &command, &variables].iter().any(|it| it.contains(mark));
    let grouped = || {
        let groups = file("cgroup");
        tokens.iter().any(|token| groups.contains(token))
    };
    // A dead process that nobody has reaped yet holds nothing any more.
    if "ZX".contains(&state) || !marked && !sessions.contains(&session) && !grouped() {
        return None;
    }
    let words = command.split_terminator('\0').map(str::to_owned).collect();
    let mut launches = variables.split('\0').filter_map(|it| it.strip_prefix("ENVTAX_LAUNCH="));
    let token = launches.next().and_then(|launch| launch.split('-').next()).map(str::to_owned);
    Some(Process { pid, session, words, token })
}

/// The most memory that the process ever had at once; none once it ended.
pub fn peak_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The words of a process's command; none if it is gone or dead.
pub fn words(pid: u32) -> Vec<String> {
    read(pid, "", &BTreeSet::new(), &BTreeSet::new()).map_or(Vec::new(), |process| process.words)
}

/// How many processes of these sessions are dead and not reaped.
pub fn dead(sessions: &BTreeSet<i32>) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let states = stats.filter_map(|stat| state_and_session(&stat));
    states.filter(|(state, session)| state == "Z" && sessions.contains(session)).count()
}

/// The program's name in the second field may contain spaces and brackets.
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
    // The process may have ended a moment ago; the caller checks what matters.
    drop(sent);
}
