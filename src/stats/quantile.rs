//! Order statistics.

/// The quantile `q` (0 to 1) of the values, by linear interpolation between order statistics
/// (Hyndman and Fan 1996, type 7). None for no values.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (low, share) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(last);
    Some(sorted[low] + share * (sorted[high] - sorted[low]))
}

/// The smallest value that at least this share of all values do not exceed. `buckets` has each
/// value with its number of occurrences, in ascending order. None if there are no values.
pub fn counted_quantile(buckets: &[(u64, u64)], share: f64) -> Option<u64> {
    let total = buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let wanted = (share * total as f64).ceil().max(1.0) as u64;
    let mut seen = 0;
    let found = buckets.iter().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    found.map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&[7.0], 0.25), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn counted_values_are_as_good_as_a_list() {
        let buckets = [(10, 90), (20, 9), (500, 1)];
        assert_eq!(counted_quantile(&buckets, 0.5), Some(10));
        assert_eq!(counted_quantile(&buckets, 0.9), Some(10));
        assert_eq!(counted_quantile(&buckets, 0.99), Some(20));
        assert_eq!(counted_quantile(&buckets, 1.0), Some(500));
        assert_eq!(counted_quantile(&[], 0.5), None);
    }
}
