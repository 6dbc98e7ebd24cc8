//! Runs a plan: sessions with agents, everything that is made for a run, and the rounds. Only this
//! folder starts processes on the controller's side; `order.rs` has everything random. May use the
//! layers on both sides of it, from `plan` to `runfile`. Must not time operations, print, or
//! compare.

mod agent_process;
pub mod answer_limits;
mod busy_processes;
mod kept_outputs;
mod launches;
mod liveness;
mod made_directories;
mod mount_points;
mod order;
mod resources;
mod rounds;
mod run_hooks;
mod session;
mod settings;
mod slot;
mod tool_version;
mod watcher;
mod workload_data;

pub use made_directories::make_dirs;
pub use mount_points::{MountPoints, make_mount_points};
pub use rounds::run;
pub use run_hooks::start_run_hooks;
pub use session::Session;
pub use settings::{AgentError, SessionSettings};
pub use watcher::{Forecast, Progress, Watcher};
pub use workload_data::{Reenactment, make_data};
