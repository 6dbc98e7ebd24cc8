//! Location with an interval: the 20 % trimmed mean of one sample, and the difference of two means.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Share trimmed from each end.
const TRIM: f64 = 0.2;

/// A location estimate and what is needed to test and bound it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Standard error of `value`; zero when all values are the same.
    pub error: f64,
    /// Degrees of freedom of Student's t.
    pub freedom: f64,
    /// Values it was made from.
    pub count: usize,
}

impl Estimate {
    /// Half-width of the two-sided interval of that confidence (0.95).
    pub fn half_width(&self, confidence: f64) -> f64 {
        if self.error == 0.0 {
            return 0.0;
        }
        student(self.freedom).inverse_cdf(0.5 + confidence / 2.0) * self.error
    }

    /// Two-sided p-value of the hypothesis that the location is zero.
    pub fn p_value(&self) -> f64 {
        match (self.error == 0.0, self.value == 0.0) {
            (true, true) => 1.0,
            (true, false) => 0.0,
            _ => 2.0 * student(self.freedom).cdf(-(self.value / self.error).abs()),
        }
    }

    /// P-value of the two one-sided tests that the location is not within `bound` of zero: the
    /// larger of both (D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
    /// 1987). At most 0.05 means: within the bound.
    pub fn p_beyond(&self, bound: f64) -> f64 {
        let room = bound - self.value.abs();
        match self.error == 0.0 {
            true if room >= 0.0 => 0.0,
            true => 1.0,
            false => student(self.freedom).cdf(-room / self.error),
        }
    }
}

pub(super) fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("callers give at least one degree of freedom")
}

/// The 20 % trimmed mean with Yuen's standard error from the winsorised variance
/// (K. K. Yuen, Biometrika 61, 1974; R. R. Wilcox, Introduction to Robust Estimation, 4.3).
/// None for fewer than three values.
pub fn yuen(values: &[f64]) -> Option<Estimate> {
    if values.len() < 3 {
        return None;
    }
    let (sorted, cut) = sorted(values);
    let value = mean(&sorted[cut..sorted.len() - cut]);
    let (winsorised, kept) = winsorised(values);
    let (h, n) = (kept as f64, values.len() as f64);
    let error = (variance(&winsorised) * (n - 1.0) / (h * (h - 1.0))).sqrt();
    Some(Estimate { value, error, freedom: h - 1.0, count: values.len() })
}

/// The values in their own order, those that the trimmed mean leaves out replaced by the nearest
/// one that it keeps; and how many it keeps.
pub(super) fn winsorised(values: &[f64]) -> (Vec<f64>, usize) {
    let (sorted, cut) = sorted(values);
    let (low, high) = (sorted[cut], sorted[sorted.len() - cut - 1]);
    let winsorised = values.iter().map(|value| value.clamp(low, high)).collect();
    (winsorised, values.len() - 2 * cut)
}

/// The values in ascending order, and how many are trimmed from each end.
fn sorted(values: &[f64]) -> (Vec<f64>, usize) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted, (TRIM * values.len() as f64).floor() as usize)
}

/// The difference of the means of two independent samples, `b` minus `a`, with unequal variances
/// (B. L. Welch, Biometrika 34, 1947). None when either has fewer than two values.
pub fn two_means(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let share = |values: &[f64]| variance(values) / values.len() as f64;
    let (va, vb) = (share(a), share(b));
    let part = |v: f64, values: &[f64]| v * v / (values.len() as f64 - 1.0);
    let freedom = (va + vb).powi(2) / (part(va, a) + part(vb, b));
    Some(Estimate {
        value: mean(b) - mean(a),
        error: (va + vb).sqrt(),
        freedom: if freedom.is_finite() { freedom } else { 1.0 },
        count: a.len() + b.len(),
    })
}

