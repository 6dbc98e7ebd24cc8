//! The figures of a case: their names and quantities.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The quantity of a figure, with its unit in run files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Nanoseconds.
    #[default]
    Time,
    /// Bytes.
    Bytes,
    /// Millionths of a whole.
    Share,
    /// Events.
    Count,
}

/// A part of what a probe measures, with its own figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "PhaseRecord", into = "PhaseRecord")]
pub struct Phase {
    /// Empty if it is the only phase.
    pub name: Cow<'static, str>,
    pub quantity: Quantity,
    /// Taken from the clock around the operation. Otherwise the probe gives the figure, and zero
    /// means that the environment does not show it.
    pub timed: bool,
}

impl Phase {
    /// A part of the operation that is timed separately.
    pub const fn timed(name: &'static str) -> Phase {
        Phase { name: Cow::Borrowed(name), quantity: Quantity::Time, timed: true }
    }

    /// Whether its cost is the mean of its samples. Times from the clock have a floor, and so has
    /// memory. Figures that a probe counts or times itself (a share of time blocked, the worst
    /// response, CPU time) have none.
    pub fn is_mean(&self) -> bool {
        !self.timed && self.quantity != Quantity::Bytes
    }

    /// A figure that the probe finds itself.
    pub const fn figure(name: &'static str, quantity: Quantity) -> Phase {
        Phase { name: Cow::Borrowed(name), quantity, timed: false }
    }
}

/// A timed phase is its name alone: the first run files had no others.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum PhaseRecord {
    Timed(String),
    Figure { name: String, quantity: Quantity },
}

impl From<PhaseRecord> for Phase {
    fn from(record: PhaseRecord) -> Phase {
        match record {
            PhaseRecord::Timed(name) => {
                Phase { name: name.into(), quantity: Quantity::Time, timed: true }
            }
            PhaseRecord::Figure { name, quantity } => {
                Phase { name: name.into(), quantity, timed: false }
            }
        }
    }
}

impl From<Phase> for PhaseRecord {
    fn from(phase: Phase) -> PhaseRecord {
        let name = phase.name.into_owned();
        match phase.timed {
            true => PhaseRecord::Timed(name),
            false => PhaseRecord::Figure { name, quantity: phase.quantity },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_phase_is_written_as_its_name() {
        let phases = [Phase::timed("create"), Phase::figure("memory", Quantity::Bytes)];
        let text = serde_json::to_string(&phases).unwrap();
        assert_eq!(text, r#"["create",{"name":"memory","quantity":"bytes"}]"#);
        assert_eq!(serde_json::from_str::<Vec<Phase>>(&text).unwrap(), phases);
    }
}
