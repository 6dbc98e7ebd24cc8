//! The data of a column for a row: its blocks and rounds, or the reason why there are none.

use std::collections::BTreeSet;

use super::row::{Cell, Row, area_of, first_met};
use super::sides::{Session, Side};
use crate::model::{Failure, Phase, PlannedCase};
use crate::runfile::{Block, EndReason, OutcomeState, RunFile};
use crate::stats::{self, Contrast, Effect, Round, Series, centre};

/// The key by which two figures are in the same row, also across files.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowKey {
    pub planned: PlannedCase,
    pub phase: usize,
}

impl RowKey {
    pub fn phase(&self) -> &Phase {
        &self.planned.phases[self.phase]
    }

    /// The part of the probe's id before the dot.
    pub fn area(&self) -> &str {
        area_of(&self.planned.case.probe)
    }

    /// Whether the row has this key.
    pub fn is_of(&self, row: &Row) -> bool {
        let case = &self.planned.case;
        (row.probe.as_str(), row.params.as_str()) == (case.probe.as_str(), case.params.as_str())
            && row.dir == case.dir
            && row.phase == self.phase().name
    }

    pub fn row(&self, cells: Vec<Cell>) -> Row {
        let case = &self.planned.case;
        Row {
            probe: case.probe.clone(),
            params: case.params.as_str().to_owned(),
            dir: case.dir.clone(),
            phase: self.phase().name.to_string(),
            quantity: self.phase().quantity,
            unit: self.planned.unit.clone(),
            cells,
        }
    }
}

/// The keys of all rows. Files may have different plans. Rows of one area stay together; areas and
/// rows are in the order of their first appearance.
pub(super) fn row_keys(sides: &[Side<'_>]) -> Vec<RowKey> {
    let mut keys: Vec<RowKey> = Vec::new();
    for session in sides.iter().flat_map(|side| &side.sessions) {
        for planned in &session.run.header.plan.cases {
            let Some(case) = session.case_of_row(&planned.case) else { continue };
            if keys.iter().any(|key| key.planned.case == case) {
                continue;
            }
            let planned = PlannedCase { case, ..planned.clone() };
            let key = |phase| RowKey { planned: planned.clone(), phase };
            keys.extend((0..planned.phases.len()).map(key));
        }
    }
    let areas = first_met(keys.iter().map(|key| area_of(&key.planned.case.probe)));
    let areas: Vec<String> = areas.into_iter().map(str::to_owned).collect();
    keys.sort_by_key(|key| {
        let own = area_of(&key.planned.case.probe);
        areas.iter().position(|area| area == own)
    });
    keys
}

/// A row with the data of every column.
pub(super) struct RowData<'a> {
    pub key: RowKey,
    /// One for each column, in their order.
    pub cells: Vec<CellData<'a>>,
}

/// The data of a side for a row.
pub(super) struct CellData<'a> {
    /// The rounds of each session.
    pub sessions: Vec<Series>,
    pub blocks: Vec<&'a Block>,
    /// How many of the blocks are of each session, in their order.
    pub blocks_by_session: Vec<usize>,
    /// Largest share of a session's median sample that one reading of its clock takes.
    pub clock_share: f64,
    /// Whether some session has fewer rounds than its plan asks for.
    pub few_rounds: bool,
    /// All figures of a command, if they were zero in some runs.
    pub with_zeroes: Option<Vec<f64>>,
    /// Its figures are means: a value that is low in most blocks and high in some has no floor.
    by_mean: bool,
    /// The identities of the sessions' files, if all files are envtax's own: only rounds of one
    /// file can be paired.
    files: Vec<*const RunFile>,
}

