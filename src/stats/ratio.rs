//! The ratio of two locations whose values may be of any sign.

use super::by_launch::trimmed_mean;
use super::contrast::centre;

/// Factor about the ratio within which its bounds are looked for.
const REACH: f64 = 1e3;
/// Halvings of the search, which leave less than a millionth.
const STEPS: usize = 40;

/// One location as a multiple of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub value: f64,
    /// None if the other location cannot be told from zero.
    pub bounds: Option<(f64, f64)>,
}

/// How many times `base` is in `own`, whose values were measured in pairs in these launches: the
/// factor by which the trimmed mean of `own - factor * base` is zero. Its interval of that
/// confidence (0.95) are the factors for which that mean cannot be told from zero (E. C. Fieller,
/// J. R. Stat. Soc. B 16, 1954): unlike the mean of the logarithms of ratios, it allows single
/// values that are not above zero. None where either location is not.
pub fn ratio_of_locations(
    own: &[f64],
    base: &[f64],
    launches: &[u32],
    confidence: f64,
) -> Option<Ratio> {
    let positive = |values: &[f64]| centre(values).filter(|it| *it > 0.0);
    let guess = positive(own)? / positive(base)?;
    let rest = |factor: f64| -> Vec<f64> {
        own.iter().zip(base).map(|(own, base)| own - factor * base).collect()
    };
    let value = root(guess, |factor| centre(&rest(factor)))?;
    let bound = |sign: f64| {
        root(value, |factor| {
            let rest = trimmed_mean(&rest(factor), launches)?;
            Some(rest.value + sign * rest.half_width(confidence))
        })
    };
    // The lower bound is zero if `own` cannot be told from zero.
    let low = trimmed_mean(own, launches).map(|own| own.value - own.half_width(confidence));
    let low = if low? > 0.0 { bound(-1.0) } else { Some(0.0) };
    let bounds = low.zip(bound(1.0)).map(|(low, high)| (low.min(value), high.max(value)));
    Some(Ratio { value, bounds })
}

/// Where a falling function of the factor is zero; none beyond the reach of `about`.
fn root(about: f64, function: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let (mut low, mut high) = ((about / REACH).ln(), (about * REACH).ln());
    if function(low.exp())? < 0.0 || function(high.exp())? > 0.0 {
        return None;
    }
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        match function(middle.exp())? > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(((low + high) / 2.0).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(value: f64, noise: f64, phase: usize) -> Vec<f64> {
        let off = |round: usize| ((round * 7 + phase) % 10) as f64 / 4.5 - 1.0;
        (0..30).map(|round| value + noise * off(round)).collect()
    }

    fn launches() -> Vec<u32> {
        (0..30).map(|round| round / 5).collect()
    }

    #[test]
    fn a_single_value_below_zero_does_not_end_it() {
        let mut own = noisy(200.0, 10.0, 0);
        own[4] = -5.0;
        let found = ratio_of_locations(&own, &noisy(10.0, 1.0, 3), &launches(), 0.95).unwrap();
        let (low, high) = found.bounds.unwrap();
        assert!((found.value - 20.0).abs() < 1.0 && low < 20.0 && 20.0 < high, "{found:?}");
        assert!(low > 16.0 && high < 25.0, "{found:?}");
    }

    #[test]
    fn exact_values_have_their_ratio() {
        let found = ratio_of_locations(&[6.0; 9], &[2.0; 9], &[0; 9], 0.95).unwrap();
        assert!((found.value - 3.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn what_is_not_above_zero_has_no_ratio() {
        let zero = noisy(0.0, 10.0, 0);
        let some = noisy(20.0, 1.0, 3);
        assert_eq!(ratio_of_locations(&some, &noisy(-5.0, 1.0, 0), &launches(), 0.95), None);
        let unknown: Vec<f64> = zero.iter().map(|value| value + 0.1).collect();
        let found = ratio_of_locations(&some, &unknown, &launches(), 0.95);
        assert!(found.is_none_or(|it| it.bounds.is_none()), "{found:?}");
        let small = ratio_of_locations(&unknown, &some, &launches(), 0.95).unwrap();
        assert_eq!(small.bounds.map(|(low, _)| low), Some(0.0), "{small:?}");
    }
}
