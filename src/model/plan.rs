//! The plan of a run: everything that decides what the run does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::command::{CommandCase, CommandRules};
use super::environment::{EnvSpec, TargetDir};
use super::phase::Phase;
use super::stop::{LaunchCount, Stop};

/// A case of the plan, with what a reader of the run file needs to name its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "PlannedCaseRecord", into = "PlannedCaseRecord")]
pub struct PlannedCase {
    pub case: Case,
    /// The parts that have figures of their own; the timed ones first.
    pub phases: Vec<Phase>,
    /// What one iteration is.
    pub unit: String,
    pub work: Work,
}

/// The work of one block of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// A worker of envtax repeats the operation of the case's probe.
    Probe,
    /// A whole command is run once.
    Command(CommandCase),
}

impl PlannedCase {
    /// How many of the phases are timed; these are the first ones.
    pub fn timed_phases(&self) -> usize {
        self.phases.iter().filter(|phase| phase.timed).count()
    }

    pub fn is_command(&self) -> bool {
        matches!(self.work, Work::Command(_))
    }

    /// The whole command, if the case is one.
    pub fn command(&self) -> Option<&CommandCase> {
        match &self.work {
            Work::Probe => None,
            Work::Command(case) => Some(case),
        }
    }
}

/// [`PlannedCase`] as it is written in run files.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlannedCaseRecord {
    #[serde(flatten)]
    case: Case,
    phases: Vec<Phase>,
    unit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<CommandCase>,
}

impl From<PlannedCaseRecord> for PlannedCase {
    fn from(record: PlannedCaseRecord) -> PlannedCase {
        let PlannedCaseRecord { case, phases, unit, command } = record;
        PlannedCase { case, phases, unit, work: command.map_or(Work::Probe, Work::Command) }
    }
}

impl From<PlannedCase> for PlannedCaseRecord {
    fn from(planned: PlannedCase) -> PlannedCaseRecord {
        let PlannedCase { case, phases, unit, work } = planned;
        let command = match work {
            Work::Probe => None,
            Work::Command(case) => Some(case),
        };
        PlannedCaseRecord { case, phases, unit, command }
    }
}

/// Everything that decides what a run does; with the seed it also decides the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "PlanRecord", into = "PlanRecord")]
pub struct Plan {
    pub environments: Vec<EnvSpec>,
    /// Name of the reference.
    pub reference: String,
    pub cases: Vec<PlannedCase>,
    /// Numbers of the cases that the user named singly. A short budget leaves out others only.
    pub named: BTreeSet<usize>,
    pub dirs: Vec<TargetDir>,
    pub seed: u64,
    pub stop: Stop,
    pub launches: LaunchCount,
    /// Every second start after the first has empty page caches.
    pub cold_launches: bool,
    /// The cases of each lap are measured in the order of `cases`, and not in random order.
    pub fixed_order: bool,
    /// Number of busy processes that envtax runs beside the measurement.
    pub load: u32,
    /// The rules for whole commands, if the cases are commands.
    pub commands: Option<CommandRules>,
}

impl Plan {
    /// The target directories with their paths in that environment.
    pub fn dirs_in(&self, environment: &EnvSpec) -> Vec<TargetDir> {
        let own = |dir: &TargetDir| match environment.dirs.get(&dir.name) {
            Some(path) => TargetDir { path: path.clone(), made: String::new(), ..dir.clone() },
            None => dir.clone(),
        };
        self.dirs.iter().map(own).collect()
    }

    /// Path of the target directory of that name in that environment.
    pub fn dir_path<'a>(&'a self, environment: &'a EnvSpec, name: &str) -> Option<&'a str> {
        let own = environment.dirs.get(name);
        let common = || self.dirs.iter().find(|dir| dir.name == name).map(|dir| &dir.path);
        own.or_else(common).map(String::as_str)
    }

    /// The words that run that case in that environment. The agent replaces `{out}`.
    pub fn command_words(
        &self,
        environment: &EnvSpec,
        case: &CommandCase,
        input: Option<&str>,
    ) -> Vec<String> {
        match case.workload() {
            Some(workload) => {
                workload.words(self.dir_path(environment, workload.dir()).unwrap_or_default())
            }
            None => case.words(case.template(&environment.command), input),
        }
    }
}

/// [`Plan`] as it is written in run files.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlanRecord {
    environments: Vec<EnvSpec>,
    reference: String,
    cases: Vec<PlannedCase>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    named: BTreeSet<usize>,
    dirs: Vec<TargetDir>,
    seed: u64,
    precision: f64,
    budget_s: f64,
    min_rounds: u32,
    /// Zero: as many as the budget allows.
    #[serde(default)]
    launches: u32,
    #[serde(default)]
    cold_launches: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fixed_order: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    load: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commands: Option<CommandRulesRecord>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CommandRulesRecord {
    #[serde(flatten)]
    rules: CommandRules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runs: Option<u32>,
}

impl From<PlanRecord> for Plan {
    fn from(record: PlanRecord) -> Plan {
        let runs = record.commands.as_ref().and_then(|commands| commands.runs);
        Plan {
            environments: record.environments,
            reference: record.reference,
            cases: record.cases,
            named: record.named,
            dirs: record.dirs,
            seed: record.seed,
            stop: Stop::from_record(record.precision, record.budget_s, record.min_rounds, runs),
            launches: match record.launches {
                0 => LaunchCount::Affordable,
                number => LaunchCount::Exactly(number),
            },
            cold_launches: record.cold_launches,
            fixed_order: record.fixed_order,
            load: record.load,
            commands: record.commands.map(|commands| commands.rules),
        }
    }
}

impl From<Plan> for PlanRecord {
    fn from(plan: Plan) -> PlanRecord {
        let (precision, budget_s) = plan.stop.recorded();
        let runs = plan.stop.rounds();
        PlanRecord {
            environments: plan.environments,
            reference: plan.reference,
            cases: plan.cases,
            named: plan.named,
            dirs: plan.dirs,
            seed: plan.seed,
            precision,
            budget_s,
            min_rounds: plan.stop.min_rounds(),
            launches: match plan.launches {
                LaunchCount::Affordable => 0,
                LaunchCount::Exactly(number) => number,
            },
            cold_launches: plan.cold_launches,
            fixed_order: plan.fixed_order,
            load: plan.load,
            commands: plan.commands.map(|rules| CommandRulesRecord { rules, runs }),
        }
    }
}
