//! What to measure next: the rows that are open, in the environments where they are, with the time
//! that this takes.

use serde::Serialize;

use super::cell_data::CellData;
use super::evidence::RowEvidence;
use super::flag::Flag;
use super::next_command;
use super::row::{Cell, Row, first_met, tax_of};
use super::sides::Side;
use super::verdict::{Open, Verdict};
use crate::model::{Case, CommandPhase, PlannedCase};
use crate::runfile::EndReason;

/// A command that measures open rows once more, for as long as that needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Next {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Rows that it measures, of the open ones.
    pub rows: usize,
    /// Open rows for which more time helps.
    pub open: usize,
}

/// Longest time in seconds that anybody is told to measure.
pub const LONGEST_S: f64 = 3600.0;
/// The same for the comparison of directories, which is one of large differences.
const LONGEST_OF_DIRECTORIES_S: f64 = 600.0;
/// Starts of each environment where their number was too small.
const LAUNCHES: u32 = 5;
/// Runs that show how far one differs from the next.
const RUNS: u32 = 3;
/// Most cases that a proposal names: the command is to be read.
const MOST_CASES: usize = 6;
/// Most columns beside the reference that it names.
const MOST_COLUMNS: usize = 4;
/// Rounds do not all take as long as they did, and environments are started again meanwhile.
const RESERVE: f64 = 1.5;

/// Phases of a whole command that have rows of their own.
const ASKED: [CommandPhase; 2] = [CommandPhase::Wall, CommandPhase::Settle];

/// What an open case needs.
struct Need<'a> {
    planned: &'a PlannedCase,
    rows: usize,
    /// Rounds in all, those that were measured included: a new run begins anew.
    rounds: f64,
    /// Some column needs more starts.
    starts: bool,
    /// Columns where it is open.
    columns: Vec<usize>,
    /// Seconds of a round by column.
    round_s: Vec<f64>,
}

impl Need<'_> {
    /// Seconds in the reference and these columns.
    fn seconds(&self, columns: &[usize]) -> f64 {
        let each = columns.iter().map(|column| self.round_s[*column]).sum::<f64>();
        self.rounds * (self.round_s[0] + each)
    }
}

/// The proposal; none where nothing is open, more time does not help, or the columns are no
/// environments of one run.
pub(super) fn next(sides: &[Side<'_>], evidence: &[RowEvidence<'_>], rows: &[Row]) -> Option<Next> {
    let run = sides.first()?.sessions.first()?.run;
    let own = |side: &Side<'_>| {
        side.sessions.len() == 1 && std::ptr::eq(side.sessions[0].run, run) && !run.imported
    };
    if !sides.iter().all(own) {
        return None;
    }
    let plan = &run.header.plan;
    let mut needs = needs(evidence, rows, f64::from(plan.stop.min_rounds()));
    // Beside load, one run says little of the next one.
    let beside_load = |cell: &Cell| match cell {
        Cell::Measured(measured) => measured.flags.contains(&Flag::BesideLoad),
        _ => false,
    };
    let runs = rows.iter().flat_map(|row| &row.cells).any(beside_load).then_some(RUNS);
    if needs.is_empty() && runs.is_some() {
        needs = all(evidence, f64::from(plan.stop.min_rounds()));
    }
    let open = needs.iter().map(|need| need.rows).sum();
    keep_columns(&mut needs);
    let by_directory = sides.iter().any(|side| side.sessions[0].dir.is_some());
    let longest_s = if by_directory { LONGEST_OF_DIRECTORIES_S } else { LONGEST_S };
    let most = if plan.commands.is_some() { usize::MAX } else { MOST_CASES };
    let (chosen, mut columns, seconds) = choose(needs, most, longest_s);
    let rows = chosen.iter().map(|need| need.rows).sum();
    let rounds = chosen.iter().map(|need| need.rounds).reduce(f64::max)?;
    columns.insert(0, 0);
    // Where the columns are directories, all are of one environment.
    let envs = first_met(columns.iter().map(|column| sides[*column].sessions[0].env));
    let specs = envs.iter().filter_map(|env| {
        let mut specs = plan.environments.iter();
        specs.find(|spec| spec.name == *env)
    });
    let cases = cases_in(sides, &columns, &chosen);
    let words = next_command::words(
        plan,
        &specs.collect::<Vec<_>>(),
        &cases.iter().collect::<Vec<&Case>>(),
        &next_command::Amount {
            budget_s: whole(seconds * RESERVE),
            rounds: rounds.ceil() as u32,
            launches: chosen.iter().any(|need| need.starts).then_some(LAUNCHES),
            runs,
            // What was precise before it was decided would end as early again.
            any_precision: run.end.as_ref().is_some_and(|it| it.reason == EndReason::Precision),
        },
    );
    Some(Next { words, rows, open })
}

