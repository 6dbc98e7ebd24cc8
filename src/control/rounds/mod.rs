//! The driver of a run: starts the environments, tunes every case in each, and measures in
//! interleaved rounds until every tax is precise enough or the budget ends.
//!
//! May use the rest of `control` and what that uses. Must not know a kind of environment or a
//! single probe.

mod asking;
mod cells;
mod commands;
#[cfg(test)]
mod coverage;
mod precision;
mod sizes;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use cells::CaseState;

use super::answer_limits::check_block;
use super::busy_processes::BusyProcesses;
use super::launches::Launches;
use super::order::{Draw, Order};
use super::session::Session;
use super::settings::{AgentError, SessionSettings};
use super::slot::{Interrupted, Slot, common_cpus, open_slots};
use super::watcher::{Progress, Watcher};
use crate::cleanup::leftovers::remove_own;
use crate::facts;
use crate::model::{Case, CommandCase, Failure, Plan};
use crate::protocol::{Answer, Ask, Task, UnavailableCase};
use crate::runfile::{self, End, EndReason, OutcomeState, Record};
use crate::sys;

/// Runs the plan. An error is a set-up error: nothing was measured.
pub fn run(plan: &Plan, settings: &SessionSettings<'_>, watcher: &mut dyn Watcher) -> Result<End> {
    // The load also runs while environments start.
    let _busy = BusyProcesses::start(plan.load, settings)?;
    let slots = match open_slots(plan, settings, watcher) {
        Ok(slots) => slots,
        Err(AgentError::Interrupted) => bail!("interrupted before anything was measured"),
        Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => return Err(error),
    };
    let cpus = common_cpus(&slots);
    if cpus.is_empty() {
        watcher.warn(&"the environments have no CPU in common: nothing is pinned".into());
    }
    let first_start = slots.iter().map(|slot| slot.started_in).sum();
    let mut driver = Driver {
        plan,
        settings,
        watcher,
        order: Order::new(plan.seed, slots.len(), plan.cases.len(), &cpus),
        cases: plan.cases.iter().map(|_| CaseState::new(slots.len())).collect(),
        slots,
        cpus: cpus.len(),
        launches: Launches::new(first_start, plan),
        inspected: false,
        start: Instant::now(),
    };
    let reason = match driver.prepare().and_then(|()| driver.measure()) {
        Ok(reason) => reason,
        Err(Stop::Interrupted) => EndReason::Interrupted,
        Err(Stop::Failed(error)) => return Err(error),
    };
    let end = End { reason, elapsed_s: driver.start.elapsed().as_secs_f64() };
    driver.watcher.record(Record::End(end.clone()))?;
    // All agents are told first, so that they end at the same time and not one after another.
    driver.slots.iter_mut().filter_map(|slot| slot.session.as_mut()).for_each(Session::dismiss);
    remove_leftovers(driver.slots, plan, settings);
    Ok(end)
}

/// Removes what environments left that did not start again: no agent of theirs could. Their target
/// directories may be other ones on this side, where nothing has this run's token then.
fn remove_leftovers(slots: Vec<Slot>, plan: &Plan, settings: &SessionSettings<'_>) {
    let is_lost = |slot: &Slot| slot.session.is_none();
    let lost: Vec<String> =
        slots.iter().filter(|it| is_lost(it)).map(|it| it.spec.name.clone()).collect();
    // The agents that still live keep files of the same names until they have ended.
    drop(slots);
    for spec in plan.environments.iter().filter(|spec| lost.contains(&spec.name)) {
        for dir in plan.dirs_in(spec) {
            remove_own(Path::new(&dir.path), &settings.token);
        }
    }
}

/// Why the driver stops in the middle.
enum Stop {
    Interrupted,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Failed(error)
    }
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Self {
        Stop::Interrupted
    }
}

struct Driver<'a> {
    plan: &'a Plan,
    settings: &'a SessionSettings<'a>,
    watcher: &'a mut dyn Watcher,
    order: Order,
    slots: Vec<Slot>,
    cases: Vec<CaseState>,
    /// CPUs that all environments have in common.
    cpus: usize,
    launches: Launches,
    /// Whether programs and inputs of the commands were recorded.
    inspected: bool,
    /// The beginning of the first round. The budget counts from here.
    start: Instant,
}

