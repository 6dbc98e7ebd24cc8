//! What else ran on the machine: how much, and whether a ratio depends on it.

use serde::Serialize;

use super::cell_data::{CellData, RowKey};
use super::flag::Flag;
use super::flags;
use super::remark::{Remark, RemarkKind, in_file, when};
use super::sides::{Session, Side};
use crate::runfile::{Block, RunFile};
use crate::stats::{quantile, rank_p_value};
use crate::units::percent;
use crate::words::Message;

/// A ratio depends on the load where chance alone would rank it so in fewer cases than this: rarely
/// enough for a table of many rows.
const LEVEL: f64 = 0.001;
/// Difference of the ratio, as a share, between the calmer and the busier rounds that matters.
const DIFFERENCE: f64 = 0.05;

/// What else wanted a CPU while the file was measured; nothing of files that do not tell.
pub(super) fn of_file(session: &Session<'_>) -> Option<Remark> {
    let run = session.run;
    let (usual, most) = runnable(run.blocks.iter())?;
    let own = run.header.plan.load as usize;
    let is_probe = |block: &&Block| run.header.plan.cases[block.case].command().is_none();
    let wait = wait_share(run.blocks.iter().filter(is_probe));
    let clause = |share: Option<f64>, id| match share {
        Some(share) => Message::new(id).with("share", percent(share)),
        None => Message::new("nothing"),
    };
    let text = Message::new("load")
        .with("usual", usual.round() as usize)
        .with("most", most.round() as usize)
        .with("own", when(own > 0, "load-own").with("own", own))
        .with("wait", clause(wait, "load-wait"))
        .with("steal", clause(steal_share(run), "load-steal"));
    Some(Remark::on_all(RemarkKind::Load, in_file(session, text)))
}

/// What else the machine did while a column was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColumnLoad {
    /// Other tasks that wanted a CPU when a block began: the median over the blocks.
    pub runnable: Option<f64>,
    /// The 90 % quantile of these.
    pub runnable_p90: Option<f64>,
    /// Part of a block in which its worker waited for a CPU: the median over the blocks.
    pub wait_share: Option<f64>,
    /// Part of the CPU time that the hypervisor gave to others, over the runs.
    pub steal_share: Option<f64>,
}

impl ColumnLoad {
    pub(super) fn of(side: &Side<'_>) -> ColumnLoad {
        let mut blocks: Vec<(&RunFile, &Block)> = Vec::new();
        for session in &side.sessions {
            let own = session.run.blocks.iter().filter(|block| block.env == session.env);
            blocks.extend(own.map(|block| (session.run, block)));
        }
        let runnable = runnable(blocks.iter().map(|(_, block)| *block));
        let is_probe = |(run, block): &&(&RunFile, &Block)| {
            run.header.plan.cases[block.case].command().is_none()
        };
        let steals = side.sessions.iter().filter_map(|session| steal_share(session.run));
        ColumnLoad {
            runnable: runnable.map(|(usual, _)| usual),
            runnable_p90: runnable.map(|(_, most)| most),
            wait_share: wait_share(blocks.iter().filter(is_probe).map(|(_, block)| *block)),
            steal_share: steals.reduce(f64::max),
        }
    }

    /// Whether the files tell anything of it.
    pub(super) fn is_told(&self) -> bool {
        self.runnable.is_some()
    }
}

/// Median and 90 % quantile of the other runnable tasks at the beginning of each block.
pub(super) fn runnable<'a>(blocks: impl Iterator<Item = &'a Block>) -> Option<(f64, f64)> {
    let counts: Vec<f64> = blocks.filter_map(|block| block.runnable).map(f64::from).collect();
    quantile(&counts, 0.5).zip(quantile(&counts, 0.9))
}

/// The median part of a block in which its worker was ready to run and did not.
fn wait_share<'a>(blocks: impl Iterator<Item = &'a Block>) -> Option<f64> {
    quantile(&blocks.filter_map(flags::wait_share).collect::<Vec<_>>(), 0.5)
}

/// Part of the machine's CPU time that the hypervisor kept, over the run.
pub(super) fn steal_share(run: &RunFile) -> Option<f64> {
    let (first, last) = (run.hosts.first()?, run.hosts.last()?);
    let steal = last.steal_ticks?.checked_sub(first.steal_ticks?)?;
    let total = last.total_ticks?.checked_sub(first.total_ticks?)?;
    (total > 0).then(|| steal as f64 / total as f64)
}

