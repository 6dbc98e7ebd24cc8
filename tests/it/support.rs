//! The language of the tests: a place for each test, envtax started in it, and checks of what it
//! left.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use crate::comparison::Comparison;
pub use crate::needs::{data, missing, needs, needs_bwrap_size, needs_kernel, needs_root, on_path};
use crate::processes::{self, Process};
use crate::traces::{self, Traces};

/// Waits end much sooner than this. After this time the test fails instead of hanging.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// How often to look which processes a run has, while the test waits for its end.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Options for a short run: enough to see that it works, too short for trusted figures.
pub const SHORT: [&str; 4] = ["--budget", "1s", "--answer-timeout", "20s"];

/// A folder for one test with everything in it: run files, a target directory, and the temporary
/// folder of all processes that it starts, by which these are recognised.
pub struct Place {
    dir: TempDir,
    mounts: BTreeSet<String>,
    lists: RefCell<Vec<Vec<String>>>,
}

impl Place {
    pub fn new() -> Place {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        fs::create_dir(dir.path().join("target")).unwrap();
        Place { dir, mounts: traces::mounts(), lists: RefCell::default() }
    }

    /// A path in this place.
    pub fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn has(&self, name: &str) -> bool {
        self.dir.path().join(name).exists()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Writes a file that may be executed.
    pub fn write_program(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.write(name, bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// An environment `NAME=cmd:…` whose launcher is this shell script. Its arguments are the
    /// command to run: `exec "$@"` is an honest launcher.
    pub fn fake(&self, name: &str, script: &str) -> String {
        let path = self.write(&format!("{name}.sh"), script);
        format!("{name}=cmd:sh {path}")
    }

    /// envtax in this place.
    pub fn envtax<S: AsRef<str>>(&self, args: impl IntoIterator<Item = S>) -> Envtax<'_> {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_envtax"));
        let (through, words, variables) = Default::default();
        Envtax { place: self, program, through, args: words, variables }.args(args)
    }

    /// `envtax run … -o run.jsonl --long` over these environments, with these probes.
    pub fn run(&self, environments: &[&str], probes: &[&str]) -> Envtax<'_> {
        let environments = environments.iter().flat_map(|spec| ["--env", spec]);
        let probes = probes.iter().flat_map(|glob| ["--probe", glob]);
        self.envtax(["run", "-o", "run.jsonl", "--long"]).args(environments).args(probes)
    }

    /// The names of all formats that are text.
    pub fn formats(&self) -> Vec<String> {
        let done = self.envtax(["list", "formats"]).run().exits(0);
        let names = done.out.lines().filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "png").map(str::to_owned).collect()
    }

    /// The comparison of a run file of this place.
    pub fn comparison(&self, file: &str) -> Comparison {
        let done = self.envtax(["compare", file, "--format", "json"]).run().exits(0);
        Comparison(serde_json::from_str(&done.out).expect("JSON"))
    }

    /// These commands list what a run could leave elsewhere, such as the containers of a daemon.
    pub fn listed_by(&self, commands: impl IntoIterator<Item = Vec<String>>) {
        self.lists.borrow_mut().extend(commands);
    }

    /// Fails unless everything that a run could leave is gone: processes, temporary files, scratch
    /// folders and mounts.
    pub fn is_clean(&self) {
        self.is_clean_of(&Traces::default());
    }

