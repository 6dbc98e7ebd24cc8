//! Estimators: numbers in, numbers out. Each formula names its source. `contrast.rs` is the only
//! estimator of costs and ratios that others ask; the rest are its parts and single formulas.
//!
//! May use nothing else of this program. Must not know its nouns or its files.

mod autocorrelation;
mod block;
mod by_launch;
mod contrast;
mod estimate;
mod groups;
mod levels;
mod line;
mod multiple;
mod power;
mod prediction;
mod quantile;
mod quantum;
mod rank;
mod ratio;
mod slope;

pub use autocorrelation::is_autocorrelated;
pub use block::{block_floor, block_mean};
pub use contrast::{Between, Contrast, Effect, Round, Series, centre};
pub use estimate::{Estimate, plain_mean, two_means, yuen};
use groups::groups;
pub use levels::Level;
#[cfg(test)]
pub use levels::levels;
pub use line::{Line, fit_line};
pub use multiple::{FAMILY_LEVEL, holm};
pub use power::{detectable, needed};
pub use prediction::prediction;
pub use quantile::{counted_quantile, quantile};
pub use quantum::quantum;
pub use rank::rank_p_value;
pub use ratio::ratio_of_locations;
pub use slope::{Slope, median_slope};
