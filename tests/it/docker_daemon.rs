//! A docker daemon for one test.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::processes;
use crate::traces::output;

/// How long the daemon may take to start.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Commands that list containers and images.
pub type Lists = Vec<Vec<String>>;

/// The words of a line without quotes.
pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A docker daemon for one test. All its files are in a folder of its own.
pub struct Daemon {
    child: Child,
    folder: TempDir,
    /// The parent of its containers' control groups.
    groups: String,
}

impl Daemon {
    pub fn start() -> Daemon {
        // Mounts in this folder are not taken for another test's leftovers.
        let folder = TempDir::new_in("/var/tmp").unwrap();
        let at = folder.path().display();
        let groups = format!("docker-of-tests-{}", folder.path().file_name().unwrap().display());
        let line = format!(
            "dockerd --data-root {at}/data --exec-root {at}/exec -H unix://{at}/sock -p {at}/pid \
             --iptables=false --ip6tables=false --bridge=none --cgroup-parent /{groups}"
        );
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("dockerd");
        command.args(&words(&line)[1..]).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let mut daemon = Daemon { child, folder, groups };
        let until = Instant::now() + TIME_LIMIT;
        while output(&daemon.docker("version --format {{.Server.Version}}")).trim().is_empty() {
            let ended = daemon.child.try_wait().unwrap();
            let log = fs::read_to_string(daemon.folder.path().join("log")).unwrap();
            assert!(ended.is_none() && Instant::now() < until, "no dockerd: {log}");
            thread::sleep(Duration::from_millis(100));
        }
        daemon
    }

    pub fn host(&self) -> String {
        format!("unix://{}/sock", self.folder.path().display())
    }

    pub fn docker(&self, line: &str) -> Vec<String> {
        words(&format!("docker --host {} {line}", self.host()))
    }

    pub fn lists(&self) -> Lists {
        let images = "images --format {{.Repository}}";
        vec![self.docker("ps --all --format {{.Names}}"), self.docker(images)]
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        processes::signal(self.child.id(), "TERM");
        let _ = self.child.wait();
        // Docker leaves this folder.
        let folders = format!("*/{}*", self.groups);
        output(&words(&format!("find /sys/fs/cgroup -depth -type d -path {folders} -delete")));
    }
}
