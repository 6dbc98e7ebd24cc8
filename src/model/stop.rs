//! When a run ends, and how often it starts its environments.

/// The rule that ends the measuring of a case, and the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// A case ends when each of its intervals is narrow enough, the run when the budget is spent.
    Precise {
        /// Half-width of the 95 % interval, as a share: 0.02 is 2 %. Above zero.
        half_width: f64,
        /// No case ends with fewer rounds than this.
        min_rounds: u32,
        /// In seconds.
        budget_s: f64,
    },
    /// The run ends when the budget, in seconds, is spent. With fewer rounds than the minimum, a
    /// case counts as known too little.
    Budget { min_rounds: u32, budget_s: f64 },
    /// A case ends after this number of rounds, however wide its intervals are. A budget ends the
    /// run before, if there is one, in seconds.
    Rounds { rounds: u32, budget_s: Option<f64> },
}

/// Run files have numbers in place of rules that do not apply: a precision that every interval has,
/// and a budget in seconds that nobody spends.
const ANY_PRECISION: f64 = 1e9;
const ANY_BUDGET_S: f64 = 1e9;

impl Stop {
    /// Stops at that half-width. At zero, no interval is narrow enough, so the budget decides: an
    /// interval can have no width if a cost is the same to the clock's tick in every round.
    pub fn at_precision(half_width: f64, min_rounds: u32, budget_s: f64) -> Stop {
        match half_width == 0.0 {
            true => Stop::Budget { min_rounds, budget_s },
            false => Stop::Precise { half_width, min_rounds, budget_s },
        }
    }

    /// The seconds after which the run ends in any case.
    pub fn budget_s(&self) -> Option<f64> {
        match *self {
            Stop::Precise { budget_s, .. } | Stop::Budget { budget_s, .. } => Some(budget_s),
            Stop::Rounds { budget_s, .. } => budget_s,
        }
    }

    /// The number of rounds below which the figures of a case are flagged.
    pub fn min_rounds(&self) -> u32 {
        match *self {
            Stop::Precise { min_rounds, .. } | Stop::Budget { min_rounds, .. } => min_rounds,
            Stop::Rounds { rounds, .. } => rounds,
        }
    }

    /// The number of rounds, if it was given.
    pub fn rounds(&self) -> Option<u32> {
        match *self {
            Stop::Rounds { rounds, .. } => Some(rounds),
            Stop::Precise { .. } | Stop::Budget { .. } => None,
        }
    }

    pub(super) fn from_record(
        precision: f64,
        budget_s: f64,
        min_rounds: u32,
        runs: Option<u32>,
    ) -> Stop {
        match runs {
            Some(rounds) => {
                let budget_s = (budget_s < ANY_BUDGET_S).then_some(budget_s);
                Stop::Rounds { rounds, budget_s }
            }
            None => Stop::at_precision(precision, min_rounds, budget_s),
        }
    }

    /// Precision and budget as they are written in run files.
    pub(super) fn recorded(&self) -> (f64, f64) {
        match *self {
            Stop::Precise { half_width, budget_s, .. } => (half_width, budget_s),
            Stop::Budget { budget_s, .. } => (0.0, budget_s),
            Stop::Rounds { budget_s, .. } => (ANY_PRECISION, budget_s.unwrap_or(ANY_BUDGET_S)),
        }
    }
}

/// How often each environment is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchCount {
    /// As often as the budget allows.
    Affordable,
    Exactly(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_survives_being_written_down() {
        for stop in [
            Stop::Precise { half_width: 0.02, min_rounds: 15, budget_s: 60.0 },
            Stop::Budget { min_rounds: 15, budget_s: 60.0 },
            Stop::Rounds { rounds: 3, budget_s: None },
            Stop::Rounds { rounds: 3, budget_s: Some(5.0) },
        ] {
            let (precision, budget_s) = stop.recorded();
            let read = Stop::from_record(precision, budget_s, stop.min_rounds(), stop.rounds());
            assert_eq!(read, stop);
        }
    }
}
