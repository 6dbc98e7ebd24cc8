//! Response times of a bystander's operations at fixed due times, before and during a storm.

use std::ops::Range;

/// Responses in the order of their due times, which are `period_ns` apart.
///
/// A response lasts from the due time to the end of the operation, so that one delayed operation
/// shows in all that had to wait for it. Nothing here allocates but [`Responses::new`].
pub struct Responses {
    pub first_due_ns: u64,
    pub period_ns: u64,
    pub ns: Vec<u64>,
    sorted: Vec<u64>,
}

impl Responses {
    /// Room for `most` responses.
    pub fn new(most: usize, period_ns: u64) -> Responses {
        let room = || Vec::with_capacity(most);
        Responses { first_due_ns: 0, period_ns, ns: room(), sorted: room() }
    }

    fn due(&self, index: usize) -> u64 {
        self.first_due_ns + index as u64 * self.period_ns
    }

    /// The operations that a storm from `start` to `end` held up: those due before its end and not
    /// done when it began. Those before them belong to the calm.
    pub fn touched(&self, start: u64, end: u64) -> Range<usize> {
        let all = 0..self.ns.len();
        // Operations are done one after the other, in the order of their due times.
        let done_before = |index: &usize| self.due(*index) + self.ns[*index] <= start;
        let from = all.clone().take_while(done_before).count();
        let to = all.take_while(|index| self.due(*index) < end).count();
        from..to.max(from)
    }

    /// The median of these responses; none without any.
    pub fn median(&mut self, which: Range<usize>) -> Option<u64> {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.ns[which]);
        let middle = self.sorted.len() / 2;
        let found = (middle < self.sorted.len()).then(|| self.sorted.select_nth_unstable(middle));
        found.map(|(_, median, _)| *median)
    }

    /// The longest of these responses.
    pub fn worst(&self, which: Range<usize>) -> Option<u64> {
        self.ns[which].iter().copied().max()
    }

    /// How many of these were not done when the next one was due.
    pub fn missed(&self, which: Range<usize>) -> u64 {
        self.ns[which].iter().filter(|ns| **ns > self.period_ns).count() as u64
    }

    /// Share of the time from `start` to `end` in which at least one operation had been due for
    /// longer than `usual` ns and was not done.
    pub fn blocked(&self, start: u64, end: u64, usual: u64) -> f64 {
        let mut blocked = 0;
        let mut counted_to = start;
        for (index, ns) in self.ns.iter().enumerate() {
            let due = self.due(index);
            let (from, to) = ((due + usual).max(counted_to), (due + ns).min(end));
            if to > from {
                blocked += to - from;
                counted_to = to;
            }
        }
        blocked as f64 / end.saturating_sub(start).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Due at 1000, 1100, 1200 and so on.
    fn responses(ns: &[u64]) -> Responses {
        let mut made = Responses::new(ns.len(), 100);
        made.first_due_ns = 1000;
        made.ns.extend_from_slice(ns);
        made
    }

    #[test]
    fn a_storm_touches_what_it_overlaps() {
        let made = responses(&[10, 10, 10, 10, 10]);
        assert_eq!(made.touched(1150, 1350), 2..4);
        assert_eq!(made.touched(1205, 1300), 2..3, "under way when it began; due as it ended");
        assert_eq!(made.touched(1210, 1300), 3..3, "it fell between two due times");
        assert_eq!(made.touched(0, 9999), 0..5);
        assert_eq!(made.touched(5000, 9999), 5..5);
    }

    #[test]
    fn medians_and_worst() {
        let mut made = responses(&[30, 10, 20, 500, 400]);
        assert_eq!(made.median(0..3), Some(20));
        assert_eq!(made.median(0..0), None);
        assert_eq!(made.worst(3..5), Some(500));
        assert_eq!(made.worst(3..3), None);
        assert_eq!(made.ns, [30, 10, 20, 500, 400], "left in their order");
        assert_eq!(made.missed(0..5), 2);
    }

    #[test]
    fn time_is_blocked_once_however_many_waited() {
        let blocked = |ns: &[u64], start, end| responses(ns).blocked(start, end, 10);
        assert_eq!(blocked(&[10, 10, 10, 10], 1000, 1400), 0.0, "as in the calm");
        assert_eq!(blocked(&[10, 60, 10, 10], 1000, 1400), 50.0 / 400.0);
        // Stopped from 1000 to 1350: those due at 1100, 1200 and 1300 are done right after it.
        let stopped = [350, 251, 152, 53];
        assert_eq!(blocked(&stopped, 1000, 1400), 343.0 / 400.0);
        assert_eq!(blocked(&stopped, 1100, 1200), 1.0, "all of it");
        assert_eq!(blocked(&stopped, 1300, 1400), 53.0 / 100.0);
        assert_eq!(blocked(&[], 1000, 1400), 0.0);
        assert_eq!(blocked(&stopped, 1000, 1000), 0.0, "a storm of no time");
    }
}