    fn is_clean_of(&self, seen: &Traces) {
        let begin = Instant::now();
        loop {
            let in_place = self.left_in_place(seen);
            let outside = match in_place.is_empty() {
                true => seen.left_outside(&self.lists.borrow()),
                false => Vec::new(),
            };
            if in_place.is_empty() && outside.is_empty() {
                return;
            }
            let limit = if in_place.is_empty() { traces::OUTSIDE } else { traces::LEAVING };
            let left = [in_place, outside].concat().join("\n");
            assert!(begin.elapsed() < limit, "left behind:\n{left}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn left_in_place(&self, seen: &Traces) -> Vec<String> {
        let mark = self.dir.path().to_str().unwrap();
        let mut left = seen.left(mark);
        for folder in ["tmp", "target"] {
            let entries = fs::read_dir(self.path(folder)).unwrap();
            left.extend(entries.map(|entry| entry.unwrap().path().display().to_string()));
        }
        // Mounts in the folders of other tests end with those tests.
        let others = std::env::temp_dir();
        let beside = |line: &&String| line.contains(others.to_str().unwrap());
        let ours = |line: &&String| !beside(line) || line.contains(mark);
        left.extend(traces::mounts().difference(&self.mounts).filter(ours).cloned());
        left
    }
}

/// A command line of envtax.
pub struct Envtax<'a> {
    place: &'a Place,
    program: PathBuf,
    /// The words before the command, which start it.
    through: Vec<String>,
    args: Vec<String>,
    variables: Vec<(String, String)>,
}

impl<'a> Envtax<'a> {
    pub fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A run that does not end by itself, however precise it is.
    pub fn endless(self) -> Self {
        self.args(["--budget", "1h", "--precision", "0"])
    }

    /// A run that starts every environment once. What a test kills is then running, and not just
    /// starting: a process that is killed during its start may cost the environment.
    pub fn started_once(self) -> Self {
        self.args(["--launches", "1"])
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// The place that it is started in.
    pub fn place(&self) -> &'a Place {
        self.place
    }

    /// Runs a copy of the binary in the place itself, where an environment may not see it.
    pub fn own_binary(mut self) -> Self {
        let own = PathBuf::from(self.place.path("envtax"));
        if !own.exists() && fs::hard_link(&self.program, &own).is_err() {
            fs::copy(&self.program, &own).unwrap();
            fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        }
        self.program = own;
        self
    }

    /// Adds words before the command, which start it.
    pub fn through(mut self, words: &[&str]) -> Self {
        self.through.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// The command, for tests that give it other streams.
    pub fn command(&self) -> Command {
        let own = self.program.to_str().unwrap().to_owned();
        let words: Vec<&String> = self.through.iter().chain([&own]).chain(&self.args).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.place.dir.path());
        for variable in ["TMPDIR", "PROOT_TMP_DIR"] {
            command.env(variable, self.place.path("tmp"));
        }
        command.env_remove("NO_COLOR");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command
    }

    /// Starts it. Its outputs are files, so a process that keeps them open does not block the test.
    pub fn start(&self) -> Running<'a> {
        let outputs = TempDir::new().unwrap();
        let mut command = self.command();
        command.stdout(File::create(outputs.path().join("out")).unwrap());
        command.stderr(File::create(outputs.path().join("err")).unwrap());
        let child = command.spawn().unwrap();
        let line = shell_line(&self.args);
        Running { place: self.place, child, outputs, line, seen: Traces::default(), peak_kib: 0 }
    }

    pub fn run(&self) -> Done {
        self.start().wait()
    }
}

fn shell_line(args: &[String]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    format!("envtax {}", quoted.join(" "))
}

/// envtax while it runs. It is killed when the test panics.
pub struct Running<'a> {
    place: &'a Place,
    child: Child,
    outputs: TempDir,
    line: String,
    seen: Traces,
    peak_kib: u64,
}

