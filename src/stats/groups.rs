//! Tests whether groups of values differ by more than the values within them.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::estimate::{Estimate, mean, variance};

/// What a one-way analysis of variance says (R. A. Fisher, Statistical Methods for Research
/// Workers, 1925; for unequal groups R. R. Sokal and F. J. Rohlf, Biometry, 9.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Groups {
    pub count: usize,
    /// Standard deviation that the groups add to that of the values within them; zero when the
    /// values explain all of it.
    pub deviation: f64,
    /// Probability of groups as different as these, if they were one.
    pub p_value: f64,
    /// The mean of the groups' means, which is what there is to know when groups are the unit.
    pub means: Estimate,
}

/// Analyses groups of values. None for fewer than two groups of two values or more: smaller ones
/// are left out.
pub fn groups(values: &[Vec<f64>]) -> Option<Groups> {
    let kept: Vec<&Vec<f64>> = values.iter().filter(|group| group.len() >= 2).collect();
    if kept.len() < 2 {
        return None;
    }
    let sizes: Vec<f64> = kept.iter().map(|group| group.len() as f64).collect();
    let total: f64 = sizes.iter().sum();
    let count = kept.len() as f64;
    let means: Vec<f64> = kept.iter().map(|group| mean(group)).collect();
    let all = kept.iter().map(|group| group.iter().sum::<f64>()).sum::<f64>() / total;
    let (between_freedom, within_freedom) = (count - 1.0, total - count);
    let squares = sizes.iter().zip(&means).map(|(size, mean)| size * (mean - all).powi(2));
    let between = squares.sum::<f64>() / between_freedom;
    let spreads = kept.iter().zip(&sizes).map(|(group, size)| variance(group) * (size - 1.0));
    let within = spreads.sum::<f64>() / within_freedom;
    let p_value = match (within > 0.0, between > 0.0) {
        (true, _) => {
            let ratio = FisherSnedecor::new(between_freedom, within_freedom)
                .expect("there are degrees of freedom on both sides");
            ratio.sf(between / within)
        }
        (false, true) => 0.0,
        (false, false) => 1.0,
    };
    // The size that unequal groups count as.
    let size =
        (total - sizes.iter().map(|size| size * size).sum::<f64>() / total) / between_freedom;
    Some(Groups {
        count: kept.len(),
        deviation: ((between - within) / size).max(0.0).sqrt(),
        p_value,
        means: Estimate {
            value: mean(&means),
            error: (variance(&means) / count).sqrt(),
            freedom: between_freedom,
            count: kept.len(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of the NIST/SEMATECH e-Handbook of Statistical Methods, 7.4.3.3: F is
    /// 9.59 with 2 and 12 degrees of freedom.
    #[test]
    fn the_analysis_follows_the_handbook() {
        let values = [
            vec![6.9, 5.4, 5.8, 4.6, 4.0],
            vec![8.3, 6.8, 7.8, 9.2, 6.5],
            vec![8.0, 10.5, 8.1, 6.9, 9.3],
        ];
        let found = groups(&values).unwrap();
        assert!((found.p_value - 0.00325).abs() < 0.0002, "{found:?}");
        assert!((found.means.value - 7.206_67).abs() < 1e-4, "{found:?}");
        // (13.98 - 1.4573) / 5 is the variance between groups.
        assert!((found.deviation - 1.5826).abs() < 0.01, "{found:?}");
        assert_eq!((found.count, found.means.freedom), (3, 2.0));
    }

    #[test]
    fn groups_that_are_alike_add_nothing() {
        let found = groups(&[vec![1.0, 2.0, 3.0], vec![3.0, 2.0, 1.0], vec![2.0]]).unwrap();
        assert_eq!((found.deviation, found.p_value), (0.0, 1.0));
        assert_eq!(found.count, 2, "a single value shows no spread");
        assert_eq!(groups(&[vec![1.0, 2.0], vec![5.0]]), None);
        assert_eq!(groups(&[vec![1.0, 1.0], vec![2.0, 2.0]]).unwrap().p_value, 0.0);
    }
}
