//! Estimates whose unit is the launch of the environments, and not the round.
//!
//! What a start decides is the same for all rounds of a launch, so that rounds are no independent
//! sample. Both errors here are those of the jackknife that leaves out one launch at a time (B.
//! Efron and C. Stein, Annals of Statistics 9, 1981; for means the cluster-robust variance CR3 of
//! R. M. Bell and D. F. McCaffrey, Survey Methodology 28, 2002).

use std::collections::BTreeMap;

use super::estimate::{Estimate, mean, winsorised, yuen};

/// The error is at least this part of the rounds' own, which they have if launches do not differ:
/// the deviations of few launches, or of values in coarse steps, can cancel by chance.
const LEAST: f64 = 0.5;

/// The 20 % trimmed mean of values that were measured in these launches, one number a value.
///
/// The error is the jackknife's over launches, applied to the values winsorised as in Yuen's
/// formula: with one value a launch it is Yuen's. Student's t has one degree of freedom less than
/// there are effective launches. Of a single launch the estimate is Yuen's: nothing shows what
/// another start would change. None for fewer than three values.
pub fn trimmed_mean(values: &[f64], launches: &[u32]) -> Option<Estimate> {
    let rounds = yuen(values)?;
    let (winsorised, kept) = winsorised(values);
    let centre = mean(&winsorised);
    let deviations: Vec<f64> = winsorised.iter().map(|value| value - centre).collect();
    let sums = sums(launches, &deviations);
    let Some(freedom) = freedom(&sums) else { return Some(rounds) };
    let (n, h, count) = (values.len() as f64, kept as f64, sums.len() as f64);
    let without = sums.iter().map(|launch| (launch.sum / (1.0 - launch.size / n)).powi(2));
    let squares = without.sum::<f64>() * (count - 1.0) / count * (n - 1.0) / n;
    let error = (squares * looks(freedom) / (h * (h - 1.0))).sqrt();
    let error = error.max(rounds.error * LEAST);
    Some(Estimate { error, freedom: freedom.min(rounds.freedom), ..rounds })
}

/// ln of the ratio of two arithmetic means, `own` over `base`, whose values were measured in pairs
/// in these launches. The interval of the logarithm is unequal about the ratio itself, as suits
/// means with a long tail. Of a single launch every pair counts as one. None for fewer than three
/// pairs, and where a mean without one launch is not above zero.
pub fn ratio_of_means(own: &[f64], base: &[f64], launches: &[u32]) -> Option<Estimate> {
    if own.len() < 3 {
        return None;
    }
    let each: Vec<u32> = (0..own.len() as u32).collect();
    let one = launches.iter().all(|launch| *launch == launches[0]);
    let launches = if one { &each } else { launches };
    let (own, base) = (sums(launches, own), sums(launches, base));
    let total = |sums: &[Sum]| sums.iter().map(|launch| launch.sum).sum::<f64>();
    let (all_own, all_base) = (total(&own), total(&base));
    let without: Vec<f64> = own
        .iter()
        .zip(&base)
        .map(|(own, base)| ((all_own - own.sum) / (all_base - base.sum)).ln())
        .collect();
    let value = (all_own / all_base).ln();
    let freedom = freedom(&own)?;
    let (centre, count) = (mean(&without), own.len() as f64);
    let squares: f64 = without.iter().map(|value| (value - centre).powi(2)).sum();
    let error = (squares * (count - 1.0) / count * looks(freedom)).sqrt();
    let count = own.iter().map(|launch| launch.size as usize).sum();
    (value.is_finite() && error.is_finite()).then_some(Estimate { value, error, freedom, count })
}

/// What one launch adds to a sum.
struct Sum {
    size: f64,
    sum: f64,
}

fn sums(launches: &[u32], values: &[f64]) -> Vec<Sum> {
    let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
    for (launch, value) in launches.iter().zip(values) {
        let own = sums.entry(*launch).or_insert(Sum { size: 0.0, sum: 0.0 });
        own.size += 1.0;
        own.sum += value;
    }
    sums.into_values().collect()
}

/// Degrees of freedom of these numbers of values in each launch: one less than the effective number
/// of launches, which is the number of equal ones that would weigh the same (L. Kish, Survey
/// Sampling, 1965), and at least one. None of a single launch.
fn freedom(sums: &[Sum]) -> Option<f64> {
    let total: f64 = sums.iter().map(|launch| launch.size).sum();
    let squares: f64 = sums.iter().map(|launch| launch.size.powi(2)).sum();
    (sums.len() > 1).then(|| (total * total / squares - 1.0).max(1.0))
}

