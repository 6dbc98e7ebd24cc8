//! What the tests are written in: a place of one's own, envtax started in it, and what it left.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{self, Process};

/// What is waited for comes much sooner; after this long the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long processes may take to go after the one they depend on was killed.
const LEAVING: Duration = Duration::from_secs(8);

/// Options that make a run short: enough to see that it works, too little to trust a number.
pub const SHORT: [&str; 4] = ["--budget", "1s", "--answer-timeout", "20s"];

/// A folder of one test with everything in it: the run files, a target directory, and the
/// temporary folder of all that is started, by which the processes are known again.
pub struct Place {
    dir: TempDir,
    mounts: BTreeSet<String>,
}

impl Place {
    pub fn new() -> Place {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        fs::create_dir(dir.path().join("target")).unwrap();
        Place { dir, mounts: mounts() }
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

    /// A file that may be executed.
    pub fn write_program(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.write(name, bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// An environment `NAME=cmd:…` whose launcher is this shell script. Its arguments are the
    /// command to run: `exec "$@"` would be an honest launcher.
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

    /// `envtax run … -o run.jsonl` over these environments, with these probes.
    pub fn run(&self, environments: &[&str], probes: &[&str]) -> Envtax<'_> {
        let environments = environments.iter().flat_map(|spec| ["--env", spec]);
        let probes = probes.iter().flat_map(|glob| ["--probe", glob]);
        self.envtax(["run", "-o", "run.jsonl"]).args(environments).args(probes)
    }

    /// What `compare` says of a run file of this place, which it must be able to read.
    pub fn comparison(&self, file: &str) -> Comparison {
        let done = self.envtax(["compare", file, "--format", "json"]).run().exits(0);
        Comparison(serde_json::from_str(&done.out).expect("JSON"))
    }

    /// Everything that a run could leave is gone: processes, temporary files, scratch folders and
    /// mounts.
    pub fn is_clean(&self) {
        self.is_clean_of(&Seen::default());
    }

    fn is_clean_of(&self, seen: &Seen) {
        let mark = self.dir.path().to_str().unwrap();
        let until = Instant::now() + LEAVING;
        loop {
            let left = self.leftovers(mark, seen);
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "left behind:\n{}", left.join("\n"));
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn leftovers(&self, mark: &str, seen: &Seen) -> Vec<String> {
        let processes = processes::of(mark, &seen.sessions);
        let mut left: Vec<String> =
            processes.iter().map(|process| format!("{process:?}")).collect();
        // PRoot 5.1 puts its loader here whatever the variables say, and removes it unless killed.
        for entry in fs::read_dir("/tmp").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let pid = name.strip_prefix("prooted-").and_then(|rest| rest.split('-').next());
            if pid.is_some_and(|pid| pid.parse().is_ok_and(|pid| seen.ids.contains(&pid))) {
                left.push(format!("/tmp/{name}"));
            }
        }
        for folder in ["tmp", "target"] {
            let entries = fs::read_dir(self.path(folder)).unwrap();
            left.extend(entries.map(|entry| entry.unwrap().path().display().to_string()));
        }
        // Those in the folders of tests beside this one go with them.
        let others = std::env::temp_dir();
        let beside = |line: &&String| line.contains(others.to_str().unwrap());
        let ours = |line: &&String| !beside(line) || line.contains(mark);
        left.extend(mounts().difference(&self.mounts).filter(ours).cloned());
        left
    }
}

/// What is known of processes that were seen.
#[derive(Default)]
struct Seen {
    /// Their sessions, by which those are found that have neither a telling path nor variables.
    sessions: BTreeSet<i32>,
    ids: BTreeSet<u32>,
}

/// Mounts of this process. Those that services of the machine make at any time are not ours.
fn mounts() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let point = |line: &str| line.split(' ').nth(4).unwrap().to_owned();
    let ours = |line: &&str| !["/run", "/var"].iter().any(|other| point(line).starts_with(other));
    text.lines().filter(ours).map(str::to_owned).collect()
}

/// A command line of envtax.
pub struct Envtax<'a> {
    place: &'a Place,
    program: PathBuf,
    /// What starts it.
    through: Vec<String>,
    args: Vec<String>,
    variables: Vec<(String, String)>,
}

impl<'a> Envtax<'a> {
    pub fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Does not end by itself, however precise it is.
    pub fn endless(self) -> Self {
        self.args(["--budget", "1h", "--precision", "0"])
    }

