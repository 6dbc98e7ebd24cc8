//! A histogram of the latencies of single operations, of which a mean shows nothing.

use hdrhistogram::Histogram;

/// Digits of a latency that the histogram keeps.
const DIGITS: u8 = 3;
/// Longest latency that is recorded as it is: one minute, in ns.
const LONGEST_NS: u64 = 60_000_000_000;

/// A histogram of fixed size: recording never allocates.
pub struct Latencies(Histogram<u64>);

impl Latencies {
    pub fn new() -> Latencies {
        // Only bounds out of order or more than five digits are refused.
        Latencies(Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds"))
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The form of [`crate::model::Extras`]: latencies, each with how often it was seen.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let seen = self.0.iter_recorded();
        seen.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::test_alloc::allocations_during;

    #[test]
    fn recording_allocates_nothing_and_keeps_three_digits() {
        let mut latencies = Latencies::new();
        let allocations = allocations_during(|| {
            for ns in [1, 100, 123_456, u64::MAX] {
                latencies.record(ns);
            }
        });
        assert_eq!((allocations, latencies.count()), (0, 4));
        let buckets = latencies.buckets();
        assert_eq!(buckets[1], (100, 1));
        assert!((123_400..123_600).contains(&buckets[2].0), "{buckets:?}");
    }
}
