//! What a column has for a row: its blocks, its rounds, or the reason why there are none.

use std::collections::BTreeSet;

use super::row::{Cell, Row, area_of, first_met};
use super::sides::{Session, Side};
use crate::model::{Failure, Phase, PlannedCase};
use crate::runfile::{Block, EndReason, OutcomeState, RunFile};
use crate::stats::{self, Contrast, Effect, Round, Series, centre};

/// What makes two figures the same row, also across files.
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

    /// Whether that is the row of this key.
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

/// Every row of these sides. Files may have different plans: the rows of one area are together in
/// any case, areas and rows in the order in which they are first met.
pub(super) fn row_keys(sides: &[Side<'_>]) -> Vec<RowKey> {
    let mut keys: Vec<RowKey> = Vec::new();
    for session in sides.iter().flat_map(|side| &side.sessions) {
        for planned in &session.run.header.plan.cases {
            if keys.iter().any(|key| key.planned.case == planned.case) {
                continue;
            }
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

/// A row with what every column measured for it.
pub(super) struct RowData<'a> {
    pub key: RowKey,
    /// In the order of the columns.
    pub cells: Vec<CellData<'a>>,
}

/// What a side has for a row.
pub(super) struct CellData<'a> {
    /// The rounds of each session.
    pub sessions: Vec<Series>,
    pub blocks: Vec<&'a Block>,
    /// Largest share of a session's median sample that one reading of its clock takes.
    pub clock_share: f64,
    /// Fewer rounds, in some session, than its plan asks for.
    pub few_rounds: bool,
    /// Figures of a command that were zero in some runs: all of them.
    pub with_zeroes: Option<Vec<f64>>,
    /// Its figures are means: what is low in most of its blocks and high in some is no floor.
    by_mean: bool,
    /// Identities of the sessions' files, where all are envtax's own: only rounds of one file can
    /// be paired.
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
                // A figure of zero is one that the environment does not show.
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
            data.blocks.extend(own);
        }
        data
    }

    /// Whether the rounds of both were measured side by side.
    pub fn is_paired_with(&self, other: &CellData<'_>) -> bool {
        !self.files.is_empty() && self.files == other.files
    }

    /// One value a session, as logarithm: the trimmed means of its rounds' floors, and the means of
    /// their means.
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

    /// The rounds' own costs.
    pub fn alone(&self) -> Contrast {
        Contrast::alone(&self.sessions)
    }

    /// Where such a contrast of this row's lies: by means or by floors.
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

    /// Starts of the environments that its rounds are of.
    pub fn launches(&self) -> usize {
        let of_session = |rounds: &Series| {
            rounds.iter().map(|(_, round)| round.launch).collect::<BTreeSet<u32>>().len()
        };
        self.sessions.iter().map(of_session).sum()
    }

    pub fn rounds(&self) -> usize {
        self.sessions.iter().map(Series::len).sum()
    }

    /// Rounds of the session that has the fewest, of those that have any.
    pub fn fewest_rounds(&self) -> usize {
        self.sessions.iter().map(Series::len).filter(|rounds| *rounds > 0).min().unwrap_or(0)
    }
}

/// The figures of a command's runs where some are zero, and the environment would show others.
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
        cases.iter().position(|planned| planned.case == key.planned.case)
    }

    /// Why the row is missing in this session, if the file says.
    fn outcome(&self, key: &RowKey) -> Option<(OutcomeState, &'a Failure)> {
        let case = self.case_index(key)?;
        let mut outcomes = self.run.outcomes.iter();
        let found = outcomes.find(|outcome| outcome.case == case && outcome.env == self.env)?;
        Some((found.state, &found.why))
    }

    /// Why there is neither a round nor an outcome.
    fn not_reached(&self, key: &RowKey) -> &'static str {
        let end = self.run.end.as_ref().map(|end| end.reason);
        match (self.case_index(key), end) {
            (None, _) => "this run was not to measure it",
            (_, Some(EndReason::Budget)) => "the budget ended before its first round",
            _ => "the run ended before its first round",
        }
    }

    /// Share of the median sample, in these blocks and this phase, that one reading of the
    /// environment's clock takes; zero where either is unknown.
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
    /// The reason of the first session in which the row went wrong.
    pub(super) fn failure(&self, key: &RowKey) -> Option<&Failure> {
        let mut outcomes = self.sessions.iter().filter_map(|session| session.outcome(key));
        outcomes.find(|(state, _)| *state == OutcomeState::Failed).map(|(_, why)| why)
    }

    /// The cell of a row that has no round here.
    pub(super) fn empty_cell(&self, key: &RowKey) -> Cell {
        let outcome = self.sessions.iter().find_map(|session| session.outcome(key));
        if let Some((_, why)) = outcome {
            return Cell::Skipped(why.clone());
        }
        // One that was to measure it says more than one that was not.
        let planned = |session: &&Session<'_>| session.case_index(key).is_some();
        let session = self.sessions.iter().find(planned).or(self.sessions.first());
        let reason = session.map_or("there is no session", |session| session.not_reached(key));
        Cell::NotReached { reason: reason.to_owned() }
    }

    /// What its system counts, judged over all blocks of the environment: in the blocks of a single
    /// case nothing may have happened.
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

/// Events that an environment counts; where it does not, its zeroes say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    /// gVisor's getrusage has CPU times and voluntary switches, and leaves faults and involuntary
    /// switches zero (its `sys_rusage.go`): one of the latter shows that faults are counted too.
    pub faults: bool,
    /// Anything at all.
    pub switches: bool,
}
