//! The settings that all sessions of a run share, and the ways in which an agent fails to answer.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use crate::cleanup::guard::Guard;

/// The settings that all sessions of a run share.
pub struct SessionSettings<'a> {
    /// Path of the binary that is started in the environments.
    pub agent: PathBuf,
    /// Longest wait for the greeting or one answer.
    pub answer_limit: Duration,
    /// Returns whether the user asked envtax to stop.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Ends what is left when this process is killed.
    pub guard: &'a Guard,
    /// Marks everything that the run makes.
    pub token: String,
    /// The number of launches so far; it numbers the next one.
    pub launches: Cell<u32>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum AgentError {
    /// The user asked envtax to stop.
    Interrupted,
    /// No answer came in time. The agent was ended.
    TimedOut(anyhow::Error),
    /// The agent can no longer be used; the error says why.
    Dead(anyhow::Error),
}

impl From<anyhow::Error> for AgentError {
    fn from(error: anyhow::Error) -> Self {
        AgentError::Dead(error)
    }
}
