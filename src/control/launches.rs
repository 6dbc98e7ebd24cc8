//! Decides when the environments of a run are started again, and when intervals are looked at. What
//! a start decides (a sandbox's memory layout, a guest's placement) is the same for all rounds of
//! one launch, so the launch is the unit of replication (docs/METHODOLOGY.md, Launches). Pure.

use std::time::Duration;

use crate::model::{LaunchCount, Plan};

/// Counted rounds of a case in one launch, if starting costs little.
pub(super) const ROUNDS: u32 = 4;
/// Launches that a run needs before a case counts as known, if the budget allows them.
const ENOUGH: u32 = 5;
/// Fewer launches than this cannot tell how much launches differ; then a run has one only.
const FEWEST: u32 = 3;
/// Share of the budget that starts may take, unless the user says how often to start.
const START_SHARE: f64 = 0.15;

/// The state of a run's launches. A time `now` is the time since the first round began; the budget
/// counts from there.
pub(super) struct Launches {
    /// Number of the present launch, from 0.
    pub(super) number: u32,
    /// Laps at the launch's beginning that do not count.
    warm_ups: u32,
    /// Laps since the launch began.
    laps: u32,
    /// Laps that the launch before had.
    laps_before: u32,
    /// When the launch began.
    began: Duration,
    /// How long the first launch took for its least number of laps. None before it had them.
    shortest: Option<Duration>,
    /// How long one start of all environments takes: of the first start, and later the mean of the
    /// others.
    each: Duration,
    /// How long all starts after the first took together.
    spent: Duration,
}

impl Launches {
    /// The state after the first start of all environments, which took `first`.
    pub(super) fn new(first: Duration, plan: &Plan) -> Launches {
        Launches {
            number: 0,
            warm_ups: 1 + plan.commands.as_ref().map_or(0, |rules| rules.warmup),
            laps: 0,
            laps_before: 0,
            began: Duration::ZERO,
            shortest: None,
            each: first,
            spent: Duration::ZERO,
        }
    }

    /// Counts a finished lap.
    pub(super) fn lap(&mut self, now: Duration) {
        self.laps += 1;
        if self.number == 0 && self.counted() == ROUNDS {
            self.shortest = Some(now);
        }
    }

    /// Whether to start all environments again now. Each launch has at least [`ROUNDS`] counted
    /// rounds. There are as many launches as fit into the budget, and they are equally long.
    pub(super) fn due(&self, plan: &Plan, now: Duration) -> bool {
        let left = self.restarts_left(plan);
        let wanted = match plan.launches {
            LaunchCount::Affordable => ROUNDS,
            LaunchCount::Exactly(number) => {
                let each = plan.stop.min_rounds().div_ceil(number.max(1)).max(1);
                // Without a budget, the number of rounds alone says when a launch had its part.
                plan.stop.budget_s().map_or(each, |_| each.min(ROUNDS))
            }
        };
        let part = plan.stop.budget_s().map_or(0.0, |budget| {
            let starts = f64::from(left) * self.each.as_secs_f64();
            (budget - self.began.as_secs_f64() - starts).max(0.0) / (f64::from(left) + 1.0)
        });
        left > 0 && self.counted() >= wanted && (now - self.began).as_secs_f64() >= part
    }

    /// Whether to look at the intervals now: at the end of a launch, and in the last launch each
    /// time it has got as many laps as the one before.
    pub(super) fn look_due(&self, plan: &Plan, now: Duration) -> bool {
        let every = self.laps_before.saturating_sub(self.warm_ups).max(ROUNDS);
        let counted = self.counted();
        let last = self.restarts_left(plan) == 0 && counted > 0 && counted.is_multiple_of(every);
        last || self.due(plan, now)
    }

    /// Whether there were enough launches for a case to count as known.
    pub(super) fn enough(&self, plan: &Plan) -> bool {
        let last = self.restarts_left(plan) == 0;
        match plan.launches {
            LaunchCount::Affordable => last || self.number + 1 >= ENOUGH,
            LaunchCount::Exactly(_) => last,
        }
    }

    /// Whether the next launch is one with empty caches: every second launch is.
    pub(super) fn next_is_cold(&self, plan: &Plan) -> bool {
        plan.cold_launches && self.number.is_multiple_of(2)
    }

    /// All environments were started again, which took `took`.
    pub(super) fn again(&mut self, took: Duration, now: Duration) {
        self.number += 1;
        self.laps_before = self.laps;
        self.laps = 0;
        self.began = now;
        self.spent += took;
        self.each = self.spent / self.number;
    }

    /// Laps of the present launch that count.
    fn counted(&self) -> u32 {
        self.laps.saturating_sub(self.warm_ups)
    }

