//! A remark: a sentence about an environment, a file or the whole comparison, shown below the rows.

use serde::Serialize;

use super::sides::Session;
use crate::model::Details;
use crate::words::{Message, Value};

/// What a reader must know beside the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remark {
    pub kind: RemarkKind,
    /// Label of the column that it is on; none when it is on a whole file or on all of them.
    pub column: Option<String>,
    /// For people.
    #[cfg_attr(test, schemars(with = "String"))]
    pub text: Message,
    /// Where it is about a failure, what else is known of that.
    #[serde(flatten)]
    pub details: Details,
}

/// What a remark is about, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// Probes of the CPU itself differ between environments.
    Control,
    /// Writes that were reported as durable were not.
    NotDurable,
    /// A condition of the measuring that the probe reported.
    Condition,
    /// The environment was never started, and has no figures.
    NotStarted,
    /// The environment's clock is faster or slower than the controller's.
    ClockRate,
    /// Blocks took longer by the environment's clock than from outside.
    ClockJump,
    /// The environment's clock went backwards.
    ClockBackward,
    /// A program of the same name is another one than the reference's.
    OtherProgram,
    /// Another command was run, or in another way.
    OtherCommand,
    /// A command's runs became steadily faster or slower.
    Drift,
    /// Facts of the environment differ from those of the reference.
    FactsDiffer,
    /// The end of the file is missing: the last line, or the record of the run's end.
    CutOff,
    /// The user ended the run.
    Interrupted,
    /// The hypervisor gave CPU time to others.
    Steal,
    /// Cases have fewer rounds than the plan asks for, or none.
    FewRounds,
    /// The columns were not measured in the same rounds.
    Sessions,
    /// The file has results of another program, which lack what run files have.
    Imported,
    /// CPU time is counted in whole ticks.
    Ticks,
    /// A command kept several CPUs busy.
    SeveralCpus,
    /// A command was run once only.
    SingleRuns,
    /// Rows were measured in one start of the environments only.
    OneLaunch,
    /// Two figures of the memory of a process disagree.
    MemoryCheck,
    /// What else wanted a CPU while the file was measured.
    Load,
    /// What runs there waits for another process, so that the mean cost is what users pay.
    MeanIsPaid,
}

impl Remark {
    pub(super) fn on_column(kind: RemarkKind, column: &str, text: Message) -> Remark {
        Remark { kind, column: Some(column.to_owned()), text, details: Details::default() }
    }

    pub(super) fn on_all(kind: RemarkKind, text: Message) -> Remark {
        Remark { kind, column: None, text, details: Details::default() }
    }
}

/// What is said of the thing with that name, with the name before it.
pub(super) fn named(name: impl Into<Value>, text: Message) -> Message {
    Message::new("named").with("name", name).with("text", text)
}

/// The same of the session's file, where there are several.
pub(super) fn in_file(session: &Session<'_>, text: Message) -> Message {
    match session.file {
        Some(file) => named(file, text),
        None => text,
    }
}

/// The message of that name where the condition holds, and nothing where it does not.
pub(super) fn when(condition: bool, id: &'static str) -> Message {
    Message::new(if condition { id } else { "nothing" })
}

/// Whose run it was, where there are several files.
pub(super) fn of_file(session: &Session<'_>) -> Message {
    match session.file {
        Some(file) => Message::new("of-file").with("file", file),
        None => Message::new("nothing"),
    }
}
