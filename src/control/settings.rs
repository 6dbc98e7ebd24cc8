//! The settings that all sessions of a run share, and the ways in which an agent fails to answer.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use crate::cleanup::guard::Guard;

/// What every session of a run has in common.
pub struct SessionSettings<'a> {
    /// Path of the binary that is started inside.
    pub agent: PathBuf,
    /// Longest wait for the greeting or one answer.
    pub answer_limit: Duration,
    /// Says whether the user asked to stop.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Ends what is left when this process is killed.
    pub guard: &'a Guard,
    /// Marks everything that is left behind until it is removed.
    pub token: String,
    /// How many launches there were: each has a number of its own.
    pub launches: Cell<u32>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum AgentError {
    /// The user asked to stop.
    Interrupted,
    /// Nothing came in time. The agent was ended.
    TimedOut(anyhow::Error),
    /// The agent is of no more use; the text says why.
    Dead(anyhow::Error),
}

impl From<anyhow::Error> for AgentError {
    fn from(error: anyhow::Error) -> Self {
        AgentError::Dead(error)
    }
}