    /// Starts nothing again unasked: what is killed then is something that runs, not something that
    /// is just being started, which may cost the environment.
    pub fn started_once(self) -> Self {
        self.args(["--launches", "1"])
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// From a binary in the place itself, where the environment may not see it.
    pub fn own_binary(mut self) -> Self {
        let own = PathBuf::from(self.place.path("envtax"));
        if !own.exists() && fs::hard_link(&self.program, &own).is_err() {
            fs::copy(&self.program, &own).unwrap();
            fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        }
        self.program = own;
        self
    }

    /// Started by that command, in whose place it comes.
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

    /// Starts it. Its outputs are files: whoever keeps them open does not keep the test waiting.
    pub fn start(&self) -> Running<'a> {
        let outputs = TempDir::new().unwrap();
        let mut command = self.command();
        command.stdout(File::create(outputs.path().join("out")).unwrap());
        command.stderr(File::create(outputs.path().join("err")).unwrap());
        let child = command.spawn().unwrap();
        let line = shell_line(&self.args);
        Running { place: self.place, child, outputs, line, seen: Seen::default() }
    }

    pub fn run(&self) -> Done {
        self.start().wait()
    }
}

fn shell_line(args: &[String]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    format!("envtax {}", quoted.join(" "))
}

/// envtax while it runs; killed when the test gives up on it.
pub struct Running<'a> {
    place: &'a Place,
    child: Child,
    outputs: TempDir,
    line: String,
    seen: Seen,
}