/// Whether a whole command usually ran while others wanted as many CPUs as the environment has.
pub(super) fn load_flag(side: &Side<'_>, key: &RowKey, data: &CellData<'_>) -> Option<Flag> {
    let cpus = side.sessions.iter().filter_map(Session::cpus).max()?;
    let (usual, _) = runnable(data.blocks.iter().copied())?;
    (key.planned.is_command() && cpus > 0 && usual >= cpus as f64).then_some(Flag::BesideLoad)
}

/// Whether the ratio to the base rises or falls with what else wants a CPU.
pub(super) fn flag(own: &CellData<'_>, base: &CellData<'_>) -> Option<Flag> {
    let ([rounds], [base]) = (own.sessions.as_slice(), base.sessions.as_slice()) else {
        return None;
    };
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for block in &own.blocks {
        let (own, base) = (rounds.get(block.round), base.get(block.round));
        if let (Some(load), Some(own), Some(base)) = (block.runnable, own, base) {
            pairs.push((f64::from(load), own.ln_floor - base.ln_floor));
        }
    }
    follows(&pairs).then_some(Flag::FollowsLoad)
}

/// Whether the second of each pair, a log-ratio, follows the first, by enough to matter.
fn follows(pairs: &[(f64, f64)]) -> bool {
    if rank_p_value(pairs).is_none_or(|p_value| p_value >= LEVEL) {
        return false;
    }
    let loads: Vec<f64> = pairs.iter().map(|(load, _)| *load).collect();
    let Some(usual) = quantile(&loads, 0.5) else { return false };
    let middle = |busy: bool| {
        let half = pairs.iter().filter(|(load, _)| (*load > usual) == busy);
        quantile(&half.map(|(_, ratio)| *ratio).collect::<Vec<_>>(), 0.5)
    };
    let difference = middle(true).zip(middle(false)).map(|(busy, calm)| (busy - calm).abs());
    difference.is_some_and(|difference| difference > DIFFERENCE.ln_1p())
}

#[cfg(test)]
mod tests {
    use super::super::row::Cell;
    use super::super::tests::{compared, jitter, planned, run_of, set_of};
    use super::*;
    use crate::model::{COMMAND, CommandCase, CommandRules, Work};

    #[test]
    fn a_ratio_that_rises_with_the_load_is_found_and_one_that_does_not_is_not() {
        let rising: Vec<(f64, f64)> =
            (0..30).map(|i| (f64::from(i % 6), 0.1 * f64::from(i % 6))).collect();
        assert!(follows(&rising));
        let by_little: Vec<(f64, f64)> =
            rising.iter().map(|(load, ratio)| (*load, 0.01 * ratio)).collect();
        assert!(!follows(&by_little), "less than 5 % between calm and busy rounds");
        let not: Vec<(f64, f64)> =
            (0..30).map(|i| (f64::from(i % 6), 0.1 * f64::from((i * 7) % 5))).collect();
        assert!(!follows(&not));
        assert!(!follows(&rising[..8]), "too few rounds");
    }

    #[test]
    fn a_command_beside_as_many_tasks_as_cpus_is_flagged() {
        let flagged = |runnable: u32, command: bool| {
            let mut case = planned("x.y");
            if command {
                case.case.probe = COMMAND.into();
                case.work = Work::Command(CommandCase::default());
            }
            let times = |_, _, round| Some(set_of(vec![jitter(100_000, round)]));
            let mut run = run_of(vec![case], 20, times);
            run.environments.iter_mut().for_each(|it| it.cpus = vec![0, 1]);
            run.blocks.iter_mut().for_each(|block| block.runnable = Some(runnable));
            run.header.plan.environments.iter_mut().for_each(|it| it.command = vec!["x".into()]);
            run.header.plan.commands = command.then(CommandRules::default);
            let compared = compared(run);
            assert_eq!(compared.loads[1].runnable, Some(f64::from(runnable)));
            match &compared.rows[0].cells[1] {
                Cell::Measured(measured) => measured.flags.contains(&Flag::BesideLoad),
                cell => panic!("{cell:?}"),
            }
        };
        assert!(flagged(2, true) && !flagged(1, true));
        assert!(!flagged(2, false), "the floor of a probe withstands that");
    }
}
