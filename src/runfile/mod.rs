//! The run file: JSON Lines, one record a line, appended and flushed record by record, so that a
//! killed run loses at most the block in flight. May use `model`. Must not compute: it keeps raw
//! samples.
//!
//! `docs/RUN-FILE.md` describes the format for other programs.

mod limits;
mod old_failure;
pub mod reader;
mod redact;
mod writer;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{ClockFacts, Details, Facts, Failure, Plan, SampleSet};

pub use limits::check_environment;
pub use reader::{check, contents, read};
pub use redact::Redactor;
pub use writer::Writer;

/// Version of the format. Readers take this one and every earlier one.
pub const FORMAT: u32 = 1;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Header(Header),
    Environment(Environment),
    Launch(Launch),
    Tuned(Tuned),
    Inspected(Inspected),
    Block(Block),
    Host(Host),
    Outcome(Outcome),
    End(End),
}

/// The first record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Header {
    pub format: u32,
    pub envtax: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Facts of the machine that the controller ran on.
    pub host: Facts,
    pub plan: Plan,
}

/// An environment that was started, or the reason why it was not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Environment {
    pub name: String,
    /// Why it did not start, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What else is known of that.
    #[serde(flatten)]
    pub details: Details,
    #[serde(default)]
    pub facts: Facts,
    #[serde(default)]
    pub clock: ClockFacts,
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// From starting the command until the agent's greeting, in ms.
    #[serde(default)]
    pub started_in_ms: f64,
    /// Facts of each target directory as seen there, by its name.
    #[serde(default)]
    pub dirs: BTreeMap<String, Facts>,
}

/// One start of an environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    pub env: String,
    /// Which of the starts it is, from 0; all environments are started as often. Blocks name it.
    pub launch: u32,
    /// Page caches were emptied before.
    #[serde(default)]
    pub cold: bool,
    /// From starting the command until the agent's greeting, in ms.
    pub started_in_ms: f64,
    /// What the environment's processes on this side had used and held at the greeting: the
    /// launcher, its helpers and the agent. Absent where they are not seen.
    #[serde(flatten)]
    pub outside: Outside,
}

/// What the processes of an environment take on the controller's side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outside {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// Sum of their proportional set sizes, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}

/// The sample size that suits a case in an environment. What was used is in the blocks: where it
/// is near the reference's, that is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tuned {
    pub env: String,
    /// Index into the plan's cases, here and in the other records.
    pub case: usize,
    pub iterations: u64,
    pub each_ns: f64,
}

/// What the commands of an environment are made of, as found there after their first runs, which
/// would not be the first to read it otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Inspected {
    pub env: String,
    /// Path, size, hash and headers of each program, by its name in the command.
    #[serde(default)]
    pub programs: BTreeMap<String, Facts>,
    /// Size and hash of each input, by its path.
    #[serde(default)]
    pub files: BTreeMap<String, Facts>,
}

/// One block as its worker measured it, and as the controller saw it from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    pub env: String,
    pub case: usize,
    /// Round of this case; round 0 is a warm-up and counts for nothing.
    pub round: u32,
    /// Place of the environment in the round, from 0.
    pub place: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// The controller's clock when it asked, in ns since the run began.
    pub asked_ns: u64,
    /// From asking until the answer was here, in ns, by the controller's clock.
    pub outer_ns: u64,
    /// Tasks of the machine that ran or waited for a CPU when it asked, without the controller's.
    /// Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<u32>,
    /// Of which [`Launch`] of the environment it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launch: u32,
    /// CPU time that the environment's processes took on the controller's side meanwhile, in ns, to
    /// the clock tick. Absent where they are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_cpu_ns: Option<u64>,
    #[serde(flatten)]
    pub set: SampleSet,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The machine between two laps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Host {
    pub at_ns: u64,
    /// CPU time taken by the hypervisor, by all that ran (the hypervisor included), and in all with
    /// the idle time, in clock ticks since boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ticks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ticks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ticks: Option<u64>,
    /// The system's own average of the load over a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_1min: Option<f64>,
}

/// A case that was not measured in an environment, or not to the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    pub env: String,
    pub case: usize,
    pub state: OutcomeState,
    #[serde(flatten)]
    pub why: Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// It cannot be measured there.
    Skipped,
    /// It was tried and went wrong.
    Failed,
}

/// The last record; a run that was killed has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct End {
    pub reason: EndReason,
    pub elapsed_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Precision,
    Budget,
    Interrupted,
}

/// A run file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFile {
    pub header: Header,
    pub environments: Vec<Environment>,
    pub launches: Vec<Launch>,
    pub inspected: Vec<Inspected>,
    pub blocks: Vec<Block>,
    pub hosts: Vec<Host>,
    pub outcomes: Vec<Outcome>,
    pub end: Option<End>,
    /// What a reader should know of the file's state: cut off, or without an end.
    pub remarks: Vec<String>,
    /// Results of another program, of which nothing was measured in turn; a remark says what they
    /// lack.
    pub imported: bool,
}

#[cfg(test)]
mod tests {
    use super::Record;

    /// `UPDATE=1 cargo test` writes the schema anew.
    #[test]
    fn the_schema_is_what_the_types_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/run-file.schema.json");
        let schema = schemars::schema_for!(Record);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == text, "{path} is old: run `UPDATE=1 cargo test`");
    }
}
