//! What a recording holds and what a program costs elsewhere, in words and tables; pure.
//!
//! May use `model`, `recording`, `runfile`, `stats` and `units`. Must not read, measure or print.

mod attribute;
mod differs;
mod predict;
mod programs;
mod rounds;
mod show;
mod text;

pub use predict::{CHANGE, CHANGED, Explanation, OfEnvironment, Question, explain};
pub use programs::programs;
pub use show::{shown, summary};
pub use text::text;
