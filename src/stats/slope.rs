//! The slope of a line through points of which some may be far off.

use statrs::distribution::{ContinuousCDF, Normal};

/// MountPoints that are used at most: all pairs of them are.
const MOST: usize = 500;
/// MountPoints below which an interval has no meaning.
const FEWEST: usize = 8;

/// A slope with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The median of the slopes of all pairs of points (H. Theil, Proc. Kon. Ned. Akad. v. Wetensch. A
/// 53, 1950), with the interval from Kendall's tau (P. K. Sen, J. Am. Stat. Assoc. 63, 1968). Of
/// very many points, evenly chosen ones are used. None for fewer than eight.
pub fn median_slope(points: &[(f64, f64)]) -> Option<Slope> {
    if points.len() < FEWEST {
        return None;
    }
    let step = points.len().div_ceil(MOST);
    let points: Vec<(f64, f64)> = points.iter().copied().step_by(step).collect();
    let mut slopes = Vec::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let after = points[index + 1..].iter().filter(|(other, _)| other != x);
        slopes.extend(after.map(|(other_x, other_y)| (other_y - y) / (other_x - x)));
    }
    slopes.sort_by(f64::total_cmp);
    let value = super::quantile(&slopes, 0.5)?;
    let n = points.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let reach = Normal::standard().inverse_cdf(0.975) * deviation;
    let rank = |rank: f64| slopes[(rank.round().max(0.0) as usize).min(slopes.len() - 1)];
    let count = slopes.len() as f64;
    Some(Slope { value, low: rank((count - reach) / 2.0 - 1.0), high: rank((count + reach) / 2.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_point_does_not_turn_the_line() {
        let mut points: Vec<(f64, f64)> = (0..20)
            .map(|x| {
                (f64::from(x), 3.0 - 0.01 * f64::from(x) + [0.0, 0.002, -0.002][x as usize % 3])
            })
            .collect();
        points[7].1 = 50.0;
        let slope = median_slope(&points).unwrap();
        assert!((slope.value + 0.01).abs() < 0.0005, "{slope:?}");
        assert!(slope.low < -0.01 && -0.01 < slope.high && slope.high < -0.008, "{slope:?}");
    }

    #[test]
    fn noise_has_no_slope() {
        // A pseudo-random walk through 0 to 96, with no order in it.
        let points: Vec<(f64, f64)> =
            (1..2000).map(|x| (f64::from(x), f64::from(x * 37 % 97))).collect();
        let slope = median_slope(&points).unwrap();
        assert!(slope.low < 0.0 && 0.0 < slope.high, "{slope:?}");
        assert_eq!(median_slope(&points[..7]), None);
    }
}
