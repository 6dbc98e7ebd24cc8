//! Traces of a run on this machine outside its place, and which of them are left. Traces are
//! recognised by what this run started: its variables, sessions, tokens and folders. Processes and
//! files of others never count.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::processes::{self, Process};

/// How long processes may take to end after the one on which they depend was killed. The guard
/// gives them five seconds; the machine may be busy.
pub const LEAVING: Duration = Duration::from_secs(90);
/// How long daemons, runtimes and Wine may take to remove what they have.
pub const OUTSIDE: Duration = Duration::from_secs(60);

/// Folders with files of launchers whose names contain the token of the run.
const FOLDERS: [&str; 3] = ["/sys/fs/cgroup", "/run/systemd/nspawn", "/run/virtiofsd"];
/// Folders with files of runtimes whose text contains the token.
const STATES: [&str; 3] = ["/run/runc", "/run/crun", "/run/firejail/name"];

/// The traces of a run that were seen.
pub struct Traces {
    /// Older files are not this run's. Times of files may lag behind the clock.
    since: SystemTime,
    /// Sessions of its processes. They show processes that have neither a telling path nor
    /// variables.
    sessions: BTreeSet<i32>,
    ids: BTreeSet<u32>,
    /// The tokens of its launches.
    tokens: BTreeSet<String>,
    /// Folders of its Wine servers.
    servers: BTreeSet<String>,
}

impl Default for Traces {
    fn default() -> Self {
        let (sessions, ids, tokens, servers) = Default::default();
        Self { since: SystemTime::now() - Duration::from_secs(2), sessions, ids, tokens, servers }
    }
}

impl Traces {
    /// The present processes of the place's run.
    pub fn look(&mut self, place: &str) -> Vec<Process> {
        let found = processes::of(place, &self.sessions, &self.tokens);
        let own = processes::own_session();
        let sessions = found.iter().map(|process| process.session);
        self.sessions.extend(sessions.filter(|session| *session != own));
        self.ids.extend(found.iter().map(|process| process.pid));
        self.tokens.extend(found.iter().filter_map(|process| process.token.clone()));
        for entry in fs::read_dir(format!("{place}/tmp")).into_iter().flatten().flatten() {
            self.servers.extend(wine_server(&entry.path().join("prefix")));
        }
        found
    }

    /// The processes, loop devices and files in `/tmp` that are left.
    pub fn left(&self, place: &str) -> Vec<String> {
        let processes = processes::of(place, &self.sessions, &self.tokens);
        let mut left: Vec<String> = processes.iter().map(|it| format!("{it:?}")).collect();
        // PRoot 5.1 puts its loader here, whatever the variables say, and removes it unless it is
        // killed.
        for entry in fs::read_dir("/tmp").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let pid = name.strip_prefix("prooted-").and_then(|rest| rest.split('-').next());
            let ours = pid.is_some_and(|pid| pid.parse().is_ok_and(|pid| self.ids.contains(&pid)));
            // Another run may have had a process with that id before.
            let since = |it: fs::Metadata| it.modified().is_ok_and(|then| then >= self.since);
            if ours && entry.metadata().is_ok_and(since) {
                left.push(format!("/tmp/{name}"));
            }
        }
        left.extend(loop_devices(place));
        left
    }

    /// What is left in the folders of runtimes, daemons and Wine, and in the output of these
    /// commands.
    pub fn left_outside(&self, lists: &[Vec<String>]) -> Vec<String> {
        let mut left: Vec<String> =
            self.servers.iter().filter(|folder| Path::new(folder).exists()).cloned().collect();
        if self.tokens.is_empty() {
            return left;
        }
        for token in &self.tokens {
            let find = [&["find"], &FOLDERS[..]].concat();
            let grep = [&["grep", "-raos", token], &STATES[..]].concat();
            let own = [find, grep].map(|words| words.into_iter().map(str::to_owned).collect());
            for command in own.iter().chain(lists) {
                let text = output(command);
                left.extend(text.lines().filter(|line| line.contains(token)).map(str::to_owned));
            }
        }
        left
    }
}

/// What a command prints on its standard output.
pub fn output(words: &[String]) -> String {
    let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder of a Wine prefix's server, unless this Wine has it in the stage.
fn wine_server(prefix: &Path) -> Option<String> {
    let about = fs::metadata(prefix).ok()?;
    let user = fs::metadata("/proc/self").ok()?.uid();
    Some(format!("/tmp/.wine-{user}/server-{:x}-{:x}", about.dev(), about.ino()))
}

/// Waits until the server of a prefix is gone.
pub fn no_wine_server(prefix: &Path) {
    let begin = Instant::now();
    while let Some(folder) = wine_server(prefix).filter(|folder| Path::new(folder).exists()) {
        assert!(begin.elapsed() < OUTSIDE, "left behind: {folder}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Loop devices whose files lie in that folder.
pub fn loop_devices(place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        if file.starts_with(place) {
            found.push(file);
        }
    }
    found
}

/// Mounts of this process, without those that services of the machine make at any time.
pub fn mounts() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let point = |line: &str| line.split(' ').nth(4).unwrap().to_owned();
    let ours = |line: &&str| !["/run", "/var"].iter().any(|other| point(line).starts_with(other));
    text.lines().filter(ours).map(str::to_owned).collect()
}
