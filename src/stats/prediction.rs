//! Predicts where the next run will fall, from earlier runs.

use statrs::distribution::ContinuousCDF;

use super::estimate::{mean, student, variance};

/// Fewer runs than this predict nothing.
const FEWEST: usize = 3;

/// A range for one further value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean of the values.
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Number of values from which it is made.
    pub count: usize,
}

/// The interval in which a further value of the same normal population falls with that confidence
/// (0.95): the mean, and Student's t times the standard deviation times sqrt(1 + 1/k) about it (G.
/// J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, 4.5). Values are logarithms of one figure
/// a run. None for fewer than three.
pub fn prediction(values: &[f64], confidence: f64) -> Option<Prediction> {
    if values.len() < FEWEST {
        return None;
    }
    let k = values.len() as f64;
    let value = mean(values);
    let quantile = student(k - 1.0).inverse_cdf(0.5 + confidence / 2.0);
    let width = quantile * (variance(values) * (1.0 + 1.0 / k)).sqrt();
    Some(Prediction { value, low: value - width, high: value + width, count: values.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hahn and Meeker's example 4.1: five values with mean 50.10 and standard deviation 1.31; the
    /// 95 % interval of one further value reaches from 46.1 to 54.1.
    #[test]
    fn the_interval_is_that_of_the_book() {
        let found = prediction(&[51.4, 49.5, 48.7, 49.3, 51.6], 0.95).unwrap();
        assert!((found.value - 50.10).abs() < 0.005, "{found:?}");
        assert!((found.low - 46.1).abs() < 0.05 && (found.high - 54.1).abs() < 0.05, "{found:?}");
        assert_eq!(found.count, 5);
        assert_eq!(prediction(&[1.0, 2.0], 0.95), None);
    }
}
