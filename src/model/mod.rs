//! The nouns that all layers share: plans, cases, facts, failures. Pure data. May use nothing else
//! of this program. Must not touch a process, a file or a clock.

mod block;
mod case;
mod command;
mod environment;
mod fact_table;
mod failure;
mod phase;
mod plan;
mod stop;
pub mod suggest;
mod visible;

pub use block::{Extras, SampleSet, Usage};
pub use case::{Case, Params};
pub use command::{
    COMMAND, CommandCase, CommandPhase, CommandRules, DATA_DIR, EMPTY_SHELL, Executed, REENACTMENT,
    WorkloadCase,
};
pub use environment::{
    Availability, CONTAINER_CAPABILITIES, ClockFacts, EnvSpec, Facts, TargetDir, is_name,
};
pub use fact_table::{FACTS, FactValue, fact};
pub use failure::{Details, Failure};
pub use phase::{Phase, Quantity};
pub use plan::{Plan, PlannedCase, Work};
pub use stop::{LaunchCount, Stop};
pub use visible::{visible, visible_json, visible_line};