    /// How often to start all environments again from now on.
    fn restarts_left(&self, plan: &Plan) -> u32 {
        match (plan.launches, plan.stop.budget_s()) {
            (LaunchCount::Exactly(number), _) => number.saturating_sub(self.number + 1),
            (LaunchCount::Affordable, None) => u32::MAX,
            (LaunchCount::Affordable, Some(budget)) => {
                let room = START_SHARE * budget - self.spent.as_secs_f64();
                // The conversion turns a negative number into zero.
                let left = (room / self.each.as_secs_f64().max(1e-9)) as u32;
                let fewest = f64::from(FEWEST);
                let slow = self.shortest.is_some_and(|it| it.as_secs_f64() * fewest > budget);
                match self.number {
                    0 if left + 1 < FEWEST || slow => 0,
                    // The starts took longer than expected. Two launches cannot tell how much
                    // launches differ, so there is a third.
                    1 => left.max(FEWEST - 2),
                    _ => left,
                }
            }
        }
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
            named: Default::default(),
            dirs: Vec::new(),
            seed: 1,
            stop: Stop::at_precision(0.02, 15, budget_s),
            launches: match launches {
                0 => LaunchCount::Affordable,
                number => LaunchCount::Exactly(number),
            },
            cold_launches: true,
            fixed_order: false,
            load: 0,
            commands: None,
        }
    }

    /// In a run that uses its budget, with starts and laps of these lengths: the counted laps of
    /// each launch, and the numbers of the launches in which intervals were looked at.
    fn laps(plan: &Plan, start_ms: u64, lap_ms: u64) -> (Vec<u32>, Vec<u32>) {
        let [start, lap] = [start_ms, lap_ms].map(Duration::from_millis);
        let budget = Duration::from_secs_f64(plan.stop.budget_s().unwrap());
        let mut launches = Launches::new(start, plan);
        let (mut now, mut all, mut looks) = (Duration::ZERO, Vec::new(), Vec::new());
        while now < budget {
            if launches.due(plan, now) {
                all.push(launches.counted());
                now += start;
                launches.again(start, now);
            }
            now += lap;
            launches.lap(now);
            if launches.look_due(plan, now) {
                looks.push(launches.number);
            }
        }
        all.push(launches.counted());
        (all, looks)
    }

    #[test]
    fn cheap_starts_come_every_four_rounds_to_the_end() {
        let (all, looks) = laps(&plan(60.0, 0), 50, 1000);
        assert_eq!(all, [4; 12]);
        assert_eq!(looks, (0..12).collect::<Vec<_>>(), "one at the end of each");
    }

    #[test]
    fn dear_starts_are_fewer_and_as_far_apart_to_the_end() {
        let (all, looks) = laps(&plan(60.0, 0), 1500, 100);
        assert_eq!(all.len(), 7, "{all:?}: six starts of 1.5 s are 15 % of a minute");
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(most - least < most / 4, "{all:?}");
        assert_eq!(looks[..6], [0, 1, 2, 3, 4, 5]);
        assert_eq!(laps(&plan(60.0, 0), 4000, 100).0.len(), 3);
    }

    #[test]
    fn two_launches_say_nothing_of_how_launches_differ() {
        assert_eq!(laps(&plan(60.0, 0), 5000, 100).0.len(), 1, "one more start is affordable");
        assert_eq!(laps(&plan(60.0, 0), 10_000, 100).0.len(), 1);
        assert_eq!(laps(&plan(60.0, 0), 1, 4500).0.len(), 1, "only two launches of five laps fit");
        let plan_of_10_s = plan(10.0, 0);
        let mut launches = Launches::new(Duration::from_millis(300), &plan_of_10_s);
        assert_eq!(launches.restarts_left(&plan_of_10_s), 5);
        launches.again(Duration::from_secs(2), Duration::from_secs(4));
        assert_eq!(launches.restarts_left(&plan_of_10_s), 1, "dearer than thought");
        let (all, looks) = laps(&plan(60.0, 0), 10_000, 5000);
        assert_eq!((all, looks), (vec![11], vec![0, 0]), "looked at after four and eight");
    }

    #[test]
    fn a_number_of_launches_is_spread_over_the_budget() {
        for number in [1, 2, 3, 10] {
            let (all, _) = laps(&plan(60.0, number), 3000, 100);
            assert_eq!(all.len() as u32, number);
            let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
            assert!(most - least <= 1 + most / 4, "{all:?}");
        }
        let (all, _) = laps(&plan(10.0, 20), 10, 400);
        let (_, before) = all.split_last().unwrap();
        assert!(before.iter().all(|laps| *laps == 1), "each has a round that counts: {all:?}");
    }

    #[test]
    fn a_number_of_launches_is_spread_over_a_number_of_rounds() {
        let mut plan = plan(1.0, 3);
        plan.stop = Stop::Rounds { rounds: 20, budget_s: None };
        let mut launches = Launches::new(Duration::from_millis(5), &plan);
        let (mut now, mut all) = (Duration::ZERO, Vec::new());
        for _ in 0..20 {
            if launches.due(&plan, now) {
                all.push(launches.counted());
                launches.again(Duration::from_millis(5), now);
            }
            // The first lap of a launch does not count.
            let laps = if launches.laps == 0 { 2 } else { 1 };
            for _ in 0..laps {
                now += Duration::from_millis(100);
                launches.lap(now);
            }
        }
        all.push(launches.counted());
        assert_eq!(all, [7, 7, 6]);
    }

    #[test]
    fn a_case_is_known_after_enough_launches() {
        let plan = |launches| plan(60.0, launches);
        let enough = |plan: &Plan, number: u32| {
            let mut launches = Launches::new(Duration::from_millis(1), plan);
            (0..number).for_each(|_| launches.again(Duration::from_millis(1), Duration::ZERO));
            launches.enough(plan)
        };
        assert!(!enough(&plan(0), 3) && enough(&plan(0), 4));
        assert!(!enough(&plan(10), 8) && enough(&plan(10), 9) && enough(&plan(1), 0));
        let dear = Launches::new(Duration::from_secs(20), &plan(0));
        assert!(dear.enough(&plan(0)), "there will be no other");
    }

    #[test]
    fn every_second_launch_is_cold() {
        let plan = plan(60.0, 4);
        let mut launches = Launches::new(Duration::ZERO, &plan);
        let mut cold = Vec::new();
        for _ in 0..3 {
            cold.push(launches.next_is_cold(&plan));
            launches.again(Duration::ZERO, Duration::ZERO);
        }
        assert_eq!(cold, [true, false, true]);
    }
}
