//! What else ran on the machine: how much, and whether a ratio depends on it.

use super::cell_data::CellData;
use super::flag::Flag;
use super::remark::{Remark, RemarkKind};
use super::sides::Session;
use crate::runfile::RunFile;
use crate::stats::{quantile, rank_p_value};

/// A ratio depends on the load where chance alone would rank it so in fewer cases than this: rarely
/// enough for a table of many rows.
const LEVEL: f64 = 0.001;
/// Difference of the ratio, as a share, between the calmer and the busier rounds that matters.
const DIFFERENCE: f64 = 0.05;

/// What else wanted a CPU while the file was measured; nothing of files that do not tell.
pub(super) fn of_file(session: &Session<'_>) -> Option<Remark> {
    let run = session.run;
    let (usual, most) = runnable(run)?;
    let beside = match run.header.plan.load {
        0 => String::new(),
        own => format!(", {own} of them envtax's own (`--load {own}`)"),
    };
    let file = session.file.map_or(String::new(), |file| format!("`{file}`: "));
    let tasks = if usual == 1.0 { "task" } else { "tasks" };
    let text = format!(
        "{file}load: in half of the blocks at most {usual:.0} other {tasks} wanted a CPU, in one \
         of ten {most:.0} or more{beside}"
    );
    Some(Remark::on_all(RemarkKind::Load, text))
}

/// Median and 90 % quantile of the other runnable tasks at the beginning of each block.
pub(super) fn runnable(run: &RunFile) -> Option<(f64, f64)> {
    let counts: Vec<f64> =
        run.blocks.iter().filter_map(|block| block.runnable).map(f64::from).collect();
    quantile(&counts, 0.5).zip(quantile(&counts, 0.9))
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
    use super::*;

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
}
