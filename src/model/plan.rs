//! The plan of a run: everything that decides what the run does.

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::command::{CommandCase, CommandRules, DATA_DIR};
use super::environment::{EnvSpec, TargetDir};
use super::phase::Phase;

/// A case of the plan, with what a reader of the run file needs to name its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedCase {
    #[serde(flatten)]
    pub case: Case,
    /// The parts that have figures of their own; the timed ones first.
    pub phases: Vec<Phase>,
    /// What one iteration is.
    pub unit: String,
    /// A run of the environment's whole command, and what differs between its cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandCase>,
}

impl PlannedCase {
    /// How many of the phases, the first ones, are timed.
    pub fn timed_phases(&self) -> usize {
        self.phases.iter().filter(|phase| phase.timed).count()
    }
}

/// Everything that decides what a run does; with the seed it also decides the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub environments: Vec<EnvSpec>,
    /// Name of the environment the others are divided by.
    pub reference: String,
    pub cases: Vec<PlannedCase>,
    pub dirs: Vec<TargetDir>,
    pub seed: u64,
    /// Half-width of the 95 % interval at which a tax counts as known, as a share (0.02 is 2 %).
    pub precision: f64,
    pub budget_s: f64,
    /// No case is called finished with fewer rounds than this.
    pub min_rounds: u32,
    /// How often each environment is started; zero for as often as the budget allows.
    #[serde(default)]
    pub launches: u32,
    /// Every second start after the first is with empty page caches.
    #[serde(default)]
    pub cold_launches: bool,
    /// How whole commands are run, where the cases are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandRules>,
}

impl Plan {
    /// The target directories as that environment has them.
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

    /// What is run for that case in that environment; `{out}` is left to the agent.
    pub fn command_words(
        &self,
        environment: &EnvSpec,
        case: &CommandCase,
        input: Option<&str>,
    ) -> Vec<String> {
        match &case.workload {
            Some(workload) => {
                workload.words(self.dir_path(environment, DATA_DIR).unwrap_or_default())
            }
            None => case.words(&environment.command, input),
        }
    }
}
