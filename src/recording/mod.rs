//! Recordings: what a program asked of its system, as `envtax record` writes it and `envtax
//! explain` re-enacts it (docs/RECORDING.md), and the instructions that are made of one.
//!
//! May use `model`. Must not start processes or touch the files that a recording names.

pub mod about;
mod call;
pub mod catalogue;
mod check;
pub mod format;
pub mod groups;
pub mod report;
pub mod script;

use serde::{Deserialize, Serialize};

pub use about::{About, Costs};
pub use call::{ATTRIBUTES, Call, Class, Kind, NO_PATH};
pub use check::{SYSTEM_FILES, check};
pub use format::{read, write};

/// Version of the format.
pub const FORMAT: u32 = 1;

/// A recording as it is in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub about: About,
    /// The components of all paths, each once.
    pub names: Vec<String>,
    /// Paths as the program gave them.
    pub paths: Vec<PathText>,
    /// Files as they were before the program ran.
    pub files: Vec<FileState>,
    /// Processes and threads; the first one is the program itself.
    pub streams: Vec<Stream>,
}

/// A path by its components, which are indices into [`Recording::names`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathText {
    /// Where it begins.
    pub base: Base,
    pub parts: Vec<u32>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// At the root folder.
    #[default]
    Root,
    /// At the working directory, or at the folder whose descriptor the call names.
    Relative,
    /// In the folder of its own that each run has: a temporary file that the program makes.
    Own,
    /// A file of the system by its whole name, which is one of a fixed list.
    System,
}

/// What there was at an absolute path before the program ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileState {
    /// Index into [`Recording::paths`].
    pub path: u32,
    #[serde(flatten)]
    pub kind: FileKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Folder,
    /// Size in bytes, and whether the program read it: then its stand-in has data and no holes.
    File(u64, bool),
    /// The path that the link has.
    Link(u32),
}

/// The life of one process or thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Name of the program that it ends as, empty where names are replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Each event after the time in ns in which the program computed before it.
    pub events: Vec<(u64, Event)>,
}

/// One thing that a process did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Call(Call),
    /// A child, by its stream; whether the parent waits until it executes another program.
    Fork(u32, bool),
    /// A thread, by its stream.
    Thread(u32),
    /// Another program, by its path.
    Exec(u32),
    /// Waits until the child of that stream has ended.
    Wait(u32),
    /// Waits until the thread of that stream has ended.
    Join(u32),
    /// Pages that were touched for the first time since the last of these events.
    Pages(Pages),
    /// A wait of that many ns that nothing else ends.
    Sleep(u64),
    /// Status of its end.
    Exit(i32),
}

/// First touches of pages, by what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Pages of new memory.
    pub fresh: u32,
    /// Stretches of mapped files; the kernel maps the pages around a touched one with it.
    pub file: u32,
    /// Pages shared with the parent or a child until they are written.
    pub copied: u32,
}
