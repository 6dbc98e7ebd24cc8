//! Tests whether one value rises with another, by their ranks.

use statrs::distribution::ContinuousCDF;

use super::estimate::student;

/// Fewer pairs than this show nothing.
const PAIRS: usize = 12;

/// The p-value of Spearman's rank correlation of the pairs: two-sided, by Student's t with n - 2
/// degrees of freedom (W. H. Press et al., Numerical Recipes, 14.6). None if there are fewer than
/// twelve pairs, or if one of the two never changes.
pub fn rank_p_value(pairs: &[(f64, f64)]) -> Option<f64> {
    let rho = spearman(pairs)?;
    let freedom = pairs.len() as f64 - 2.0;
    let left = 1.0 - rho * rho;
    Some(match left > 0.0 {
        true => 2.0 * student(freedom).cdf(-rho.abs() * (freedom / left).sqrt()),
        false => 0.0,
    })
}

/// The rank correlation, from -1 to 1; equal values share the mean of their ranks (C. Spearman,
/// American Journal of Psychology 15, 1904).
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < PAIRS {
        return None;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let (spread_a, spread_b) = (product(&a, &a), product(&b, &b));
    let changes = spread_a > 0.0 && spread_b > 0.0;
    changes.then(|| (product(&a, &b) / (spread_a * spread_b).sqrt()).clamp(-1.0, 1.0))
}

/// The rank of each value, from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for equal in ascending(values).chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|at| ranks[*at] = rank);
        start += equal.len();
    }
    ranks
}

/// The indices of the values, in ascending order of the values.
pub(super) fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_what_is_equal() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    /// IQ and hours of television, the worked example of many textbooks: rho is -29/165 with ten
    /// pairs. The same pairs twice keep it, up to the shared ranks.
    #[test]
    fn the_worked_example_is_found() {
        let iq = [106.0, 86.0, 100.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 0.0, 27.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        let once: Vec<(f64, f64)> = iq.into_iter().zip(hours).collect();
        assert_eq!(rank_p_value(&once), None, "too few");
        let twice = [once.clone(), once].concat();
        let rho = spearman(&twice).unwrap();
        assert!((rho + 29.0 / 165.0).abs() < 0.01, "{rho}");
        assert!(rank_p_value(&twice).unwrap() > 0.3);
    }

    #[test]
    fn what_rises_with_the_other_is_certain_and_what_stays_tells_nothing() {
        let rising: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert_eq!((spearman(&rising), rank_p_value(&rising)), (Some(1.0), Some(0.0)));
        let still: Vec<(f64, f64)> = (0..20).map(|i| (1.0, f64::from(i))).collect();
        assert_eq!(rank_p_value(&still), None);
    }
}
