//! Whole commands: what is run, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::phase::{Phase, Quantity};

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
    pub(super) fn words(&self, data: &str) -> Vec<String> {
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
