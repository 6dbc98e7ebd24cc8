//! A failure in parts: what happened, what was printed, the command to try by hand, and the remedy.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::visible::visible_line;

/// Why something did not work or cannot be measured.
///
/// Only `src/cmd/` and `src/report/` put the parts together as text. As an error it displays what
/// happened, so that a context can be put in front of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    /// What happened, as one sentence.
    #[serde(rename = "reason")]
    pub what: String,
    #[serde(flatten)]
    pub details: Details,
}

/// What is known of a failure in addition to the sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Details {
    /// The last lines that the program printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// The command with which a user can see the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<String>,
    /// What the user can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The failures of later attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_attempts: Vec<Failure>,
}

impl Failure {
    /// A failure with the sentence alone.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), details: Details::default() }
    }

    /// Adds the lines that the program printed, without characters on which a terminal would act.
    pub fn printed(mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> Failure {
        let shown = |line: String| visible_line(&line).into_owned();
        self.details.printed = lines.into_iter().map(|line| shown(line.into())).collect();
        self
    }

    /// Adds the command with which a user can see the failure.
    pub fn by_hand(mut self, command: impl Into<String>) -> Failure {
        self.details.by_hand = Some(command.into());
        self
    }

    /// Adds a remedy, unless there is one.
    pub fn or_remedy(mut self, remedy: impl Into<String>) -> Failure {
        self.details.remedy.get_or_insert_with(|| remedy.into());
        self
    }

    /// Puts a context before the sentence.
    pub fn within(mut self, context: impl fmt::Display) -> Failure {
        self.what = format!("{context}: {}", self.what);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.what)
    }
}

impl Error for Failure {}

impl From<String> for Failure {
    fn from(what: String) -> Failure {
        Failure::new(what)
    }
}

impl From<&str> for Failure {
    fn from(what: &str) -> Failure {
        Failure::new(what)
    }
}

/// The error as text, with the details of the failure from which it comes, if it comes from one.
impl From<&anyhow::Error> for Failure {
    fn from(error: &anyhow::Error) -> Failure {
        let details = error.downcast_ref::<Failure>().map(|failure| failure.details.clone());
        Failure { what: format!("{error:#}"), details: details.unwrap_or_default() }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::from(&error)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn an_error_keeps_the_details_behind_its_contexts() {
        let failure = Failure::new("it ended").printed(["no disk"]).or_remedy("buy one");
        let error = Err::<(), _>(failure.clone()).context("copying").context("a run").unwrap_err();
        let back = Failure::from(error);
        assert_eq!(back.what, "a run: copying: it ended");
        assert_eq!(back.details, failure.details);
        assert_eq!(Failure::from(anyhow::anyhow!("x").context("y")), Failure::new("y: x"));
    }

    #[test]
    fn what_was_printed_has_no_effect_on_a_terminal() {
        let failure = Failure::new("a").printed(["\u{1b}[2J"]);
        assert_eq!(failure.details.printed, ["\\u{1b}[2J"]);
    }

    #[test]
    fn the_first_remedy_stays() {
        let failure = Failure::new("a").or_remedy("first").or_remedy("second");
        assert_eq!(failure.details.remedy.as_deref(), Some("first"));
    }
}