impl<'a> CellData<'a> {
    pub fn collect(side: &Side<'a>, key: &RowKey) -> CellData<'a> {
        let imported = side.sessions.iter().any(|session| session.run.imported);
        let files = side.sessions.iter().filter(|_| !imported);
        let files = files.map(|session| std::ptr::from_ref(session.run)).collect();
        let (sessions, blocks) = (Vec::new(), Vec::new());
        let mut data = CellData {
            sessions,
            blocks,
            blocks_by_session: Vec::new(),
            clock_share: 0.0,
            few_rounds: false,
            with_zeroes: None,
            by_mean: key.phase().is_mean(),
            files,
        };
        for session in &side.sessions {
            let own: Vec<&Block> = session.blocks_of(key).collect();
            let rounds = own.iter().filter_map(|block| {
                let samples = block.set.samples.get(key.phase)?;
                let iterations = block.set.iterations;
                // Zero means that the environment does not show the figure.
                let shown: Vec<u64>;
                let samples = match key.phase().timed {
                    true => samples,
                    false => {
                        shown = samples.iter().copied().filter(|sample| *sample > 0).collect();
                        &shown
                    }
                };
                if samples.is_empty() {
                    return None;
                }
                let round = Round::of_block(samples, iterations, block.launch);
                let by_mean = key.phase().is_mean();
                let ln_floor = if by_mean { round.mean.ln() } else { round.ln_floor };
                Some((block.round, Round { ln_floor, ..round }))
            });
            let rounds: Series = rounds.collect();
            data.with_zeroes = with_zeroes(key, &own).or(data.with_zeroes);
            let wanted = session.run.header.plan.stop.min_rounds() as usize;
            data.few_rounds |= !rounds.is_empty() && rounds.len() < wanted;
            data.clock_share = data.clock_share.max(session.clock_share(&own, key.phase));
            data.sessions.push(rounds);
            data.blocks_by_session.push(own.len());
            data.blocks.extend(own);
        }
        data
    }

    /// Whether the rounds of both columns were measured side by side.
    pub fn is_paired_with(&self, other: &CellData<'_>) -> bool {
        !self.files.is_empty() && self.files == other.files
    }

    /// One value for each session, as a logarithm: the trimmed means of its rounds' floors, and the
    /// means of its rounds' means.
    pub fn session_values(&self) -> (Vec<f64>, Vec<f64>) {
        let of_session = |rounds: &Series| {
            let costs = Contrast::alone(std::slice::from_ref(rounds));
            let mean = costs.mean_cost()?.value;
            Some((if self.by_mean { mean } else { costs.effect()?.value }, mean))
        };
        self.sessions.iter().filter_map(of_session).unzip()
    }

    /// Floor and mean cost over all sessions.
    pub fn costs(&self) -> Option<(f64, f64)> {
        let (floors, means) = self.session_values();
        Some((centre(&floors)?.exp(), centre(&means)?.exp()))
    }

    /// The contrast of the rounds' own costs.
    pub fn alone(&self) -> Contrast {
        Contrast::alone(&self.sessions)
    }

    /// The effect of a contrast of this row: of means or of floors.
    pub fn effect(&self, contrast: &Contrast) -> Option<Effect> {
        if self.by_mean { contrast.mean_cost() } else { contrast.effect() }
    }

    /// The quantile `q` (0 to 1) of the rounds' costs.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.alone().quantile(q).map(f64::exp)
    }

    /// The costs of the first three rounds.
    pub fn first_rounds(&self) -> Vec<f64> {
        self.floors().take(3).map(f64::exp).collect()
    }

    /// The least and the greatest cost of a round.
    pub fn range(&self) -> Option<(f64, f64)> {
        let least = self.floors().reduce(f64::min)?;
        let greatest = self.floors().reduce(f64::max)?;
        Some((least.exp(), greatest.exp()))
    }

    fn floors(&self) -> impl Iterator<Item = f64> {
        self.sessions.iter().flat_map(Series::iter).map(|(_, round)| round.ln_floor)
    }

    /// Seconds that the controller waited for a round, on average.
    pub fn round_s(&self) -> f64 {
        let waited: f64 = self.blocks.iter().map(|block| block.outer_ns as f64).sum();
        waited / self.blocks.len().max(1) as f64 / 1e9
    }

    /// The number of starts of the environments in which its rounds were measured.
    pub fn launches(&self) -> usize {
        let of_session = |rounds: &Series| {
            rounds.iter().map(|(_, round)| round.launch).collect::<BTreeSet<u32>>().len()
        };
        self.sessions.iter().map(of_session).sum()
    }

    pub fn rounds(&self) -> usize {
        self.sessions.iter().map(Series::len).sum()
    }

    /// The number of rounds of the session that has the fewest, among sessions with any.
    pub fn fewest_rounds(&self) -> usize {
        self.sessions.iter().map(Series::len).filter(|rounds| *rounds > 0).min().unwrap_or(0)
    }
}

/// The figures of a command's runs, if some are zero and the environment shows others.
fn with_zeroes(key: &RowKey, blocks: &[&Block]) -> Option<Vec<f64>> {
    let phase = key.phase();
    if !key.planned.is_command() || phase.timed {
        return None;
    }
    let hidden = |block: &&&Block| block.set.extras.hidden.iter().any(|name| *name == phase.name);
    let of_block = |block: &&Block| Some(*block.set.samples.get(key.phase)?.first()? as f64);
    let figures: Vec<f64> =
        blocks.iter().filter(|block| !hidden(block)).filter_map(of_block).collect();
    figures.contains(&0.0).then_some(figures)
}

