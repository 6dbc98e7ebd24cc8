//! Estimators: slices in, numbers out. The sources of the formulas are at each of them.

mod block;
mod estimate;
mod groups;
mod line;
mod multiple;
mod power;
mod quantile;
mod quantum;
mod slope;

pub use block::{block_floor, block_mean};
pub use estimate::{Estimate, plain_mean, two_means, yuen};
pub use groups::groups;
pub use line::{Line, fit_line};
pub use multiple::holm;
pub use power::{detectable, needed};
pub use quantile::{counted_quantile, quantile};
pub use quantum::quantum;
pub use slope::{Slope, median_slope};
