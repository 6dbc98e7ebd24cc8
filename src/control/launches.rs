//! When the environments of a run are started again: what a start decides (a sandbox's layout, a
//! guest's placement) is the same for all rounds of one launch, so that only several launches show
//! it (METHODOLOGY.md, launches). Pure.

use std::time::Duration;

use crate::model::{LaunchCount, Plan};

/// Starts of each environment unless the user says otherwise.
const USUAL: u32 = 5;
/// Laps of a launch at least, unless the user asks for more launches than rounds.
const LAPS: u32 = 5;
/// Share of the budget that starting again may take, unless the user says how often.
const START_SHARE: f64 = 0.15;

/// Where a run is in its launches.
pub(super) struct Launches {
    /// Number of the present one, from 0.
    pub(super) number: u32,
    /// Laps since it began.
    laps: u32,
    /// What starting all environments once took, the longest time so far.
    each: Duration,
    /// What starting them again took together.
    spent: Duration,
}

impl Launches {
    /// After the first start of all environments, which took so long.
    pub(super) fn new(first: Duration) -> Launches {
        Launches { number: 0, laps: 0, each: first, spent: Duration::ZERO }
    }

    /// A lap is over.
    pub(super) fn lap(&mut self) {
        self.laps += 1;
    }

    /// Whether all environments are to be started again now.
    pub(super) fn due(&self, plan: &Plan) -> bool {
        let left = |wanted: u32| self.number + 1 < wanted;
        match plan.launches {
            LaunchCount::Affordable => {
                // Two launches can disagree, but not tell by how much: three, or one.
                let more = if self.number == 0 { 2 } else { 1 };
                let taken = (self.spent + self.each * more).as_secs_f64();
                let affordable = plan.stop.budget_s().is_none_or(|it| taken <= START_SHARE * it);
                left(USUAL) && self.laps >= LAPS && affordable
            }
            LaunchCount::Exactly(wanted) => {
                let laps = plan.stop.min_rounds() / wanted.max(1);
                left(wanted) && self.laps >= laps.clamp(1, LAPS)
            }
        }
    }

    /// Whether the launches that the user asked for are done.
    pub(super) fn done(&self, plan: &Plan) -> bool {
        match plan.launches {
            LaunchCount::Affordable => true,
            LaunchCount::Exactly(wanted) => self.number + 1 >= wanted,
        }
    }

    /// Whether the next launch is one with empty caches: the second, the fourth and so on.
    pub(super) fn next_is_cold(&self, plan: &Plan) -> bool {
        plan.cold_launches && self.number.is_multiple_of(2)
    }

    /// All were started again, which took so long.
    pub(super) fn again(&mut self, took: Duration) {
        self.number += 1;
        self.laps = 0;
        self.each = self.each.max(took);
        self.spent += took;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EnvSpec, Stop};

    fn plan(budget_s: f64, launches: u32) -> Plan {
        Plan {
            environments: vec![EnvSpec::new("native", "native", "")],
            reference: "native".into(),
            cases: Vec::new(),
            dirs: Vec::new(),
            seed: 1,
            stop: Stop::at_precision(0.02, 15, budget_s),
            launches: match launches {
                0 => LaunchCount::Affordable,
                number => LaunchCount::Exactly(number),
            },
            cold_launches: true,
            commands: None,
        }
    }

    /// Launches within so many laps of a run whose starts take so long.
    fn count(plan: &Plan, start: Duration, laps: u32) -> u32 {
        let mut launches = Launches::new(start);
        for _ in 0..laps {
            if launches.due(plan) {
                launches.again(start);
            }
            launches.lap();
        }
        launches.number + 1
    }

    #[test]
    fn starts_are_few_where_they_are_slow_and_as_many_as_asked_for() {
        let ms = Duration::from_millis;
        assert_eq!(count(&plan(60.0, 0), ms(50), 100), 5);
        assert_eq!(count(&plan(60.0, 0), ms(50), 11), 3, "five laps each");
        assert_eq!(count(&plan(60.0, 0), ms(4000), 100), 3, "9 s of 60 s");
        assert_eq!(count(&plan(60.0, 0), ms(10_000), 100), 1);
        assert_eq!(count(&plan(60.0, 20), ms(10_000), 100), 20);
        assert_eq!(count(&plan(60.0, 1), ms(1), 100), 1);
    }

    #[test]
    fn every_second_launch_is_cold() {
        let plan = plan(60.0, 4);
        let mut launches = Launches::new(Duration::ZERO);
        let mut cold = Vec::new();
        while !launches.done(&plan) {
            cold.push(launches.next_is_cold(&plan));
            launches.again(Duration::ZERO);
        }
        assert_eq!(cold, [true, false, true]);
    }
}
