//! Under which conditions the figures were taken, as numbers: what else ran, and how many rounds
//! there were.

use std::collections::BTreeMap;

use serde::Serialize;

use super::row::{Cell, Row};
use super::sides::{Session, Side};
use super::{environment_remarks, load};
use crate::runfile::RunFile;
use crate::stats::quantile;

/// The state of the machine while it was measured. Of several files, that of the busiest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Other tasks that wanted a CPU at the beginning of a block: their median and their 90 %
    /// quantile. Those that `--load` asked for do not count. None where it is unknown. Programs
    /// find it by column in the comparison's `loads`.
    #[serde(skip_serializing)]
    pub others: Option<(f64, f64)>,
    /// CPUs that the environments were measured on; none where they are unknown.
    pub cpus: Option<usize>,
    /// Share of the machine's CPU time that the hypervisor gave to others. Also in `loads`.
    #[serde(skip_serializing)]
    pub steal: Option<f64>,
    /// Fewest and most rounds of a measured cell.
    pub rounds: Option<(usize, usize)>,
    /// Rounds that the plan asks for at least.
    pub wanted_rounds: usize,
}

impl Conditions {
    /// The conditions of a measurement without a run file, by the tasks that wanted a CPU now and
    /// then beside it.
    pub fn of_tasks(others: &[u32], cpus: Option<usize>) -> Conditions {
        let others: Vec<f64> = others.iter().copied().map(f64::from).collect();
        let others = quantile(&others, 0.5).zip(quantile(&others, 0.9));
        Conditions { others, cpus, ..Conditions::default() }
    }

    /// The conditions of a run file whose figures are not compared as rows.
    pub fn of_run(run: &RunFile) -> Conditions {
        let mut conditions = Conditions::default();
        let env = &run.header.plan.reference;
        conditions.add(&Session { file: None, run, env, dir: None });
        let mut rounds: BTreeMap<_, usize> = BTreeMap::new();
        for block in run.blocks.iter().filter(|block| block.round > 0) {
            *rounds.entry((block.case, &block.env)).or_default() += 1;
        }
        conditions.rounds = range(rounds.into_values());
        conditions
    }

    fn add(&mut self, session: &Session<'_>) {
        let run = session.run;
        let own = f64::from(run.header.plan.load);
        let others = load::runnable(run.blocks.iter());
        let others = others.map(|(usual, most)| (usual - own, most - own));
        let others = others.map(|(usual, most)| (usual.max(0.0), most.max(0.0)));
        if others.map(|it| it.0) >= self.others.map(|it| it.0) {
            self.others = others;
        }
        let steal = load::steal_share(run);
        self.steal = self.steal.into_iter().chain(steal).reduce(f64::max);
        self.cpus = self.cpus.max(session.cpus());
        let wanted = run.header.plan.stop.min_rounds() as usize;
        self.wanted_rounds = self.wanted_rounds.max(wanted);
    }

    /// Whether something else had a part in what was measured.
    pub fn is_noisy(&self) -> bool {
        let beside = self.others.is_some_and(|(usual, _)| usual >= 1.0);
        beside || self.steal.is_some_and(|share| share > environment_remarks::STEAL)
    }

    /// Whether some figures have fewer rounds than the plan asks for.
    pub fn is_short(&self) -> bool {
        self.rounds.is_some_and(|(fewest, _)| fewest < self.wanted_rounds)
    }
}

/// The conditions of all sides together.
pub(super) fn of(sides: &[Side<'_>], rows: &[Row]) -> Conditions {
    let mut conditions = Conditions::default();
    for session in sides.iter().flat_map(|side| &side.sessions) {
        conditions.add(session);
    }
    let rounds = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
        Cell::Measured(measured) => Some(measured.rounds),
        _ => None,
    });
    conditions.rounds = range(rounds);
    conditions
}

/// The least and the largest.
fn range(counts: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let counts: Vec<usize> = counts.collect();
    counts.iter().copied().min().zip(counts.iter().copied().max())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{jitter, planned, run_of, set_of};
    use super::*;
    use crate::runfile::Host;

    #[test]
    fn what_the_hypervisor_takes_is_noise_without_other_tasks() {
        let times = |_, _, round| Some(set_of(vec![jitter(100_000, round)]));
        let mut run = run_of(vec![planned("x.y")], 20, times);
        run.blocks.iter_mut().for_each(|block| block.runnable = Some(0));
        let host = |ticks| Host {
            at_ns: ticks,
            steal_ticks: Some(ticks / 5),
            busy_ticks: None,
            total_ticks: Some(ticks),
            load_1min: None,
        };
        let calm = Conditions::of_run(&run);
        assert_eq!((calm.others, calm.rounds), (Some((0.0, 0.0)), Some((20, 20))));
        assert!(!calm.is_noisy());
        run.hosts = vec![host(1000), host(2000)];
        let taken = Conditions::of_run(&run);
        assert!(taken.is_noisy() && taken.steal == Some(0.2), "{taken:?}");
    }
}
