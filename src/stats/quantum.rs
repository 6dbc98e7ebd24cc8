//! The step in which a clock counts, as its readings show it.

use std::collections::BTreeSet;

/// Ticks in which systems count CPU time, in ns, the longest first: 60 Hz, Windows' 64 Hz, and the
/// usual ones of Linux.
const TICKS: [f64; 5] = [1e9 / 60.0, 1e9 / 64.0, 1e7, 4e6, 1e6];
/// Last digits in which readings may be written, in ns.
const DIGITS: [u64; 6] = [10_000_000, 1_000_000, 100_000, 10_000, 1_000, 1];
/// The finest step in ns in which systems count CPU time: that of clocks without ticks.
const FINEST: f64 = 1e3;
/// Readings are ticks when chance alone would make them such in fewer cases than this.
const CHANCE: f64 = 1e-3;

/// The tick in ns of which all these readings are whole multiples, as far as their digits tell:
/// 7.047 s is 451 times 1/64 s. None if there is no such tick, or if too few readings show one.
pub fn quantum(readings: &[u64]) -> Option<f64> {
    let distinct: BTreeSet<u64> = readings.iter().copied().filter(|ns| *ns > 0).collect();
    let written = |digit: &u64| distinct.iter().all(|ns| ns.is_multiple_of(*digit));
    let digit = DIGITS.into_iter().find(written)? as f64;
    let fits = |tick: f64, cut: f64| {
        let off = |ns: f64| (ns - (ns / tick).round() * tick).abs();
        distinct.iter().all(|ns| off(*ns as f64 + cut) <= (digit / 2.0).max(FINEST) + 1.0)
    };
    TICKS.into_iter().find(|tick| {
        // If the digits are as coarse as the tick, they themselves are what is to be explained.
        let one = if digit == *tick { FINEST / tick } else { digit.max(2.0 * FINEST) / tick };
        let chance = one.powi(distinct.len() as i32);
        // Programs round to their last digit, or cut the rest off.
        chance < CHANCE && (fits(*tick, 0.0) || fits(*tick, digit / 2.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ms(readings: &[u64]) -> Option<f64> {
        quantum(&readings.iter().map(|ms| ms * 1_000_000).collect::<Vec<_>>())
    }

    /// What WSL 1 gave, rounded to ms by `time` (before-after in docs/PUBLISHED.md): 1/64 s.
    #[test]
    fn ticks_are_seen_behind_rounded_digits() {
        let before = [7047, 422, 7000, 453, 6938, 422];
        let after = [6984, 391, 6938, 484, 6906, 438];
        assert_eq!(of_ms(&before), Some(15_625_000.0));
        assert_eq!(of_ms(&after), Some(15_625_000.0));
        // The same, cut off instead of rounded.
        assert_eq!(of_ms(&[7046, 421, 7000, 453, 6937]), Some(15_625_000.0));
        let exact = [451, 27, 448].map(|ticks| ticks * 15_625_000);
        assert_eq!(quantum(&exact), Some(15_625_000.0));
        let sixty = [1_016_666_000, 33_333_000, 50_000_000, 116_666_000];
        assert_eq!(quantum(&sixty), Some(1e9 / 60.0));
    }

    #[test]
    fn a_few_whole_ticks_are_enough_where_digits_are_fine() {
        assert_eq!(quantum(&[10_000_000, 0, 0, 10_000_000]), Some(1e7));
        assert_eq!(quantum(&[4_000_000, 12_000_000, 32_000_000, 36_000_000, 8_000_000]), Some(4e6));
        assert_eq!(of_ms(&[7, 13, 22]), Some(1e6), "digits are a step as well");
    }

    #[test]
    fn what_is_no_tick_has_none() {
        assert_eq!(quantum(&[]), None);
        assert_eq!(quantum(&[0, 0]), None);
        assert_eq!(quantum(&[1_457_999, 366_799]), None);
        assert_eq!(quantum(&[7_046_875_000, 421_861_321]), None);
        assert_eq!(quantum(&[12_345_000, 6_789_000, 987_000]), None);
        // One reading near a tick proves nothing at these digits, but that there are ms.
        assert_eq!(of_ms(&[31]), None);
        assert_eq!(of_ms(&[422, 391]), Some(1e6));
    }
}
