//! The verbs of the command line: one file each, with what several of them share, and the prose of
//! help and manual in `text/`. May use every folder; only these files print. Must not measure,
//! compare or format anything themselves; nothing depends on this folder.

pub mod agent;
pub mod busy;
pub mod compare;
pub mod completions;
pub mod doctor;
mod flags;
pub mod list;
mod machine;
pub mod man;
mod measure;
pub mod redact;
mod repeat;
pub mod run;
mod selection;
mod show;
mod start_check;
pub mod time;
