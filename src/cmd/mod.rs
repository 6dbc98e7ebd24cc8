//! One file a verb. Here the layers are put together; nothing depends on this folder.

pub mod agent;
pub mod busy;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod list;
mod machine;
pub mod man;
mod measure;
pub mod redact;
pub mod run;
mod selection;
mod show;
mod start_check;
pub mod time;