/// As many of the cases as fit into so many seconds, those that take least first, with the columns
/// that they need beside the reference, and the seconds.
fn choose(
    mut needs: Vec<Need<'_>>,
    most: usize,
    longest_s: f64,
) -> (Vec<Need<'_>>, Vec<usize>, f64) {
    needs.sort_by(|a, b| a.seconds(&a.columns).total_cmp(&b.seconds(&b.columns)));
    let (mut chosen, mut columns, mut seconds) = (Vec::new(), Vec::new(), 0.0);
    for need in needs.into_iter().take(most) {
        let mut wider: Vec<usize> = [&columns[..], &need.columns].concat();
        wider.sort_unstable();
        wider.dedup();
        let all = chosen.iter().map(|it: &Need<'_>| it.seconds(&wider)).sum::<f64>();
        if (all + need.seconds(&wider)) * RESERVE > longest_s {
            break;
        }
        seconds = all + need.seconds(&wider);
        columns = wider;
        chosen.push(need);
    }
    (chosen, columns, seconds)
}

/// The cases as these columns measure them.
fn cases_in(sides: &[Side<'_>], columns: &[usize], chosen: &[Need<'_>]) -> Vec<Case> {
    let in_column = |column: &usize| {
        let dir = sides[*column].sessions[0].dir.map(str::to_owned);
        let case = move |need: &Need<'_>| {
            let case = need.planned.case.clone();
            Case { dir: dir.clone().or(case.dir), ..case }
        };
        chosen.iter().map(case).collect::<Vec<Case>>()
    };
    columns.iter().flat_map(in_column).collect()
}

/// Leaves the columns in which most cases are open; a case that is open in none of them goes.
fn keep_columns(needs: &mut Vec<Need<'_>>) {
    let mut all: Vec<usize> = needs.iter().flat_map(|need| need.columns.clone()).collect();
    all.sort_unstable();
    all.dedup();
    let open = |column: &usize| needs.iter().filter(|need| need.columns.contains(column)).count();
    all.sort_by_key(|column| std::cmp::Reverse(open(column)));
    all.truncate(MOST_COLUMNS);
    needs.iter_mut().for_each(|need| need.columns.retain(|column| all.contains(column)));
    // A single environment has no other column.
    needs.retain(|need| !need.columns.is_empty() || need.round_s.len() == 1);
}

/// Every case of a clock, in all columns.
fn all<'a>(evidence: &'a [RowEvidence<'_>], rounds: f64) -> Vec<Need<'a>> {
    let rows = evidence.iter().filter(|row| row.data.key.phase == 0);
    let need = |row: &'a RowEvidence<'_>| Need {
        planned: &row.data.key.planned,
        rows: 0,
        rounds,
        starts: false,
        columns: (1..row.data.cells.len()).collect(),
        round_s: row.data.cells.iter().map(CellData::round_s).collect(),
    };
    rows.map(need).collect()
}

/// The open cases for which more time helps. Of a whole command, what it uses is not what is
/// asked.
fn needs<'a>(evidence: &'a [RowEvidence<'_>], rows: &[Row], wanted: f64) -> Vec<Need<'a>> {
    let measured: Vec<f64> =
        evidence.iter().map(|row| row.round_s).filter(|seconds| *seconds > 0.0).collect();
    let usual = measured.iter().sum::<f64>() / measured.len().max(1) as f64;
    let mut needs: Vec<Need<'_>> = Vec::new();
    let is_asked =
        |row: &Row| !row.is_of_command() || ASKED.iter().any(|it| it.name() == row.phase);
    for (row, evidence) in rows.iter().zip(evidence).filter(|it| is_asked(it.0)) {
        let key = &evidence.data.key;
        let of = |(column, cell): (usize, &Cell)| Some((column, rounds_of(cell, wanted)?));
        let open: Vec<(usize, f64)> = row.cells.iter().enumerate().filter_map(of).collect();
        let Some(rounds) = open.iter().map(|(_, rounds)| *rounds).reduce(f64::max) else {
            continue;
        };
        let columns = open.iter().map(|(column, _)| *column).filter(|column| *column > 0);
        let known = |seconds: f64| match seconds > 0.0 {
            true => seconds,
            false => usual / row.cells.len() as f64,
        };
        let of_column = |column: usize| known(evidence.data.cells[column].round_s());
        match needs.iter_mut().find(|need| need.planned.case == key.planned.case) {
            Some(need) => {
                need.rows += 1;
                need.starts |= row.cells.iter().any(needs_starts);
                need.rounds = need.rounds.max(rounds);
                need.columns.extend(columns);
                need.columns.sort_unstable();
                need.columns.dedup();
            }
            None => needs.push(Need {
                planned: &key.planned,
                rows: 1,
                rounds,
                starts: row.cells.iter().any(needs_starts),
                columns: columns.collect(),
                round_s: (0..row.cells.len()).map(of_column).collect(),
            }),
        }
    }
    needs
}

fn needs_starts(cell: &Cell) -> bool {
    let verdict = tax_of(cell).map(|tax| tax.verdict);
    matches!(verdict, Some(Verdict::Inconclusive { why: Open::FewLaunches, .. }))
}

/// Rounds that the cell needs in all; none where it is settled, or rounds do not help.
fn rounds_of(cell: &Cell, wanted: f64) -> Option<f64> {
    match cell {
        Cell::NotReached { .. } => Some(wanted),
        Cell::Measured(measured) => match tax_of(cell)?.verdict {
            Verdict::Inconclusive { more_rounds: Some(more), .. } => {
                Some((measured.rounds as f64 + more as f64).max(wanted))
            }
            Verdict::Inconclusive { why: Open::FewLaunches, .. } => {
                Some((measured.rounds as f64).max(wanted))
            }
            Verdict::Descriptive if (measured.rounds as f64) < wanted => Some(wanted),
            _ => None,
        },
        Cell::Skipped(_) | Cell::Failed(_) => None,
    }
}

/// The next larger number of seconds that a person would give.
fn whole(seconds: f64) -> u64 {
    const STEPS: [u64; 13] = [5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1200];
    let step = STEPS.into_iter().find(|step| *step as f64 >= seconds);
    step.unwrap_or((seconds / 600.0).ceil() as u64 * 600)
}
