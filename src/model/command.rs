//! Whole commands: their words, their inputs, and the rules of their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::phase::{Phase, Quantity};

/// The command of one case, with its input and values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "CommandCaseRecord", into = "CommandCaseRecord")]
pub struct CommandCase {
    /// The file that replaces `{}`.
    pub input: Option<String>,
    /// The texts that replace `{NAME}`.
    pub values: BTreeMap<String, String>,
    pub executed: Executed,
}

/// Which command a case runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Executed {
    /// The command of the environment's column.
    #[default]
    OfColumn,
    /// Program and arguments, the same in all columns: an empty shell.
    Words(Vec<String>),
    /// A command of envtax's own.
    Workload(WorkloadCase),
}

/// [`CommandCase`] as it is written in run files.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CommandCaseRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    own: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workload: Option<WorkloadCase>,
}

impl From<CommandCaseRecord> for CommandCase {
    fn from(record: CommandCaseRecord) -> CommandCase {
        let executed = match (record.workload, record.own) {
            (_, own) if !own.is_empty() => Executed::Words(own),
            (Some(workload), _) => Executed::Workload(workload),
            (None, _) => Executed::OfColumn,
        };
        CommandCase { input: record.input, values: record.values, executed }
    }
}

impl From<CommandCase> for CommandCaseRecord {
    fn from(case: CommandCase) -> CommandCaseRecord {
        let (own, workload) = match case.executed {
            Executed::OfColumn => (Vec::new(), None),
            Executed::Words(words) => (words, None),
            Executed::Workload(workload) => (Vec::new(), Some(workload)),
        };
        CommandCaseRecord { input: case.input, values: case.values, own, workload }
    }
}

/// A command of envtax's own, with data that is made for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkloadCase {
    pub name: String,
    /// Its words; `{data}` is its folder in the target directory [`Self::dir`].
    pub command: Vec<String>,
    /// Programs that an environment must have; otherwise the row is skipped there.
    pub needs: Vec<String>,
    /// Name of the target directory of its data, if it is not [`DATA_DIR`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

/// Name of the workload that re-enacts a recording; where there are several, their names begin with
/// it.
pub const REENACTMENT: &str = "reenactment";

/// Name of the target directory with the data of workloads.
pub const DATA_DIR: &str = "data";

impl WorkloadCase {
    /// Whether it works on data.
    pub fn has_data(&self) -> bool {
        self.command.iter().any(|word| word.contains("{data}"))
    }

    /// Name of the target directory of its data.
    pub fn dir(&self) -> &str {
        self.elsewhere.as_deref().unwrap_or(DATA_DIR)
    }

    /// Whether it re-enacts a recording, and writes a report.
    pub fn is_reenactment(&self) -> bool {
        self.name.starts_with(REENACTMENT)
    }

    /// The command, if the target directory [`Self::dir`] has that path.
    pub(super) fn words(&self, data: &str) -> Vec<String> {
        self.filled(&self.command, data)
    }

    /// These words, if the target directory [`Self::dir`] has that path.
    pub fn filled(&self, words: &[String], data: &str) -> Vec<String> {
        let folder = format!("{data}/{}", self.name);
        words.iter().map(|word| word.replace("{data}", &folder)).collect()
    }
}

impl CommandCase {
    /// The words of the command before anything is filled in, in a column with that command.
    pub fn template<'a>(&'a self, of_column: &'a [String]) -> &'a [String] {
        match &self.executed {
            Executed::OfColumn => of_column,
            Executed::Words(words) => words,
            Executed::Workload(workload) => &workload.command,
        }
    }

    /// The workload, if the case is one.
    pub fn workload(&self) -> Option<&WorkloadCase> {
        match &self.executed {
            Executed::Workload(workload) => Some(workload),
            Executed::OfColumn | Executed::Words(_) => None,
        }
    }

    /// The program that is started, in a column with that command.
    pub fn program(&self, of_column: &[String]) -> String {
        let words = self.words(self.template(of_column), self.input.as_deref());
        words.into_iter().next().unwrap_or_default()
    }

    /// The known files that it reads.
    pub fn files(&self, rules: &CommandRules) -> Vec<String> {
        let of = |path| self.words(std::slice::from_ref(path), self.input.as_deref());
        let stdin = rules.stdin.iter().flat_map(of);
        let mut files: Vec<String> = self.input.iter().cloned().chain(stdin).collect();
        files.dedup();
        files
    }

