//! The only part that starts processes: agents and the rounds they measure in.

mod around;
mod guard;
mod launches;
mod lodging;
mod made;
mod order;
mod outputs;
mod points;
mod rounds;
mod seat;
mod session;
mod tool;
mod vigil;
mod workloads;

pub use around::around;
pub use guard::{Guard, keep_guard};
pub use lodging::remedy;
pub use made::make_dirs;
pub use points::{Points, make_points};
pub use rounds::{Progress, RunSettings, Watcher, run};
pub use session::{Session, SessionSettings, Trouble};
pub use workloads::make_data;
