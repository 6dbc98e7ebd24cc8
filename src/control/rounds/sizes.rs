//! The block sizes of a case in each environment: tunes them, and uses the reference's size where
//! it is similar.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::cells::CaseState;
use super::{Driver, Stop};
use crate::control::launches::ROUNDS;
use crate::control::watcher::Forecast;
use crate::model::Case;
use crate::protocol::{Answer, Ask, BlockSize, Tuning};
use crate::runfile::{OutcomeState, Record, Tuned};

/// A block lasts about this long and has about this many samples (docs/METHODOLOGY.md, A round).
const BLOCK_NS: f64 = 10e6;
const SAMPLES: f64 = 20.0;
/// The least number of samples of a block, as far as the time limit allows.
const FEWEST_SAMPLES: f64 = 10.0;
/// The time limit of a block of slow operations.
const BLOCK_LIMIT_NS: u64 = 100_000_000;
/// The block of a whole command: one run.
const ONE_RUN: BlockSize = BlockSize { iterations: 1, samples: 1, discard: false, limit_ns: 0 };
/// Laps that give a figure, the second of which counts, with a reserve: rounds may take half as
/// long again as tuning tells.
const LAPS_WITH_RESERVE: u32 = 3;
/// Laps that give a verdict: five rounds that count, and the first one of each of two launches.
const FEWEST_LAPS: u32 = 7;
/// Environments share a block size if their own sample sizes differ by this factor at most.
const LIKE: f64 = 2.0;

impl Driver<'_> {
    /// Finds the block size of every case in every environment. Like starting environments, this
    /// does not count on the budget, because a slow environment would leave nothing of it.
    pub(super) fn prepare(&mut self) -> Result<(), Stop> {
        for index in 0..self.plan.cases.len() {
            let draw = self.order.for_tuning();
            for slot in 0..self.slots.len() {
                if let Some((state, why)) = self.obstacle(index, slot) {
                    self.outcome(index, slot, state, why)?;
                    continue;
                }
                if self.plan.cases[index].is_command() {
                    self.cases[index].cells[slot].size = Some(ONE_RUN);
                    continue;
                }
                self.place_launcher(index, slot, &draw);
                let sample_ns = self.slots[slot].sample_ns;
                let ask = Ask::Tune { task: self.task(index, slot, &draw), sample_ns };
                let asked = Instant::now();
                let Some(answer) = self.ask(index, slot, ask)? else { continue };
                let took = asked.elapsed();
                let tuning = match answer {
                    Answer::Tuned(tuning) if tuning.iterations > 0 && tuning.each_ns > 0.0 => {
                        tuning
                    }
                    _ => {
                        let reason = "the agent answers tuning with no usable sample size".into();
                        self.outcome(index, slot, OutcomeState::Failed, reason)?;
                        continue;
                    }
                };
                let cell = &mut self.cases[index].cells[slot];
                let size = block_size(tuning);
                (cell.size, cell.most) = (Some(size), tuning.most);
                // A worker prepares for a block as it does for tuning.
                cell.block = took + sampling(&size, tuning.each_ns);
                self.watcher.record(Record::Tuned(Tuned {
                    env: self.slots[slot].spec.name.clone(),
                    case: index,
                    iterations: tuning.iterations,
                    each_ns: tuning.each_ns,
                }))?;
            }
            self.share_size(index);
            self.watcher.preparing(index + 1, self.plan.cases.len());
        }
        if let Some(mut forecast) = self.forecast() {
            let left_out = self.too_many();
            forecast.left_out =
                left_out.iter().map(|case| self.plan.cases[*case].case.to_string()).collect();
            self.watcher.forecast(&forecast);
            left_out.iter().for_each(|case| self.cases[*case].left_out = true);
        }
        self.start = Instant::now();
        Ok(())
    }

    /// What the rounds that the plan asks for will take; none of whole commands, which nothing is
    /// known of yet.
    fn forecast(&self) -> Option<Forecast> {
        let lap: Duration = self.cases.iter().flat_map(|it| &it.cells).map(|it| it.block).sum();
        let rounds = self.plan.stop.min_rounds();
        let is_tuned = |state: &&CaseState| state.cells.iter().any(|it| !it.block.is_zero());
        let cases = self.cases.iter().filter(is_tuned).count();
        (cases > 0).then(|| Forecast {
            cases,
            environments: self.slots.iter().filter(|slot| slot.session.is_some()).count(),
            rounds,
            // The first round of a launch does not count.
            needed: lap * (rounds + rounds.div_ceil(ROUNDS)),
            budget: self.plan.stop.budget_s().map(Duration::from_secs_f64),
            left_out: Vec::new(),
        })
    }

    /// The cases that are left out where the budget is not enough for a figure of each: then those
    /// that the user named are measured, and of the others those that take least, as many as get a
    /// verdict.
    fn too_many(&self) -> Vec<usize> {
        let Some(budget) = self.plan.stop.budget_s() else { return Vec::new() };
        let lap =
            |case: &usize| self.cases[*case].cells.iter().map(|it| it.block).sum::<Duration>();
        let all = together(self.plan.cases.iter().map(|planned| &planned.case));
        let laps: Vec<Duration> = all.iter().map(|cases| cases.iter().map(lap).sum()).collect();
        let is_named = |cases: &Vec<usize>| cases.iter().any(|case| self.plan.named.contains(case));
        let named: Vec<bool> = all.iter().map(is_named).collect();
        let left_out = left_out(&laps, &named, Duration::from_secs_f64(budget));
        let mut cases: Vec<usize> = left_out.into_iter().flat_map(|at| all[at].clone()).collect();
        cases.sort_unstable();
        cases
    }

    /// Gives the reference's block size to environments that are nearly as fast. The cost of some
    /// operations depends on how many are done at a time (pages that were just returned, files in a
    /// folder): with separately tuned sizes, equal environments differed.
    fn share_size(&mut self, case: usize) {
        let reference = self.reference();
        let state = &mut self.cases[case];
        let Some(common) = reference.and_then(|slot| state.cells[slot].size) else { return };
        for cell in &mut state.cells {
            let Some(size) = &mut cell.size else { continue };
            let (own, other) = (size.iterations as f64, common.iterations as f64);
            if (other / LIKE..=other * LIKE).contains(&own) && common.iterations <= cell.most {
                *size = common;
            }
        }
    }
}

