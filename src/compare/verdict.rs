//! The verdicts that a tax can get. `decide.rs` gives them.

use serde::Serialize;

/// What a tax comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Slower,
    Faster,
    /// Within the margin, by two one-sided tests.
    Same,
    /// Neither a difference nor its absence is shown.
    Inconclusive {
        /// Rounds more that may show one, and how long they take together in all environments of
        /// the run, in seconds; none where rounds do not help or none know how many would.
        more_rounds: Option<u64>,
        more_s: Option<f64>,
        why: Open,
    },
    /// Too few sessions, or rounds, for any verdict.
    Descriptive,
}

/// Why a tax is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Open {
    /// The interval is too wide.
    Width,
    /// The interval excludes 1, but with this number of rows some intervals do by chance.
    ManyRows,
    /// The interval is narrower than the margin, and the estimate so near to it that no reasonable
    /// number of rounds would tell.
    NearMargin,
    /// The rounds' levels are not all on one side of the margin.
    Levels,
    /// The difference is less than a few ticks of CPU time.
    Ticks,
    /// There were too few starts of the environment to know what a start decides.
    FewLaunches,
}
