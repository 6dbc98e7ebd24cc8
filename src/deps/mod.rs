//! What the libraries of a program cost its start and its exit: which it loads, programs that need
//! some of them and do nothing, and rounds in which these are started in turn.
//!
//! May use `cleanup`, `inside`, `model`, `stats`, `sys` and `units`. Must not know environments,
//! probes or run files, and must not start the program itself.

pub mod closure;
mod costs;
pub mod listing;
mod rounds;
mod text;

pub use closure::closure;
pub use costs::costs;
pub use rounds::{Rules, measure};
pub use text::text;