    /// The words with all replacements; the input is at that path. The agent replaces `{out}`.
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandRules {
    /// Commands that are run before and after each run, not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclude: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    pub timeout_s: f64,
    #[serde(default)]
    pub ignore_failure: bool,
    /// Outputs are hashed, and the hashes must agree everywhere.
    #[serde(default)]
    pub verify_output: bool,
    /// The input's pages are evicted from memory before each run.
    #[serde(default)]
    pub cold: bool,
    /// After each run, the time until its output is durable is measured.
    #[serde(default)]
    pub settle: bool,
    /// Number of runs at the beginning of each launch, after the very first, that do not count.
    #[serde(default)]
    pub warmup: u32,
    /// Shell commands on this machine: once before all environments start, and once after all have
    /// ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Inputs are sent into the environments.
    #[serde(default)]
    pub stage: bool,
    /// Folder on this machine for the output of each command's first run. No figure depends on it.
    #[serde(skip)]
    pub keep_output: Option<PathBuf>,
}

/// The probe id of cases that run the user's command, and of cases that run an empty shell.
pub const COMMAND: &str = "command";
pub const EMPTY_SHELL: &str = "shell";

/// A figure of a whole command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandPhase {
    Wall,
    User,
    System,
    Memory,
    Faults,
    Switches,
    Read,
    Written,
    /// User and system time together.
    Cpu,
    /// Time from the command's end until its output is durable.
    Settle,
}

impl CommandPhase {
    /// The figures in the order in which agents send them. `Settle` is the last one, and only sent
    /// if it is asked for.
    pub const ALL: [CommandPhase; 10] = [
        CommandPhase::Wall,
        CommandPhase::User,
        CommandPhase::System,
        CommandPhase::Memory,
        CommandPhase::Faults,
        CommandPhase::Switches,
        CommandPhase::Read,
        CommandPhase::Written,
        CommandPhase::Cpu,
        CommandPhase::Settle,
    ];

    /// Its name in run files and tables, and its quantity.
    const fn named(self) -> (&'static str, Quantity) {
        match self {
            CommandPhase::Wall => ("wall", Quantity::Time),
            CommandPhase::User => ("user", Quantity::Time),
            CommandPhase::System => ("system", Quantity::Time),
            CommandPhase::Memory => ("memory", Quantity::Bytes),
            CommandPhase::Faults => ("faults", Quantity::Count),
            CommandPhase::Switches => ("switches", Quantity::Count),
            CommandPhase::Read => ("read", Quantity::Bytes),
            CommandPhase::Written => ("written", Quantity::Bytes),
            CommandPhase::Cpu => ("cpu", Quantity::Time),
            CommandPhase::Settle => ("settle", Quantity::Time),
        }
    }

    pub const fn name(self) -> &'static str {
        self.named().0
    }

    pub const fn phase(self) -> Phase {
        let (name, quantity) = self.named();
        match self {
            CommandPhase::Wall => Phase::timed(name),
            _ => Phase::figure(name, quantity),
        }
    }

    /// The phases of a planned command.
    pub fn phases(settle: bool) -> Vec<Phase> {
        let wanted = |it: &CommandPhase| settle || *it != CommandPhase::Settle;
        CommandPhase::ALL.into_iter().filter(wanted).map(CommandPhase::phase).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_case_executes_is_written_as_before() {
        let shell = r#"{"own":["sh","-c",":"]}"#;
        let workload = r#"{"workload":{"name":"gzip","command":["gzip"],"needs":["gzip"]}}"#;
        for text in ["{}", shell, workload, r#"{"input":"a","values":{"n":"1"}}"#] {
            let case: CommandCase = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&case).unwrap(), text);
        }
        let case: CommandCase = serde_json::from_str(shell).unwrap();
        assert_eq!(case.program(&["ls".to_owned()]), "sh");
        assert_eq!(CommandCase::default().program(&["ls".to_owned()]), "ls");
    }

    #[test]
    fn only_who_asks_has_the_time_until_writes_are_durable() {
        assert_eq!(CommandPhase::phases(false).len() + 1, CommandPhase::phases(true).len());
        assert_eq!(CommandPhase::phases(true).last().unwrap().name, "settle");
        assert_eq!(CommandPhase::phases(true).iter().filter(|phase| phase.timed).count(), 1);
    }
}