/// The mean with its standard error, for values of which none is to be left out. None for fewer
/// than two.
pub fn plain_mean(values: &[f64]) -> Option<Estimate> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let error = (variance(values) / n).sqrt();
    Some(Estimate { value: mean(values), error, freedom: n - 1.0, count: values.len() })
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance (divided by n - 1).
pub(super) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs().max(1.0)
    }

    /// Wilcox (Introduction to Robust Estimation) gives these steps for the values below: n = 19,
    /// three trimmed from each end; the numbers were recomputed by hand from the formulas.
    #[test]
    fn the_trimmed_mean_and_its_error_follow_the_formulas() {
        let values = [
            77.0, 87.0, 88.0, 114.0, 151.0, 210.0, 219.0, 246.0, 253.0, 262.0, 296.0, 299.0, 306.0,
            376.0, 428.0, 515.0, 666.0, 1310.0, 2611.0,
        ];
        let estimate = yuen(&values).unwrap();
        let kept = &values[3..16];
        let value = kept.iter().sum::<f64>() / 13.0;
        let mut winsorised = values.to_vec();
        winsorised[..3].fill(114.0);
        winsorised[16..].fill(515.0);
        let centre = winsorised.iter().sum::<f64>() / 19.0;
        let squares: f64 = winsorised.iter().map(|v| (v - centre).powi(2)).sum();
        assert!(close(estimate.value, value));
        assert!(close(value, 282.692_307_7), "the published trimmed mean is 282.7: {value}");
        assert!(close(estimate.error, (squares / (13.0 * 12.0)).sqrt()));
        assert_eq!(estimate.freedom, 12.0);
    }

    #[test]
    fn intervals_use_students_t() {
        let estimate = Estimate { value: 1.0, error: 2.0, freedom: 12.0, count: 19 };
        // t(0.975, 12) = 2.178813 in any table.
        assert!(close(estimate.half_width(0.95), 2.0 * 2.178_812_8));
        // t(0.95, 12) = 1.782288.
        assert!(close(estimate.half_width(0.90), 2.0 * 1.782_287_6));
        let at_bound = Estimate { value: 2.178_812_8, error: 1.0, ..estimate };
        assert!(close(at_bound.p_value(), 0.05));
    }

    /// Two one-sided tests at 5 % are the interval of 90 % within the bound.
    #[test]
    fn one_sided_tests_agree_with_the_interval() {
        for value in [0.3, -0.3] {
            let estimate = Estimate { value, error: 0.1, freedom: 12.0, count: 19 };
            let end = 0.3 + estimate.half_width(0.90);
            assert!(close(estimate.p_beyond(end), 0.05));
            assert!(estimate.p_beyond(end + 0.01) < 0.05 && estimate.p_beyond(end - 0.01) > 0.05);
        }
        let exact = Estimate { value: 0.3, error: 0.0, freedom: 12.0, count: 19 };
        assert_eq!((exact.p_beyond(0.3), exact.p_beyond(0.2)), (0.0, 1.0));
    }

    #[test]
    fn equal_values_have_no_error() {
        let same = yuen(&[2.0; 15]).unwrap();
        assert_eq!((same.value, same.half_width(0.95), same.p_value()), (2.0, 0.0, 0.0));
        assert_eq!(yuen(&[0.0; 15]).unwrap().p_value(), 1.0);
        assert_eq!(yuen(&[1.0, 2.0]), None);
    }

    #[test]
    fn swapping_signs_mirrors_the_estimate() {
        let values: Vec<f64> = (0..23).map(|i| ((i * 37) % 23) as f64 - 9.0).collect();
        let mirrored: Vec<f64> = values.iter().map(|v| -v).collect();
        let (a, b) = (yuen(&values).unwrap(), yuen(&mirrored).unwrap());
        assert!(close(a.value, -b.value) && close(a.error, b.error));
    }

    /// Values of Welch's test worked by hand: means 3 and 6, variances 2.5 and 10, n = 5 each.
    #[test]
    fn the_difference_of_two_means_is_welchs() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let b = [2.0, 4.0, 6.0, 8.0, 10.0];
        let difference = two_means(&a, &b).unwrap();
        assert!(close(difference.value, 3.0));
        assert!(close(difference.error, 2.5_f64.sqrt()));
        assert!(close(difference.freedom, 6.25 / (0.25 / 4.0 + 4.0 / 4.0)));
        assert_eq!(two_means(&a, &[1.0]), None);
    }
}
