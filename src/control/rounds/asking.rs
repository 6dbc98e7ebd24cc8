//! Asks agents, and decides what happens to a case without an answer.

use anyhow::Result;

use super::{Driver, Stop};
use crate::control::settings::AgentError;
use crate::launch::{self, LauncherInfo};
use crate::model::Failure;
use crate::protocol::{Answer, Ask, NO_PROGRAM};
use crate::runfile::{Outcome, OutcomeState, Record};

impl Driver<'_> {
    /// Asks the agent. A failure becomes the case's outcome in this environment. A dead agent is
    /// started again and asked a second time: perhaps the case did not kill it.
    pub(super) fn ask(
        &mut self,
        case: usize,
        slot: usize,
        ask: Ask,
    ) -> Result<Option<Answer>, Stop> {
        let mut failure = Failure::default();
        for attempt in [1, 2] {
            let Some(session) = &mut self.slots[slot].session else { break };
            match session.ask(ask.clone(), self.settings) {
                Ok(Answer::Failed(error)) => {
                    failure = match self.cases[case].cells[slot].rounds() {
                        runs if runs > 0 && self.plan.cases[case].is_command() => {
                            let s = if runs == 1 { "" } else { "s" };
                            error.within(format!("after {runs} good run{s}"))
                        }
                        _ => error,
                    };
                    break;
                }
                Ok(Answer::CannotMeasure(why)) => {
                    self.outcome(case, slot, OutcomeState::Skipped, why)?;
                    return Ok(None);
                }
                Ok(answer) => return Ok(Some(answer)),
                Err(AgentError::Interrupted) => return Err(Stop::Interrupted),
                Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
                    failure = Failure::from(error);
                    if attempt == 1 {
                        let name = &self.slots[slot].spec.name;
                        let warning = failure.clone().within(format!("starting `{name}` again"));
                        self.watcher.warn(&warning);
                    }
                    self.slots[slot].relaunch(self.plan, self.settings)?;
                }
            }
        }
        self.outcome(case, slot, OutcomeState::Failed, failure)?;
        if let Some(error) = self.slots[slot].error.clone() {
            self.watcher.warn(&error);
            self.give_up(slot, &error)?;
        }
        Ok(None)
    }

    /// The environment is lost: every case that is still to be measured there fails.
    pub(super) fn give_up(&mut self, slot: usize, error: &Failure) -> Result<(), Stop> {
        for case in 0..self.cases.len() {
            let state = &self.cases[case];
            if !state.finished && state.cells[slot].size.is_some() {
                self.outcome(case, slot, OutcomeState::Failed, error.clone())?;
            }
        }
        Ok(())
    }

    /// The failure, with the remedy of the environment's kind where a program is missing.
    fn with_remedy(&self, slot: usize, why: Failure) -> Result<Failure> {
        if !why.what.contains(NO_PROGRAM) {
            return Ok(why);
        }
        let spec = &self.slots[slot].spec;
        let info = launch::find(&spec.kind)?.info();
        // A folder that is named already has not got the program either.
        let has_root = ["root=", "rootfs="].iter().any(|name| spec.argument.contains(name));
        let remedy = if has_root { LauncherInfo::INSTALL } else { info.programs };
        Ok(why.or_remedy(remedy))
    }

    pub(super) fn outcome(
        &mut self,
        case: usize,
        slot: usize,
        state: OutcomeState,
        why: Failure,
    ) -> Result<()> {
        self.cases[case].cells[slot].size = None;
        let why = self.with_remedy(slot, why)?;
        let name = self.slots[slot].spec.name.clone();
        if state == OutcomeState::Failed && self.slots[slot].error.is_none() {
            let context = format!("{} in `{name}` failed", self.plan.cases[case].case);
            self.watcher.warn(&why.clone().within(context));
        }
        self.watcher.record(Record::Outcome(Outcome { env: name, case, state, why }))
    }
}
