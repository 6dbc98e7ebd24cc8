//! Nouns that every layer shares. Pure data: nothing here touches a process, a file or a clock.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Parameters of a probe as text, `name=value` pairs separated by spaces; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(String);

impl Params {
    /// Takes `name=value name=value` as it stands; the registry's cases are the valid ones.
    pub fn new(text: &str) -> Self {
        Params(text.to_owned())
    }

    /// The value of `name`, if given.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The text as it is written in run files and tables.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One thing to measure: a probe with its parameters and, for file probes, a target directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    pub probe: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub params: Params,
    /// Name of the target directory (`--dir NAME=PATH`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
}

fn is_empty(params: &Params) -> bool {
    params.as_str().is_empty()
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.probe)?;
        if !self.params.as_str().is_empty() {
            write!(f, " {}", self.params.as_str())?;
        }
        match &self.dir {
            Some(dir) => write!(f, " dir={dir}"),
            None => Ok(()),
        }
    }
}

/// Whether that can be the name of an environment or a target directory.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

/// An environment as the user named it: `NAME=KIND:ARGUMENT`, or a table of `environments.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvSpec {
    pub name: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// Where target directories are in this environment, by their names, if elsewhere than in the
    /// others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dirs: BTreeMap<String, String>,
    /// Shell commands on this side, before each start of the environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Shell commands on this side, after each end of the environment, however it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// The command that is timed there, with `{}`, `{out}` and `{NAME}` for what varies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

impl EnvSpec {
    /// An environment of that kind, with nothing else said of it.
    pub fn new(name: &str, kind: &str, argument: &str) -> EnvSpec {
        let [name, kind, argument] = [name, kind, argument].map(str::to_owned);
        EnvSpec { name, kind, argument, ..EnvSpec::default() }
    }

    /// `KIND` or `KIND:ARGUMENT`, as it is given on the command line.
    pub fn spec(&self) -> String {
        match self.argument.as_str() {
            "" => self.kind.clone(),
            argument => format!("{}:{argument}", self.kind),
        }
    }
}

/// A folder whose filesystem the file probes measure, as seen inside every environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetDir {
    pub name: String,
    /// Empty for each environment's own folder for temporary files.
    pub path: String,
    /// The filesystem that envtax makes there for the run, such as `loop:ext4`; empty where there
    /// is one already, and [`DATA_DIR`] for the data of workloads. Environments with a kernel of
    /// their own make it by their own means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made: String,
}

/// What a figure is of, and in what it is written in run files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Nanoseconds.
    #[default]
    Time,
    /// Bytes.
    Bytes,
    /// Millionths of a whole.
    Share,
    /// Events.
    Count,
}

/// A part of what a probe measures, with a figure of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PhaseRecord", into = "PhaseRecord")]
pub struct Phase {
    /// Empty when it is the only one.
    pub name: Cow<'static, str>,
    pub quantity: Quantity,
    /// Taken from the clock around the operation. Otherwise the probe gives the figure, and zero
    /// means that the environment does not show it.
    pub timed: bool,
}

impl Phase {
    /// A part of the operation that is timed apart.
    pub const fn timed(name: &'static str) -> Phase {
        Phase { name: Cow::Borrowed(name), quantity: Quantity::Time, timed: true }
    }

    /// A figure that the probe finds by itself.
    pub const fn figure(name: &'static str, quantity: Quantity) -> Phase {
        Phase { name: Cow::Borrowed(name), quantity, timed: false }
    }
}

/// A timed phase is its name alone: all there was in the first run files.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PhaseRecord {
    Timed(String),
    Figure { name: String, quantity: Quantity },
}

impl From<PhaseRecord> for Phase {
    fn from(record: PhaseRecord) -> Phase {
        match record {
            PhaseRecord::Timed(name) => {
                Phase { name: name.into(), quantity: Quantity::Time, timed: true }
            }
            PhaseRecord::Figure { name, quantity } => {
                Phase { name: name.into(), quantity, timed: false }
            }
        }
    }
}

impl From<Phase> for PhaseRecord {
    fn from(phase: Phase) -> PhaseRecord {
        let name = phase.name.into_owned();
        match phase.timed {
            true => PhaseRecord::Timed(name),
            false => PhaseRecord::Figure { name, quantity: phase.quantity },
        }
    }
}

/// A case of the plan, with what a reader of the run file needs to name its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedCase {
    #[serde(flatten)]
    pub case: Case,
    /// The parts that have figures of their own; the timed ones first.
    pub phases: Vec<Phase>,
    /// What one iteration is.
    pub unit: String,
    /// A run of the environment's whole command, and what differs between its cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandCase>,
}

/// What a whole command is run with in one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandCase {
    /// The file that `{}` stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// What `{NAME}` stands for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Program and arguments, where they are not those of the environment's column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// What is run in place of the environment's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadCase>,
}

/// A command of envtax's own, with data that was made for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadCase {
    pub name: String,
    /// With `{data}` for the folder of that name in the target directory [`DATA_DIR`].
    pub command: Vec<String>,
    /// Programs without which an environment skips it.
    pub needs: Vec<String>,
}