impl Running<'_> {
    /// The processes of the run except envtax itself.
    pub fn processes(&mut self) -> Vec<Process> {
        let mut found = self.seen.look(self.place.dir.path().to_str().unwrap());
        found.retain(|process| process.pid != self.child.id());
        found
    }

    /// The place in which it runs.
    pub fn place(&self) -> &Place {
        self.place
    }

    /// Waits for the process that `pick` chooses, and kills it. It is stopped first, so that
    /// it cannot end in between. An agent must be seen several times, because a worker that was
    /// just forked has the words of its agent for a moment.
    pub fn kills(&mut self, name: &str, pick: impl Fn(&[Process]) -> Option<&Process>) {
        const SEEN: u32 = 20;
        let mut looks = 0;
        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        self.until(name, |run| {
            looks += 1;
            // Not all processes are below envtax, but the short-lived ones are.
            let found = match looks % 10 {
                0 => run.processes(),
                _ => processes::below(run.child.id()),
            };
            let known = pick(&found).filter(|victim| {
                let times = seen.entry(victim.pid).or_default();
                *times += 1;
                !victim.is_agent() || *times >= SEEN
            });
            let stopped = known.filter(|victim| {
                processes::signal(victim.pid, "STOP");
                processes::words(victim.pid) == victim.words
            });
            stopped.inspect(|victim| processes::signal(victim.pid, "KILL")).is_some()
        });
    }

    /// Waits until `is_now` is true.
    pub fn until(&mut self, moment: &str, mut is_now: impl FnMut(&mut Self) -> bool) {
        let until = Instant::now() + TIME_LIMIT;
        while !is_now(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "ended before {moment}: {}", self.said());
            assert!(Instant::now() < until, "never came: {moment}; {}", self.said());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the run file has `count` records of that kind.
    pub fn until_recorded(&mut self, record: &str, count: usize) {
        self.until_recorded_in("run.jsonl", record, count);
    }

    /// Waits until that file has `count` records of that kind.
    pub fn until_recorded_in(&mut self, file: &str, record: &str, count: usize) {
        let file = self.place.path(file);
        let mark = format!("{{\"record\":\"{record}\"");
        self.until(&format!("{count} `{record}`"), |running| {
            running.processes();
            let text = fs::read_to_string(&file).unwrap_or_default();
            text.lines().filter(|line| line.starts_with(&mark)).count() >= count
        });
    }

    pub fn signal(&self, name: &str) {
        processes::signal(self.child.id(), name);
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Done {
        let status = self.ended();
        let (out, err) = (self.output("out"), self.output("err"));
        Done { status, out, err, line: self.line.clone(), peak_kib: self.peak_kib }
    }

    /// Waits for its end, and until all processes that it started are gone.
    pub fn wait_clean(mut self) -> Done {
        self.ended();
        self.place.is_clean_of(&self.seen);
        self.wait()
    }

    /// Whether it ends by itself within this time.
    pub fn ends_within(&mut self, seconds: u64) -> bool {
        self.status_within(Duration::from_secs(seconds)).is_some()
    }

    fn ended(&mut self) -> ExitStatus {
        let status = self.status_within(TIME_LIMIT);
        status.unwrap_or_else(|| panic!("does not end: {}", self.said()))
    }

    fn status_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + time;
        let mut looked = Instant::now();
        loop {
            let status = self.child.try_wait().unwrap();
            if status.is_some() || Instant::now() >= until {
                return status;
            }
            self.peak_kib = processes::peak_kib(self.child.id()).unwrap_or(self.peak_kib);
            if looked.elapsed() >= LOOK_INTERVAL {
                self.processes();
                looked = Instant::now();
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// What it has printed so far.
    pub fn printed(&self) -> String {
        self.output("out")
    }

    fn output(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.outputs.path().join(name)).unwrap()).expect("UTF-8")
    }

    fn said(&self) -> String {
        format!("{}\n{}{}", self.line, self.output("out"), self.output("err"))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // This does nothing to a child that was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// envtax after its end.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
    line: String,
    /// The most memory that envtax itself was seen to have (`VmHWM`).
    pub peak_kib: u64,
}

impl Done {
    /// Fails unless it ended with this exit code and without a panic.
    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        assert_eq!(self.status.code(), Some(code), "{}\n{}{}", self.line, self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}\n{}", self.line, self.err);
        self
    }

    /// Fails unless standard output has these words, wherever lines are broken.
    #[track_caller]
    pub fn prints(self, words: &str) -> Done {
        let (line, out) = (&self.line, &self.out);
        assert!(joined(out).contains(&joined(words)), "`{words}` is not in\n{line}\n{out}");
        self
    }

    /// Fails unless standard error has these words.
    #[track_caller]
    pub fn complains(self, words: &str) -> Done {
        let (line, err) = (&self.line, &self.err);
        assert!(joined(err).contains(&joined(words)), "`{words}` is not in\n{line}\n{err}");
        self
    }
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
