//! Under which conditions the figures were taken, as numbers: what else ran, and how many rounds
//! there were.

use serde::Serialize;

use super::row::{Cell, Row};
use super::sides::Side;
use super::{environment_remarks, load};
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
        let run = session.run;
        let own = f64::from(run.header.plan.load);
        let others = load::runnable(run.blocks.iter());
        let others = others.map(|(usual, most)| (usual - own, most - own));
        let others = others.map(|(usual, most)| (usual.max(0.0), most.max(0.0)));
        if others.map(|it| it.0) >= conditions.others.map(|it| it.0) {
            conditions.others = others;
        }
        let steal = load::steal_share(run);
        conditions.steal = conditions.steal.into_iter().chain(steal).reduce(f64::max);
        conditions.cpus = conditions.cpus.max(session.cpus());
        let wanted = run.header.plan.stop.min_rounds() as usize;
        conditions.wanted_rounds = conditions.wanted_rounds.max(wanted);
    }
    let rounds = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
        Cell::Measured(measured) => Some(measured.rounds),
        _ => None,
    });
    let rounds: Vec<usize> = rounds.collect();
    conditions.rounds = rounds.iter().copied().min().zip(rounds.iter().copied().max());
    conditions
}
