//! The rounds of whole commands: the request for one run, and its data.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::cells::CaseState;
use super::{Driver, Stop};
use crate::control::kept_outputs;
use crate::control::settings::AgentError;
use crate::model::{DATA_DIR, Executed, Failure};
use crate::protocol::{Answer, Ask, CommandTask};
use crate::runfile::{Inspected, Record};

impl Driver<'_> {
    /// Records the programs and inputs of the commands, in every environment. This is done after
    /// the commands' first runs: before, it would fill the caches for them.
    pub(super) fn inspect(&mut self) -> Result<(), Stop> {
        let rules = self.plan.commands.clone().unwrap_or_default();
        let cases = self.plan.cases.iter().filter_map(|planned| planned.command());
        for (slot, spec) in self.slots.iter_mut().zip(&self.plan.environments) {
            let programs: BTreeSet<_> = cases.clone().map(|it| it.program(&spec.command)).collect();
            let files: BTreeSet<_> = cases.clone().flat_map(|it| it.files(&rules)).collect();
            let Some(session) = slot.session.as_mut().filter(|_| !programs.is_empty()) else {
                continue;
            };
            let ask = Ask::Inspect {
                programs: programs.iter().cloned().collect(),
                files: files.iter().cloned().collect(),
            };
            let answers = match session.ask(ask, self.settings) {
                Ok(Answer::Inspected { programs, files }) => (programs, files),
                Err(AgentError::Interrupted) => return Err(Stop::Interrupted),
                // This failure is worth a warning, but it does not spoil the figures.
                _ => {
                    let name = &spec.name;
                    let text = format!("`{name}` does not say what its programs and inputs are");
                    self.watcher.warn(&text.into());
                    slot.start_again(self.plan, self.settings)?;
                    continue;
                }
            };
            self.watcher.record(Record::Inspected(Inspected {
                env: spec.name.clone(),
                programs: programs.into_iter().zip(answers.0).collect(),
                files: files.into_iter().zip(answers.1).collect(),
            }))?;
        }
        Ok(())
    }

    /// The task for the next run of the case's command; none for a probe.
    pub(super) fn command_task(
        &self,
        index: usize,
        slot: usize,
        warm_up: bool,
    ) -> Option<CommandTask> {
        let case = self.plan.cases[index].command()?;
        let mut rules = self.plan.commands.clone().unwrap_or_default();
        let spec = &self.plan.environments[slot];
        let token = self.settings.token.clone();
        let time_limit_ms = (rules.timeout_s * 1e3) as u64;
        if let Executed::Words(words) = &case.executed {
            let words = words.clone();
            return Some(CommandTask { words, token, time_limit_ms, ..CommandTask::default() });
        }
        let place = |path: String| self.slots[slot].staged.get(&path).cloned().unwrap_or(path);
        let input = case.input.clone().map(place);
        let words = |words: &[String]| case.words(words, input.as_deref());
        let workload = case.workload();
        let dir = workload.map_or(DATA_DIR, |workload| workload.dir());
        let data = self.plan.dir_path(spec, dir).unwrap_or_default();
        let filled = |it: &Vec<String>| match workload {
            Some(workload) => workload.filled(&words(it), data),
            None => words(it),
        };
        let fill = |all: &[Vec<String>]| all.iter().map(filled).collect();
        let stdin = rules.stdin.take().map(|path| place(words(&[path]).concat()));
        Some(CommandTask {
            words: self.plan.command_words(spec, case, input.as_deref()),
            needs: workload.map(|it| it.needs.clone()).unwrap_or_default(),
            prepare: fill(&rules.prepare),
            conclude: fill(&rules.conclude),
            inputs: input
                .iter()
                .chain(&stdin)
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            keep_errors: warm_up,
            keep_output: self.output_folder(index).is_some(),
            stdin,
            cold: input.into_iter().filter(|_| rules.cold).collect(),
            check_output: rules.verify_output,
            ignore_failure: rules.ignore_failure,
            settle: rules.settle,
            reports: workload.is_some_and(|it| it.is_reenactment()),
            token,
            time_limit_ms,
        })
    }

    /// The folder for the output of the command's next run, if it is to be kept. Only the output of
    /// the first run is kept, so that the runs that count write where they would otherwise.
    pub(super) fn output_folder(&self, case: usize) -> Option<PathBuf> {
        let own = !matches!(self.plan.cases[case].command()?.executed, Executed::Words(_));
        let folder = self.plan.commands.as_ref()?.keep_output.clone();
        folder.filter(|_| own && self.cases[case].rounds == 0)
    }

    /// Fetches what the last run wrote into that folder. The figures do not depend on it, so a
    /// failure is only reported.
    pub(super) fn keep_output(
        &mut self,
        case: usize,
        slot: usize,
        folder: &Path,
    ) -> Result<(), Stop> {
        let name = self.slots[slot].spec.name.clone();
        let Some(session) = &mut self.slots[slot].session else { return Ok(()) };
        let folder = folder.join(kept_outputs::file_name(slot, &name));
        let file =
            folder.join(kept_outputs::file_name(case, &self.plan.cases[case].case.to_string()));
        match kept_outputs::fetch(session, &file, self.settings) {
            Ok(()) => Ok(()),
            Err(AgentError::Interrupted) => Err(Stop::Interrupted),
            Err(AgentError::Dead(error) | AgentError::TimedOut(error)) => {
                let context = format!("the output in `{name}` is not kept");
                self.watcher.warn(&Failure::from(error).within(context));
                Ok(())
            }
        }
    }

    /// Rounds done and to do in all cases, if the user gives their number.
    pub(super) fn rounds_of_all(&self) -> Option<(u32, u32)> {
        let rules = self.plan.commands.as_ref()?;
        let each = self.plan.stop.rounds()? + rules.warmup + 1;
        let done = |state: &CaseState| match (state.rounds, state.warm) {
            (0 | 1, warm) => warm.map_or(0, |warm| warm.1),
            (rounds, _) => rounds + rules.warmup,
        };
        Some((self.cases.iter().map(done).sum(), each * self.cases.len() as u32))
    }
}