/// The numbers of the cases, of which those stand together that differ only in their target
/// directory: a case that is measured in some directories says nothing about the others.
fn together<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<Vec<usize>> {
    let mut all: BTreeMap<Case, Vec<usize>> = BTreeMap::new();
    for (at, case) in cases.enumerate() {
        all.entry(Case { dir: None, ..case.clone() }).or_default().push(at);
    }
    let mut all: Vec<Vec<usize>> = all.into_values().collect();
    all.sort();
    all
}

/// The cases that do not fit into the budget, by how long a round of each takes; zero where nothing
/// is measured. None if the budget allows [`LAPS_WITH_RESERVE`]. Otherwise all but those that were
/// named and, of the others, those that take least, as many as get [`FEWEST_LAPS`]. At least one
/// stays.
fn left_out(laps: &[Duration], named: &[bool], budget: Duration) -> Vec<usize> {
    if laps.iter().sum::<Duration>() * LAPS_WITH_RESERVE <= budget {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..laps.len()).filter(|case| !laps[*case].is_zero()).collect();
    order.sort_by_key(|case| (!named[*case], laps[*case]));
    let always = order.iter().filter(|case| named[**case]).count().max(1);
    let sums = order.iter().scan(Duration::ZERO, |sum, case| {
        *sum += laps[*case];
        Some(*sum)
    });
    let fitting = sums.take_while(|sum| *sum * FEWEST_LAPS <= budget).count().max(always);
    let mut left_out = order.split_off(fitting.min(order.len()));
    left_out.sort_unstable();
    left_out
}

/// How long the samples of such a block take, by the cost of an iteration in ns.
fn sampling(size: &BlockSize, each_ns: f64) -> Duration {
    let samples = size.samples as f64 * size.iterations as f64 * each_ns;
    let limited = samples.min(size.limit_ns as f64).max(size.iterations as f64 * each_ns);
    Duration::from_nanos(limited as u64)
}

/// The size of the case's blocks, from the time of one iteration.
fn block_size(tuning: Tuning) -> BlockSize {
    let sample_ns = tuning.each_ns * tuning.iterations as f64;
    let samples = (BLOCK_NS / sample_ns.max(1.0)).round().clamp(FEWEST_SAMPLES, SAMPLES);
    BlockSize {
        iterations: tuning.iterations,
        samples: samples as usize,
        // A sample that is longer than a block is warm after its own first part, and doing it twice
        // costs too much.
        discard: sample_ns < BLOCK_LIMIT_NS as f64,
        limit_ns: BLOCK_LIMIT_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Params;

    #[test]
    fn a_case_is_left_out_in_all_directories() {
        let case = |probe: &str, dir: Option<&str>| Case {
            probe: probe.into(),
            params: Params::new(""),
            dir: dir.map(str::to_owned),
        };
        let cases = [
            case("file.open", Some("a")),
            case("null", None),
            case("file.stat", Some("a")),
            case("file.open", Some("b")),
        ];
        assert_eq!(together(cases.iter()), [vec![0, 3], vec![1], vec![2]]);
    }

    #[test]
    fn what_takes_least_is_measured_where_the_budget_is_short() {
        let laps = [30, 0, 10, 20, 400].map(Duration::from_millis);
        let none = [false; 5];
        let of = |budget_ms: u64| left_out(&laps, &none, Duration::from_millis(budget_ms));
        assert!(of(1380).is_empty(), "three laps fit");
        assert_eq!(of(1379), [4]);
        assert_eq!(of(7 * 60), [4]);
        assert_eq!(of(7 * 30), [0, 4]);
        assert_eq!(of(1), [0, 3, 4], "one is always measured");
        assert!(left_out(&[], &[], Duration::ZERO).is_empty());
    }

    #[test]
    fn what_was_named_is_measured_however_short_the_budget_is() {
        let laps = [30, 0, 10, 20, 400].map(Duration::from_millis);
        let named = [true, true, false, false, true];
        let of = |budget_ms: u64| left_out(&laps, &named, Duration::from_millis(budget_ms));
        assert_eq!(of(1), [2, 3]);
        assert_eq!(of(1379), [2, 3]);
        assert!(of(1380).is_empty());
        let short = [true, false, false, false, false];
        let of = |budget_ms: u64| left_out(&laps, &short, Duration::from_millis(budget_ms));
        assert_eq!(of(7 * 40), [3, 4], "then those that take least");
    }
}