/// Name of the target directory with the data of workloads.
pub const DATA_DIR: &str = "data";

impl WorkloadCase {
    /// Whether it works on data.
    pub fn has_data(&self) -> bool {
        self.command.iter().any(|word| word.contains("{data}"))
    }

    /// The command where the target directory [`DATA_DIR`] has that path.
    fn words(&self, data: &str) -> Vec<String> {
        let folder = format!("{data}/{}", self.name);
        self.command.iter().map(|word| word.replace("{data}", &folder)).collect()
    }
}

impl CommandCase {
    /// What is run: the case's own words, a workload's command, or the environment's.
    pub fn template<'a>(&'a self, environments: &'a [String]) -> &'a [String] {
        match (&self.workload, self.own.is_empty()) {
            (_, false) => &self.own,
            (Some(workload), true) => &workload.command,
            (None, true) => environments,
        }
    }

    /// The program that is started where the environment's command is that.
    pub fn program(&self, environments: &[String]) -> String {
        let words = self.words(self.template(environments), self.input.as_deref());
        words.into_iter().next().unwrap_or_default()
    }

    /// The files that it reads, as far as they are known.
    pub fn files(&self, rules: &CommandRules) -> Vec<String> {
        let of = |path| self.words(std::slice::from_ref(path), self.input.as_deref());
        let stdin = rules.stdin.iter().flat_map(of);
        let mut files: Vec<String> = self.input.iter().cloned().chain(stdin).collect();
        files.dedup();
        files
    }

    /// These words with what they stand for, the input being at that path; `{out}` is left to the
    /// agent.
    pub fn words(&self, template: &[String], input: Option<&str>) -> Vec<String> {
        let fill = |word: &String| {
            let mut word = word.clone();
            if let Some(input) = input {
                word = word.replace("{}", input);
            }
            for (name, value) in &self.values {
                word = word.replace(&format!("{{{name}}}"), value);
            }
            word
        };
        template.iter().map(fill).collect()
    }
}

/// How whole commands are run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandRules {
    /// Commands before and after each run of one, not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclude: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    pub timeout_s: f64,
    #[serde(default)]
    pub ignore_failure: bool,
    /// Hashes of outputs are kept, and must be the same everywhere.
    #[serde(default)]
    pub verify_output: bool,
    /// The input's pages are out of memory before each run.
    #[serde(default)]
    pub cold: bool,
    /// After each run it is waited, and timed, until what it wrote is durable.
    #[serde(default)]
    pub settle: bool,
    /// Exactly so many runs count; otherwise precision and budget decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Runs at the beginning of each launch that do not count, beside the very first.
    #[serde(default)]
    pub warmup: u32,
    /// Shell commands of this side, once before all environments start and after all have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Inputs are sent into the environments.
    #[serde(default)]
    pub stage: bool,
    /// Folder of this side for what the first run of each writes. Nothing that is measured depends
    /// on it.
    #[serde(skip)]
    pub keep_output: Option<PathBuf>,
}

/// The probe of cases that are runs of the user's command, and of those that are runs of a shell
/// with nothing to do.
pub const COMMAND: &str = "command";
pub const EMPTY_SHELL: &str = "shell";

/// The figures of a whole command, in the order in which agents give them; with `settle` there is
/// [`SETTLED`] behind them.
pub const COMMAND_PHASES: &[Phase] = &[
    Phase::timed("wall"),
    Phase::figure("user", Quantity::Time),
    Phase::figure("system", Quantity::Time),
    Phase::figure("memory", Quantity::Bytes),
    Phase::figure("faults", Quantity::Count),
    Phase::figure("switches", Quantity::Count),
    Phase::figure("read", Quantity::Bytes),
    Phase::figure("written", Quantity::Bytes),
    Phase::figure("cpu", Quantity::Time),
];

/// Time from the command's end until what it wrote was durable.
pub const SETTLED: Phase = Phase::figure("settle", Quantity::Time);

impl PlannedCase {
    /// How many of the phases, the first ones, are timed.
    pub fn timed_phases(&self) -> usize {
        self.phases.iter().filter(|phase| phase.timed).count()
    }
}

/// Everything that decides what a run does; with the seed it also decides the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub environments: Vec<EnvSpec>,
    /// Name of the environment the others are divided by.
    pub reference: String,
    pub cases: Vec<PlannedCase>,
    pub dirs: Vec<TargetDir>,
    pub seed: u64,
    /// Half-width of the 95 % interval at which a tax counts as known, as a share (0.02 is 2 %).
    pub precision: f64,
    pub budget_s: f64,
    /// No case is called finished with fewer rounds than this.
    pub min_rounds: u32,
    /// How often each environment is started; zero for as often as the budget allows.
    #[serde(default)]
    pub launches: u32,
    /// Every second start after the first is with empty page caches.
    #[serde(default)]
    pub cold_launches: bool,
    /// How whole commands are run, where the cases are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandRules>,
}

