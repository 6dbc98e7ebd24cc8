//! The kind `ssh`, with this machine as the other one: each test has a server of its own.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::{Done, Place, SHORT, missing, needs};

const PROBE: &str = "syscall.getppid";
const SERVER: &str = "/usr/sbin/sshd";

/// A server on a free port of this machine, with keys of its own. Its sessions use the place's
/// folder for temporary files, so that everything that is sent there can be seen.
pub struct Server {
    child: Child,
    port: u16,
    /// A folder of its own: in the place, its processes would look like leftovers of a run.
    files: TempDir,
}

impl Server {
    pub fn start(place: &Place) -> Server {
        let files = TempDir::new().unwrap();
        let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
        // The system's service would make this folder.
        let _ = fs::create_dir("/run/sshd");
        for name in ["host", "key", "stranger"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)]);
            assert!(command.status().unwrap().success());
        }
        fs::copy(path("key.pub"), path("authorized")).unwrap();
        let port = free_port();
        let lines = [
            format!("Port {port}"),
            "ListenAddress 127.0.0.1".into(),
            format!("HostKey {}", path("host")),
            format!("AuthorizedKeysFile {}", path("authorized")),
            format!("PidFile {}", path("server.pid")),
            format!("SetEnv TMPDIR={}", place.path("tmp")),
            "StrictModes no\nUsePAM no\nPasswordAuthentication no".into(),
            "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n".into(),
        ];
        let known = fs::read_to_string(path("host.pub")).unwrap();
        fs::write(path("known"), format!("[127.0.0.1]:{port} {known}")).unwrap();
        fs::write(path("nobody"), "").unwrap();
        let config = path("server.conf");
        fs::write(&config, lines.join("\n")).unwrap();
        let mut command = Command::new(SERVER);
        command.args(["-D", "-e", "-f", &config]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Server { child: command.spawn().unwrap(), port, files };
        let until = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "the server ended");
            assert!(Instant::now() < until, "the server does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// `NAME=ssh:…` with the key of that name and that file of known hosts.
    pub fn spec(&self, key: &str, known: &str) -> String {
        let lines = [
            "Host there".into(),
            "HostName 127.0.0.1".into(),
            format!("Port {}", self.port),
            format!("UserKnownHostsFile {}", self.path(known)),
            format!("IdentityFile {}", self.path(key)),
            "IdentitiesOnly yes\nIdentityAgent none\n".into(),
        ];
        let config = self.path(&format!("{key}-{known}.conf"));
        fs::write(&config, lines.join("\n")).unwrap();
        format!("x=ssh:there,config={config}")
    }

    fn path(&self, name: &str) -> String {
        self.files.path().join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

pub fn needs_server() -> bool {
    let found = Path::new(SERVER).exists();
    if !found {
        missing("there is no sshd; scripts/setup installs it");
    }
    found && needs("ssh") && needs("ssh-keygen")
}

/// Measures native beside an environment that fails with these words and a remedy.
fn fails_alone(place: &Place, spec: &str, words: &str) -> Done {
    let limits = ["--budget", "2s", "--answer-timeout", "20s", "--force"];
    let done = place.run(&["native", spec], &[PROBE]).args(limits).start().wait_clean();
    let done = done.exits(3).prints(words);
    place.comparison("run.jsonl").measured(PROBE, "native").failed(PROBE, "x", words);
    done
}

#[test]
fn another_machine_is_measured_and_left_as_it_was() {
    if !needs_server() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place);
    let spec = server.spec("key", "known");
    let dir = format!("d={}", place.path("target"));
    let run = place.run(&["native", &spec], &[PROBE, "file.create", "process.exec target=tiny"]);
    run.args(["--budget", "6s", "--dir", &dir]).start().wait_clean().exits(0);
    let comparison = place.comparison("run.jsonl");
    for row in [PROBE, "file.create", "process.exec target=tiny"] {
        comparison.measured(row, "x");
    }
}

#[test]
fn nothing_is_asked_and_every_refusal_says_why() {
    if !needs_server() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place);
    let unknown = server.spec("key", "nobody");
    fails_alone(&place, &unknown, "Host key verification failed").complains("remedy: make `ssh");
    let known = fs::read_to_string(server.path("nobody")).unwrap();
    assert_eq!(known, "", "a host is made known by its user");
    let stranger = server.spec("stranger", "known");
    fails_alone(&place, &stranger, "Permission denied (publickey)").complains("ssh-copy-id");
    // A configuration can neither make ssh ask nor turn the session into another one.
    let bold = format!("{stranger},option=BatchMode=no,option=RemoteCommand=cat");
    fails_alone(&place, &bold, "Permission denied (publickey)");
}

#[test]
fn a_machine_that_is_not_there_is_given_up() {
    if !needs("ssh") {
        return;
    }
    let place = Place::new();
    let spec = format!("x=ssh:127.0.0.1,config=none,port={}", free_port());
    fails_alone(&place, &spec, "Connection refused");
    // It accepts the connection and never answers.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let spec = format!("x=ssh:127.0.0.1,config=none,port={port},option=ConnectTimeout=1");
    fails_alone(&place, &spec, "timed out");
}

#[test]
fn another_processor_is_told_before_anything_is_sent() {
    if !needs_server() || std::env::consts::ARCH != "x86_64" {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place);
    let header = [&b"\x7fELF"[..], &[2, 1, 1, 0], &[0; 8], &[2, 0, 183, 0]].concat();
    place.write("envtax-aarch64", header);
    let spec = format!("{},arch=aarch64", server.spec("key", "known"));
    let run = place.run(&["native", &spec], &[PROBE]).args(SHORT);
    let done = run.variable("ENVTAX_AGENTS", &place.path("")).start().wait_clean().exits(3);
    done.prints("this system is x86_64, and the agent that is sent is built for aarch64");
}

#[test]
fn arguments_that_are_none_are_refused() {
    let place = Place::new();
    for (spec, words) in [
        ("ssh", "the host is missing: write `ssh:[USER@]HOST"),
        ("ssh:-oProxyCommand=reboot", "is not the name of a host"),
        ("ssh:h,port=many", "`many` is not the number of a port"),
        ("ssh:h,colour=red", "there is no option `colour`; there are port"),
    ] {
        place.run(&[spec], &[PROBE]).run().exits(2).complains(words);
    }
}
