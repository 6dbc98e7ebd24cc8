//! What a recording holds and what a program costs elsewhere, in words and tables; pure.
//!
//! May use `model`, `recording`, `runfile`, `stats` and `units`. Must not read, measure or print.

mod predict;
mod show;
mod text;

pub use predict::{Explanation, explain};
pub use show::{shown, summary};
pub use text::text;