impl Driver<'_> {
    /// The slot of the reference.
    fn reference(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.spec.name == self.plan.reference)
    }

    /// The reason why the case cannot be measured in this environment, if there is one.
    fn obstacle(&self, case: usize, slot: usize) -> Option<(OutcomeState, Failure)> {
        let (planned, slot) = (&self.plan.cases[case], &self.slots[slot]);
        let case = &planned.case;
        let needed = match case.params.get("cpu") {
            Some("same") => 1,
            Some("other") => 2,
            _ => 0,
        };
        let Some(session) = &slot.session else {
            return Some((OutcomeState::Failed, slot.error.clone().unwrap_or_default()));
        };
        let workload = planned.command().and_then(CommandCase::workload);
        let data = workload.filter(|workload| workload.has_data()).map(|it| it.dir());
        if let Some(reason) = data.and_then(|dir| slot.bad_dirs.get(dir)) {
            return Some((OutcomeState::Skipped, reason.as_str().into()));
        }
        if let Some(error) = case.dir.as_deref().and_then(|dir| slot.bad_dirs.get(dir)) {
            return Some((OutcomeState::Failed, error.as_str().into()));
        }
        if self.cpus < needed {
            let reason = format!("needs {needed} CPUs common to all, there are {}", self.cpus);
            return Some((OutcomeState::Skipped, reason.into()));
        }
        let same = |it: &&UnavailableCase| it.probe == case.probe && it.params == case.params;
        let it = session.hello.unavailable.iter().find(same)?;
        Some((OutcomeState::Skipped, Failure::new(&it.reason).or_remedy(&it.remedy)))
    }

    /// Measures laps of rounds until every case is known or the budget is over.
    fn measure(&mut self) -> Result<EndReason, Stop> {
        loop {
            let active = |case: &usize| self.cases[*case].is_active();
            let active: Vec<usize> = (0..self.cases.len()).filter(active).collect();
            if active.is_empty() {
                let short = self.cases.iter().any(|state| state.left_out);
                return Ok(if short { EndReason::Budget } else { EndReason::Precision });
            }
            if self.launches.due(self.plan, self.start.elapsed()) {
                self.launch_again()?;
            }
            self.record_host()?;
            let whole = self.lap(&active)?;
            if !std::mem::replace(&mut self.inspected, true) {
                self.inspect()?;
            }
            if !whole {
                return Ok(EndReason::Budget);
            }
            let now = self.start.elapsed();
            self.launches.lap(now);
            if self.launches.look_due(self.plan, now) {
                self.look();
            }
        }
    }

    /// Measures one round of each of these cases. Returns whether the budget was enough for all.
    fn lap(&mut self, cases: &[usize]) -> Result<bool, Stop> {
        let order = match self.plan.fixed_order {
            true => cases.to_vec(),
            false => self.order.lap(cases),
        };
        for case in order {
            let elapsed_s = self.start.elapsed().as_secs_f64();
            if self.plan.stop.budget_s().is_some_and(|budget| elapsed_s >= budget) {
                return Ok(false);
            }
            self.round(case)?;
            self.tell_progress();
        }
        Ok(true)
    }

    /// Ends every environment and starts it again, in random order.
    fn launch_again(&mut self) -> Result<(), Stop> {
        let begin = Instant::now();
        let cold = self.launches.next_is_cold(self.plan);
        for slot in self.order.lap(&(0..self.slots.len()).collect::<Vec<_>>()) {
            if self.slots[slot].session.is_none() {
                continue;
            }
            if cold {
                sys::drop_caches().context("emptying the page caches")?;
            }
            self.slots[slot].start_again(self.plan, self.settings)?;
            if self.slots[slot].session.is_none() {
                // A case that failed in one of many rounds may succeed in the next.
                self.slots[slot].relaunch(self.plan, self.settings)?;
            }
            match self.slots[slot].launch(self.launches.number + 1, cold) {
                Some(launch) => self.watcher.record(Record::Launch(launch))?,
                None => {
                    let error = self.slots[slot].error.clone().unwrap_or_default();
                    self.watcher.warn(&error);
                    self.give_up(slot, &error)?;
                }
            }
        }
        self.launches.again(begin.elapsed(), self.start.elapsed());
        Ok(())
    }

    fn record_host(&mut self) -> Result<()> {
        let load = facts::load();
        self.watcher.record(Record::Host(runfile::Host {
            at_ns: self.start.elapsed().as_nanos() as u64,
            steal_ticks: load.ticks.map(|ticks| ticks.steal),
            busy_ticks: load.ticks.map(|ticks| ticks.busy),
            total_ticks: load.ticks.map(|ticks| ticks.total),
            load_1min: load.average,
        }))
    }

    /// One block of the case in every environment.
    fn round(&mut self, case: usize) -> Result<(), Stop> {
        let mut draw = self.order.round(case);
        if self.plan.cases[case].is_command() {
            // A whole command runs on any CPU.
            draw.cpu = None;
        }
        // The first round of a launch fills caches, as the very first round does.
        let launch = self.launches.number;
        let warmed = self.cases[case].warm.filter(|warm| warm.0 == launch).map_or(0, |warm| warm.1);
        let warm_up = warmed <= self.plan.commands.as_ref().map_or(0, |rules| rules.warmup);
        let round = if warm_up { 0 } else { self.cases[case].rounds };
        for (place, &slot) in draw.environments.iter().enumerate() {
            let Some(size) = self.cases[case].cells[slot].size else { continue };
            self.place_launcher(case, slot, &draw);
            let ask = match self.command_task(case, slot, warm_up) {
                Some(task) => Ask::Run { task: Box::new(task) },
                None => Ask::Block { task: self.task(case, slot, &draw), size },
            };
            let cpu_before = self.outside_cpu_ns(slot);
            let runnable = facts::runnable();
            let asked = self.start.elapsed();
            let answer = self.ask(case, slot, ask)?;
            let outer_ns = (self.start.elapsed() - asked).as_nanos() as u64;
            let cpu = cpu_before.zip(self.outside_cpu_ns(slot));
            if let Some(folder) = self.output_folder(case) {
                self.keep_output(case, slot, &folder)?;
            }
            let Some(answer) = answer else { continue };
            let phases = self.plan.cases[case].phases.len();
            let set = match answer {
                Answer::Block(set) => check_block(&set, phases, &size).map(|()| *set),
                _ => Err(anyhow!("is no block")),
            };
            let set = match set {
                Ok(set) => set,
                Err(error) => {
                    let failure = format!("the agent's answer {error:#}").into();
                    self.outcome(case, slot, OutcomeState::Failed, failure)?;
                    continue;
                }
            };
            if round > 0 {
                let timed = self.plan.cases[case].timed_phases();
                self.cases[case].cells[slot].add(round, &set, timed, launch);
            }
            self.watcher.record(Record::Block(runfile::Block {
                env: self.slots[slot].spec.name.clone(),
                case,
                round,
                place,
                cpu: draw.cpu,
                asked_ns: asked.as_nanos() as u64,
                outer_ns,
                runnable,
                launch: self.launches.number,
                // If the agent died meanwhile, its CPU time is lost.
                outside_cpu_ns: cpu.and_then(|(before, after)| after.checked_sub(before)),
                set,
            }))?;
        }
        if warm_up {
            self.cases[case].warm = Some((launch, warmed + 1));
        }
        if !warm_up || self.cases[case].rounds == 0 {
            self.cases[case].rounds += 1;
        }
        let rounds = self.plan.stop.rounds();
        self.cases[case].finished = rounds.is_some_and(|wanted| round >= wanted);
        Ok(())
    }

    fn outside_cpu_ns(&self, slot: usize) -> Option<u64> {
        self.slots[slot].session.as_ref()?.outside_cpu_ns()
    }

    /// Pins the launcher if the round is pinned.
    fn place_launcher(&self, case: usize, slot: usize, draw: &Draw) {
        let Some(session) = &self.slots[slot].session else { return };
        let free = self.plan.cases[case].case.params.get("cpu") == Some("free");
        session.place_launcher(draw.cpu.filter(|_| !free));
    }

    fn task(&self, index: usize, slot: usize, draw: &Draw) -> Task {
        let case: Case = self.plan.cases[index].case.clone();
        let spec = &self.plan.environments[slot];
        let dir_path = case.dir.as_deref().and_then(|dir| self.plan.dir_path(spec, dir));
        let limit = self.settings.answer_limit;
        Task {
            dir_path: dir_path.map(str::to_owned),
            case,
            token: self.settings.token.clone(),
            cpu: draw.cpu,
            other_cpu: draw.other_cpu,
            // The agent gives up on its worker before the controller gives up on the agent.
            time_limit_ms: (limit.as_millis() as u64 * 4 / 5).max(1),
        }
    }

    fn tell_progress(&mut self) {
        let widths = self.cases.iter().enumerate().filter(|(_, state)| !state.finished);
        let widest = widths
            .filter_map(|(index, state)| state.width.map(|(width, slot)| (width, index, slot)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        self.watcher.progress(&Progress {
            elapsed: self.start.elapsed(),
            budget: self.plan.stop.budget_s().map(Duration::from_secs_f64),
            finished: self.cases.iter().filter(|state| state.finished).count(),
            cases: self.cases.len(),
            rounds: self.rounds_of_all(),
            widest: widest.map(|(width, case, slot)| {
                (width, format!("{} in {}", self.plan.cases[case].case, self.slots[slot].spec.name))
            }),
        });
    }
}
