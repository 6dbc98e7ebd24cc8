//! The words that a tax can get. `decide.rs` says which one it gets.

use serde::Serialize;

/// What a tax comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Slower,
    Faster,
    /// Within the margin, by two one-sided tests.
    Same,
    /// Neither a difference nor its absence is shown; about so many more rounds may show one.
    Inconclusive {
        more_rounds: Option<u64>,
    },
    /// Too few sessions, or rounds, for any verdict.
    Descriptive,
}