/// Factor of the variance that pays for looking at the width after every launch and stopping where
/// it is small: runs end by preference where the variance looks less than it is. With it, simulated
/// intervals hold the truth in 93 to 97 % (docs/METHODOLOGY.md, simulated coverage).
fn looks(freedom: f64) -> f64 {
    (freedom + 2.0) / freedom
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::estimate::variance;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    /// The given number of values of each launch.
    fn launches(sizes: &[usize]) -> Vec<u32> {
        let of = |(launch, size): (usize, &usize)| vec![launch as u32; *size];
        sizes.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn with_one_value_a_launch_the_error_is_yuens() {
        let values = [0.3, -0.2, 0.1, 0.0, 5.0, 0.2, -0.1, 0.05, -0.3, 0.15];
        let (own, rounds) =
            (trimmed_mean(&values, &launches(&[1; 10])).unwrap(), yuen(&values).unwrap());
        assert!(close(own.value, rounds.value));
        assert!(close(own.error, rounds.error * (11.0_f64 / 9.0).sqrt()), "{own:?} {rounds:?}");
        assert_eq!(own.freedom, rounds.freedom);
        assert_eq!(
            trimmed_mean(&values, &launches(&[10])),
            Some(rounds),
            "one launch tells nothing"
        );
        assert_eq!(trimmed_mean(&values[..2], &launches(&[1, 1])), None);
    }

    /// Four values need no trimming: the trimmed mean is the mean, and the error that of the two
    /// launches' means 1 and 4, 1.5, times sqrt(n (n - 1) / (n n)) sqrt(n n / (h (h - 1))) = 1 for
    /// n = h, times sqrt(3) for two launches that were looked at.
    #[test]
    fn equal_launches_have_the_error_of_their_means() {
        let values = [0.0, 2.0, 3.0, 5.0];
        let found = trimmed_mean(&values, &launches(&[2, 2])).unwrap();
        assert!(close(found.value, 2.5));
        let means = [1.0, 4.0];
        assert!(close(found.error, (variance(&means) / 2.0 * 3.0).sqrt()), "{found:?}");
        assert_eq!((found.freedom, found.count), (1.0, 4));
    }

    /// What the schedule of earlier versions gave: the last launch has most of the rounds, and all
    /// of them together weigh as much as 1.4 equal ones.
    #[test]
    fn one_long_launch_counts_as_one() {
        let jitter = |index: usize| (index * 37 % 23) as f64 * 1e-3;
        let sizes = [4, 4, 4, 4, 88];
        let numbers = launches(&sizes);
        let effects = [0.0, 0.03, -0.02, 0.01, 0.02];
        let values: Vec<f64> = (0..numbers.len())
            .map(|index| effects[numbers[index] as usize] + jitter(index))
            .collect();
        let found = trimmed_mean(&values, &numbers).unwrap();
        assert_eq!(found.freedom, 1.0);
        assert!(found.half_width(0.95) > 0.1, "{found:?}");
        let even: Vec<u32> = (0..104).map(|index| index / 4).collect();
        assert!(trimmed_mean(&values, &even).unwrap().half_width(0.95) < 0.01);
    }

    /// Worked by hand: totals 12 and 6; without one launch 9/5, 8/4 and 7/3.
    #[test]
    fn the_ratio_of_means_is_that_of_the_sums() {
        let (own, base) = ([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]);
        let found = ratio_of_means(&own, &base, &launches(&[1, 1, 1])).unwrap();
        assert!(close(found.value, 2.0_f64.ln()));
        let without = [9.0_f64 / 5.0, 8.0 / 4.0, 7.0 / 3.0].map(f64::ln);
        let expected = (variance(&without) * 2.0 * 2.0 / 3.0 * 2.0).sqrt();
        assert!(close(found.error, expected), "{found:?}, not {expected}");
        assert_eq!((found.freedom, found.count), (2.0, 3));
        assert_eq!(ratio_of_means(&own, &base, &[7; 3]), Some(found), "one launch: every pair");
        assert_eq!(ratio_of_means(&own, &[0.0; 3], &launches(&[1, 1, 1])), None);
        assert_eq!(ratio_of_means(&own[..2], &base[..2], &[0, 1]), None);
    }

    /// One run in eight takes ten times longer: the mean says so, the trimmed mean does not.
    #[test]
    fn a_tail_is_in_the_mean_alone() {
        let jitter = |index: usize| 1.0 + (index * 37 % 23) as f64 * 1e-3;
        let base: Vec<f64> = (0..80).map(jitter).collect();
        let own: Vec<f64> = (0..80)
            .map(|index| jitter(index + 5) * if index % 8 == 3 { 10.0 } else { 1.0 })
            .collect();
        let numbers: Vec<u32> = (0..80).map(|index| index / 4).collect();
        let logs: Vec<f64> = own.iter().zip(&base).map(|(own, base)| (own / base).ln()).collect();
        let (floor, means) = (
            trimmed_mean(&logs, &numbers).unwrap(),
            ratio_of_means(&own, &base, &numbers).unwrap(),
        );
        assert!(floor.value.abs() < 0.01, "{floor:?}");
        assert!((means.value.exp() - 2.125).abs() < 0.02, "{means:?}");
        assert!(means.value - means.half_width(0.95) > 0.3, "{means:?}");
    }
}
