//! Levels between which a cost jumps.

use super::quantile;

/// A level has at least this share of the values, and this number; fewer are outliers.
const SHARE: f64 = 0.15;
const FEWEST: usize = 4;
/// Least factor between neighbouring levels.
const APART: f64 = 1.2;
/// Least distance of two levels as a multiple of what lies between the 10 % and 90 % quantiles of
/// the wider one. Unimodal values split in two stay below it in 99 % of samples, be they normal,
/// exponential, uniform or Student's t with 1.5 degrees of freedom (docs/METHODOLOGY.md).
const DISTINCT: f64 = 2.7;

/// Values that lie close together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Median of its values.
    pub value: f64,
    /// Its part of all values.
    pub share: f64,
}

/// The levels of these logarithms, ascending; a single one if all lie close together. The values
/// are split where the sum of squares within both parts is smallest (W. D. Fisher, J. Am. Stat.
/// Assoc. 53, 1958), and each part again, as long as the parts are distinct. Without values there
/// is no level.
pub fn levels(values: &[f64]) -> Vec<Level> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = FEWEST.max((SHARE * values.len() as f64).ceil() as usize);
    let mut parts = Vec::new();
    split(&sorted, least, &mut parts);
    let level = |part: &[f64]| {
        Some(Level { value: quantile(part, 0.5)?, share: part.len() as f64 / values.len() as f64 })
    };
    parts.into_iter().filter_map(level).collect()
}

fn split<'a>(sorted: &'a [f64], least: usize, parts: &mut Vec<&'a [f64]>) {
    match best_split(sorted, least).map(|at| sorted.split_at(at)) {
        Some((low, high)) if are_distinct(low, high) => {
            split(low, least, parts);
            split(high, least, parts);
        }
        _ => parts.push(sorted),
    }
}

/// The place with the smallest sum of squares within both parts, which has the largest between
/// them. None if a part would be too small.
fn best_split(sorted: &[f64], least: usize) -> Option<usize> {
    let total: f64 = sorted.iter().sum();
    let n = sorted.len();
    let mut sum = 0.0;
    let mut best = None;
    for at in 1..n {
        sum += sorted[at - 1];
        if at < least || n - at < least {
            continue;
        }
        let (low, high) = (at as f64, (n - at) as f64);
        let between = low * high * (sum / low - (total - sum) / high).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, at));
        }
    }
    best.map(|(_, at)| at)
}

fn are_distinct(low: &[f64], high: &[f64]) -> bool {
    let middle = |part: &[f64]| quantile(part, 0.5).unwrap_or(0.0);
    let width = |part: &[f64]| {
        let (low, high) = (quantile(part, 0.1), quantile(part, 0.9));
        low.zip(high).map_or(0.0, |(low, high)| high - low)
    };
    let distance = middle(high) - middle(low);
    distance >= APART.ln() && distance >= DISTINCT * width(low).max(width(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The given number of values about each centre.
    fn about(centres: &[(f64, usize)]) -> Vec<f64> {
        let values = centres.iter().flat_map(|(centre, count)| {
            (0..*count).map(move |index| centre + (index * 37 % 23) as f64 * 2e-3)
        });
        values.collect()
    }

    #[test]
    fn levels_have_their_shares() {
        let found = levels(&about(&[(0.0, 30), (0.7, 10)]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].share, found[1].share), (0.75, 0.25));
        assert!(found[0].value < 0.05 && found[1].value > 0.7, "{found:?}");
        assert_eq!(levels(&about(&[(2.0, 10), (0.0, 30), (0.7, 10)])).len(), 3);
    }

    #[test]
    fn values_that_lie_together_are_one_level() {
        let one = |values: &[f64]| levels(values).len() == 1;
        assert!(one(&about(&[(0.0, 40)])));
        assert!(one(&about(&[(0.0, 30), (0.1, 10)])), "a tenth apart");
        assert!(one(&about(&[(0.0, 37), (2.0, 3)])), "three are outliers");
        // Quantiles of the exponential distribution, and of one with very long tails.
        let places = (1..40).map(|index| f64::from(index) / 40.0);
        assert!(one(&places.clone().map(|place| -(1.0 - place).ln()).collect::<Vec<_>>()));
        assert!(one(&places.map(|place| (3.0 * (place - 0.5)).tan()).collect::<Vec<_>>()));
        assert!(levels(&[]).is_empty());
    }
}