impl Plan {
    /// The target directories as that environment has them.
    pub fn dirs_in(&self, environment: &EnvSpec) -> Vec<TargetDir> {
        let own = |dir: &TargetDir| match environment.dirs.get(&dir.name) {
            Some(path) => TargetDir { path: path.clone(), made: String::new(), ..dir.clone() },
            None => dir.clone(),
        };
        self.dirs.iter().map(own).collect()
    }

    /// Path of the target directory of that name in that environment.
    pub fn dir_path<'a>(&'a self, environment: &'a EnvSpec, name: &str) -> Option<&'a str> {
        let own = environment.dirs.get(name);
        let common = || self.dirs.iter().find(|dir| dir.name == name).map(|dir| &dir.path);
        own.or_else(common).map(String::as_str)
    }

    /// What is run for that case in that environment; `{out}` is left to the agent.
    pub fn command_words(
        &self,
        environment: &EnvSpec,
        case: &CommandCase,
        input: Option<&str>,
    ) -> Vec<String> {
        match &case.workload {
            Some(workload) => {
                workload.words(self.dir_path(environment, DATA_DIR).unwrap_or_default())
            }
            None => case.words(&environment.command, input),
        }
    }
}

/// Whether something can be used here, and if not, why and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    Available,
    Unavailable { reason: String, remedy: String },
}

/// The clock of an environment as the agent found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    pub name: String,
    /// Cost of one reading in ns: median over batches of back-to-back readings.
    pub cost_ns: f64,
    /// Smallest step greater than zero between two readings, in ns.
    pub granularity_ns: u64,
    /// Readings that were earlier than the one before, of [`ClockFacts::readings`].
    pub backward_steps: u64,
    pub readings: u64,
}

/// What an environment says of itself: facts by name, absent where unknown.
pub type Facts = BTreeMap<String, String>;

/// Resources one block used, worker and reaped children together; zero where the environment does
/// not count (gVisor's faults), so only differences between environments are ever read from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// Time runnable but not running, in ns (`/proc/self/schedstat`); none where hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_wait_ns: Option<u64>,
}

impl Usage {
    /// What was used between `before` and `self`.
    pub fn since(&self, before: &Usage) -> Usage {
        let wait = self.run_queue_wait_ns.zip(before.run_queue_wait_ns);
        Usage {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            run_queue_wait_ns: wait.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

/// What a block says beside its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extras {
    /// Conditions that a reader must know, a sentence each, the same in every block they hold for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Events the probe counted, by name; `compare` adds them up over the blocks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Distributions of single operations, by name: pairs of a latency in ns and how often it was
    /// seen, at the resolution of an HdrHistogram of three digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Vec<(u64, u64)>>,
    /// Figures of a command that the environment does not show, by the names of their phases. Zero
    /// in any other of its figures is a fact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Hash of what a command wrote to its standard output, and behind it that of the file at
    /// `{out}` if there is one, where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Largest resident set of the process that started the command, in bytes: the command's own
    /// peak is never below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_bytes: Option<u64>,
}

impl Extras {
    /// Whether there is nothing to say, which is usual.
    pub fn is_empty(&self) -> bool {
        *self == Extras::default()
    }
}

/// What one worker measured in one block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleSet {
    /// Iterations in each sample.
    pub iterations: u64,
    /// Each sample's figure for all of its iterations, one list a phase, all of the same length: ns
    /// where the phase is timed.
    pub samples: Vec<Vec<u64>>,
    /// The environment's clock at the block's start and end, in ns of an arbitrary zero.
    pub start_ns: u64,
    pub end_ns: u64,
    /// The worker ran on the CPU it was told to.
    pub pinned: bool,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// The capabilities that podman gives a container unasked. Docker gives three more, of which only
/// `CAP_AUDIT_WRITE` changes what its seccomp profile says.
pub const CONTAINER_CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_phase_is_written_as_its_name() {
        let phases = [Phase::timed("create"), Phase::figure("memory", Quantity::Bytes)];
        let text = serde_json::to_string(&phases).unwrap();
        assert_eq!(text, r#"["create",{"name":"memory","quantity":"bytes"}]"#);
        assert_eq!(serde_json::from_str::<Vec<Phase>>(&text).unwrap(), phases);
    }

    #[test]
    fn parameters_are_found_by_name() {
        let params = Params::new("size=4KiB cpu=same");
        assert_eq!(params.get("size"), Some("4KiB"));
        assert_eq!(params.get("cpu"), Some("same"));
        assert_eq!(params.get("siz"), None);
        assert_eq!(Params::default().get("size"), None);
    }

    #[test]
    fn a_case_prints_what_it_is() {
        let mut case = Case {
            probe: "file.read".into(),
            params: Params::new("size=4KiB"),
            dir: Some("data".into()),
        };
        assert_eq!(case.to_string(), "file.read size=4KiB dir=data");
        case.dir = None;
        case.params = Params::default();
        assert_eq!(case.to_string(), "file.read");
    }
}