impl<'a> Session<'a> {
    fn blocks_of(&self, key: &RowKey) -> impl Iterator<Item = &'a Block> + use<'a> {
        let (run, env) = (self.run, self.env);
        let case = self.case_index(key);
        let counts =
            move |block: &&Block| Some(block.case) == case && block.env == env && block.round > 0;
        run.blocks.iter().filter(counts)
    }

    pub(super) fn case_index(&self, key: &RowKey) -> Option<usize> {
        let cases = &self.run.header.plan.cases;
        match self.dir {
            None => cases.iter().position(|planned| planned.case == key.planned.case),
            Some(_) => {
                let own = Some(key.planned.case.clone());
                cases.iter().position(|planned| self.case_of_row(&planned.case) == own)
            }
        }
    }

    /// The reason why the row is missing in this session, if the file gives one.
    fn outcome(&self, key: &RowKey) -> Option<(OutcomeState, &'a Failure)> {
        let case = self.case_index(key)?;
        let mut outcomes = self.run.outcomes.iter();
        let found = outcomes.find(|outcome| outcome.case == case && outcome.env == self.env)?;
        Some((found.state, &found.why))
    }

    /// The reason why there is neither a round nor an outcome.
    fn not_reached(&self, key: &RowKey) -> &'static str {
        let end = self.run.end.as_ref().map(|end| end.reason);
        match (self.case_index(key), end) {
            (None, _) => "this run was not to measure it",
            (_, Some(EndReason::Budget)) => "the budget ended before its first round",
            _ => "the run ended before its first round",
        }
    }

    /// The share of the median sample, in these blocks and this phase, that one reading of the
    /// environment's clock takes. Zero if either is unknown.
    fn clock_share(&self, blocks: &[&Block], phase: usize) -> f64 {
        let environment = self.run.environments.iter().find(|it| it.name == self.env);
        let samples = blocks.iter().filter_map(|block| block.set.samples.get(phase)).flatten();
        let times: Vec<f64> = samples.map(|ns| *ns as f64).collect();
        match (environment, stats::quantile(&times, 0.5)) {
            (Some(environment), Some(median)) => environment.clock.cost_ns / median.max(1.0),
            _ => 0.0,
        }
    }
}

impl Side<'_> {
    /// The reason of the first session in which the row failed.
    pub(super) fn failure(&self, key: &RowKey) -> Option<&Failure> {
        let mut outcomes = self.sessions.iter().filter_map(|session| session.outcome(key));
        outcomes.find(|(state, _)| *state == OutcomeState::Failed).map(|(_, why)| why)
    }

    /// The cell of a row without rounds here.
    pub(super) fn empty_cell(&self, key: &RowKey) -> Cell {
        let outcome = self.sessions.iter().find_map(|session| session.outcome(key));
        if let Some((_, why)) = outcome {
            return Cell::Skipped(why.clone());
        }
        // A session that planned the case tells more than one that did not.
        let planned = |session: &&Session<'_>| session.case_index(key).is_some();
        let session = self.sessions.iter().find(planned).or(self.sessions.first());
        let reason = session.map_or("there is no session", |session| session.not_reached(key));
        Cell::NotReached { reason: reason.to_owned() }
    }

    /// The events that its system counts, by all blocks of the environment: in the blocks of a
    /// single case, perhaps nothing happened.
    pub(super) fn counted(&self) -> Counted {
        let mut counted = Counted::default();
        for session in &self.sessions {
            for block in session.run.blocks.iter().filter(|block| block.env == session.env) {
                let usage = &block.set.usage;
                let faults = usage.minor_faults | usage.major_faults | usage.involuntary_switches;
                let rest = usage.user_ns | usage.system_ns | usage.voluntary_switches;
                counted.faults |= faults > 0;
                counted.switches |= (faults | rest) > 0;
            }
        }
        counted
    }
}

/// The events that an environment counts. If it does not count them, its zeroes mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    /// gVisor's getrusage gives CPU times and voluntary switches, but leaves faults and involuntary
    /// switches zero (its `sys_rusage.go`). If either is above zero, faults are counted.
    pub faults: bool,
    /// Whether any event is counted.
    pub switches: bool,
}
