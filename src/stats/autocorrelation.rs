//! Whether values resemble the ones that were measured just before them.

use super::estimate::{mean, winsorised};

/// Values below which nothing is said.
const FEWEST: usize = 15;
/// Autocorrelation from which intervals are visibly too narrow: with launches as the unit, those of
/// a first-order process with 0.3 hold the truth in 93 %, with 0.6 in 90 % (docs/METHODOLOGY.md).
const VISIBLE: f64 = 0.3;
/// Standard errors, 1 / sqrt(n), beyond which an autocorrelation is no chance: 1 in 100 of
/// independent values lies there (M. S. Bartlett, J. R. Stat. Soc. Suppl. 8, 1946).
const CERTAIN: f64 = 2.33;

/// The correlation of each value with the one before it, over values winsorised as for the trimmed
/// mean, in the order in which they were measured. Starts that differ show in it as well. None for
/// fewer than 15 values, and where all are the same.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < FEWEST {
        return None;
    }
    let (values, _) = winsorised(values);
    let centre = mean(&values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let pairs = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre));
    let found = pairs.sum::<f64>() / squares;
    found.is_finite().then_some(found)
}

/// Whether the autocorrelation of that many values is more than chance, and large enough to make
/// intervals too narrow.
pub fn is_autocorrelated(correlation: f64, count: usize) -> bool {
    correlation > VISIBLE.max(CERTAIN / (count as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_changes_are_seen_and_alternation_is_negative() {
        let slow: Vec<f64> = (0..40).map(|index| (f64::from(index) / 6.0).sin()).collect();
        assert!(autocorrelation(&slow).unwrap() > 0.9);
        let alternating: Vec<f64> = (0..40).map(|index| f64::from(index % 2)).collect();
        assert!(autocorrelation(&alternating).unwrap() < -0.9);
        assert_eq!(autocorrelation(&slow[..14]), None);
        assert_eq!(autocorrelation(&[1.0; 20]), None);
    }

    /// 15 values of a ramp: winsorised at the fourth value from each end, -4 to 4 about the centre;
    /// squares 188, products of neighbours 164.
    #[test]
    fn the_figure_is_that_of_the_winsorised_values() {
        let ramp: Vec<f64> = (0..15).map(f64::from).collect();
        let squares = 2.0 * (4.0 * 16.0 + 9.0 + 4.0 + 1.0);
        let products = 2.0 * (3.0 * 16.0 + 12.0 + 6.0 + 2.0);
        assert!((autocorrelation(&ramp).unwrap() - products / squares).abs() < 1e-12);
    }

    #[test]
    fn few_values_need_a_larger_correlation() {
        assert!(!is_autocorrelated(0.4, 16));
        assert!(is_autocorrelated(0.4, 60));
        assert!(!is_autocorrelated(0.25, 1000));
    }
}
