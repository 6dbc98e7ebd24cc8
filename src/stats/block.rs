//! The two figures of a block: the floor, for verdicts, and the mean, which users pay.

use super::quantile;

/// The 25 % quantile of the samples, in ns an iteration: what the operation costs when nothing else
/// ran. Not the minimum, which picks the rarer mode where a cost has two. A sample too
/// short for the clock counts as one of its nanoseconds, so that logarithms exist.
pub fn block_floor(samples: &[u64], iterations: u64) -> f64 {
    let times: Vec<f64> = samples.iter().map(|ns| *ns as f64).collect();
    quantile(&times, 0.25).unwrap_or(f64::NAN).max(1.0) / iterations as f64
}

/// The mean of the samples, in ns an iteration: what the operation cost with all that happened.
pub fn block_mean(samples: &[u64], iterations: u64) -> f64 {
    let total: f64 = samples.iter().map(|ns| *ns as f64).sum();
    total.max(1.0) / (samples.len() as f64 * iterations as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_and_mean_are_per_iteration() {
        let samples = [100, 100, 100, 100, 600];
        assert_eq!(block_floor(&samples, 10), 10.0);
        assert_eq!(block_mean(&samples, 10), 20.0);
        assert_eq!(block_floor(&[0, 0], 4), 0.25);
    }
}
