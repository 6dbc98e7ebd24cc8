//! Runs inside an environment: the agent, which answers the controller, and the worker, which it
//! starts for every block.
//!
//! May use `recording`, `protocol`, `probe`, `measure`, `facts`, `model`, `cleanup` and `sys`.
//! Must not know the controller, the plan or the run file: a request says everything.

pub mod agent;
pub mod command;
pub mod guest;
pub mod program;
pub mod transferred;
pub mod worker;