impl Running<'_> {
    /// The processes of the run but envtax itself.
    pub fn processes(&mut self) -> Vec<Process> {
        let mark = self.place.dir.path().to_str().unwrap();
        let mut found = processes::of(mark, &self.seen.sessions);
        found.retain(|process| process.pid != self.child.id());
        let own = processes::own_session();
        let sessions = found.iter().map(|process| process.session);
        self.seen.sessions.extend(sessions.filter(|session| *session != own));
        self.seen.ids.extend(found.iter().map(|process| process.pid));
        found
    }

    /// Waits for the moment to come.
    pub fn until(&mut self, moment: &str, mut is_now: impl FnMut(&mut Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_now(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "ended before {moment}: {}", self.said());
            assert!(Instant::now() < until, "never came: {moment}; {}", self.said());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the run file has so many records of that kind.
    pub fn until_recorded(&mut self, record: &str, count: usize) {
        let file = self.place.path("run.jsonl");
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
        Done { status, out: self.output("out"), err: self.output("err"), line: self.line.clone() }
    }

    /// Waits for its end and for everything that it started to be gone.
    pub fn wait_clean(mut self) -> Done {
        self.ended();
        self.place.is_clean_of(&self.seen);
        self.wait()
    }

    /// Whether it ends by itself within so many seconds.
    pub fn ends_within(&mut self, seconds: u64) -> bool {
        self.status_within(Duration::from_secs(seconds)).is_some()
    }

    fn ended(&mut self) -> ExitStatus {
        let status = self.status_within(PATIENCE);
        status.unwrap_or_else(|| panic!("does not end: {}", self.said()))
    }

    fn status_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + time;
        loop {
            let status = self.child.try_wait().unwrap();
            if status.is_some() || Instant::now() >= until {
                return status;
            }
            thread::sleep(Duration::from_millis(2));
        }
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
        // Does nothing to a child that was waited for.
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
}

impl Done {
    /// Ended with this exit code and without a panic.
    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        assert_eq!(self.status.code(), Some(code), "{}\n{}{}", self.line, self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}\n{}", self.line, self.err);
        self
    }

    /// Standard output has these words, wherever its lines are broken.
    #[track_caller]
    pub fn prints(self, words: &str) -> Done {
        let (line, out) = (&self.line, &self.out);
        assert!(joined(out).contains(&joined(words)), "`{words}` is not in\n{line}\n{out}");
        self
    }

    /// Standard error has these words.
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

/// What `compare --format json` says.
pub struct Comparison(pub Value);

impl Comparison {
    /// The cell of the first row that is so named (`probe params`) in that column.
    #[track_caller]
    pub fn cell(&self, row: &str, column: &str) -> &Value {
        let columns = self.0["columns"].as_array().unwrap();
        let at = columns.iter().position(|label| label == column).expect("the column");
        let is_it = |it: &&Value| {
            let (probe, params) = (it["probe"].as_str().unwrap(), it["params"].as_str().unwrap());
            format!("{probe} {params}").trim() == row
        };
        let found = self.0["rows"].as_array().unwrap().iter().find(is_it);
        &found.unwrap_or_else(|| panic!("no row `{row}` in {:#}", self.0))["cells"][at]
    }

    /// The row was measured there, and costs something.
    #[track_caller]
    pub fn measured(&self, row: &str, column: &str) -> &Self {
        let cell = self.cell(row, column);
        let cost = cell["measured"]["cost"].as_f64();
        assert!(cost.is_some_and(|cost| cost > 0.0), "{row} in {column}: {cell:#}");
        self
    }

    /// Every row of that target directory was measured in that column; says how many there are.
    #[track_caller]
    pub fn all_measured(&self, dir: &str, column: &str) -> usize {
        let columns = self.0["columns"].as_array().unwrap();
        let at = columns.iter().position(|label| label == column).expect("the column");
        let rows = self.0["rows"].as_array().unwrap().iter().filter(|row| row["dir"] == dir);
        rows.inspect(|row| {
            let cost = row["cells"][at]["measured"]["cost"].as_f64();
            assert!(cost.is_some_and(|cost| cost > 0.0), "{row:#}");
        })
        .count()
    }

    /// The row's tax there.
    #[track_caller]
    pub fn ratio(&self, row: &str, column: &str) -> f64 {
        self.cell(row, column)["measured"]["tax"]["ratio"].as_f64().expect("a tax")
    }

    /// The row failed there, and a part of the failure has these words.
    #[track_caller]
    pub fn failed(&self, row: &str, column: &str, words: &str) -> &Self {
        let cell = self.cell(row, column);
        let told = told(&cell["failed"]);
        assert!(
            told.iter().any(|part| part.contains(words)),
            "{row} in {column} without `{words}`: {cell:#}"
        );
        self
    }

    /// The row cannot be measured there, and a part of the explanation has these words.
    #[track_caller]
    pub fn skipped(&self, row: &str, column: &str, words: &str) -> &Self {
        let cell = self.cell(row, column);
        let told = told(&cell["skipped"]);
        assert!(
            told.iter().any(|part| part.contains(words)),
            "{row} in {column} without `{words}`: {cell:#}"
        );
        self
    }

    /// A remark has these words.
    #[track_caller]
    pub fn remarks(&self, words: &str) -> &Self {
        let remarks = &self.0["remarks"];
        let all = remarks.as_array().unwrap().iter().filter_map(|it| it["text"].as_str());
        assert!(all.clone().any(|remark| remark.contains(words)), "no `{words}` in {remarks:#}");
        self
    }
}

/// The parts of a failure in a report, those of later attempts behind the others.
fn told(failure: &Value) -> Vec<String> {
    match failure {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().flat_map(told).collect(),
        Value::Object(parts) => parts.values().flat_map(told).collect(),
        _ => Vec::new(),
    }
}

/// Whether the program is there. Where it is not, the test passes without having tested anything
/// and says so; on the machine that decides whether a change is kept, that is a failure.
pub fn needs(program: &str) -> bool {
    let found = on_path(program).is_some();
    if !found {
        missing(&format!("there is no `{program}`; scripts/setup installs it"));
    }
    found
}

/// Where on the search path the program is.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.into_iter().find(|place| place.is_file())
}

/// Whether bubblewrap can limit a tmpfs, which it can since 0.7.
pub fn needs_bwrap_size() -> bool {
    if !needs("bwrap") {
        return false;
    }
    let help = Command::new("bwrap").arg("--help").output().unwrap();
    let can = String::from_utf8_lossy(&[help.stdout, help.stderr].concat()).contains("--size");
    if !can {
        missing("this bubblewrap has no `--size`");
    }
    can
}

/// Whether a kernel for guests is there: the machine's own, or one that was downloaded.
pub fn needs_kernel() -> bool {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
    let places = ["/boot".to_owned(), format!("{cache}/envtax/kernel/boot")];
    let found = places.iter().filter_map(|place| fs::read_dir(place).ok()).any(|entries| {
        let mut entries = entries.flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with("vmlinuz-"))
    });
    if !found {
        missing("there is no kernel for guests; scripts/fetch-kernel gets one");
    }
    found
}

/// Something that a test needs is not there.
pub fn missing(why: &str) {
    let strict = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!strict, "{why}");
    eprintln!("not tested: {why}");
}

/// A file that is kept with the tests.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}
