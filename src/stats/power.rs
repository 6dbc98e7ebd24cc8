//! The power of a comparison of two groups of sessions: the difference that it can show, and the
//! number of sessions that it needs.

use statrs::distribution::ContinuousCDF;

use super::estimate::student;

/// Share of comparisons that are to find a difference of the given size.
const POWER: f64 = 0.8;
/// Level of the two-sided test.
const LEVEL: f64 = 0.05;
/// Nobody measures more sessions a side than this.
const MOST: usize = 1000;

/// The difference that a two-sided test at 5 % between groups of these sizes finds in four of five
/// cases, when values of one group have this standard deviation (J. Cohen, Statistical Power
/// Analysis, 1988, 2.2; with Student's t in place of the normal distribution). None for fewer than
/// three values in all.
pub fn detectable(deviation: f64, a: usize, b: usize) -> Option<f64> {
    if a == 0 || b == 0 || a + b < 3 {
        return None;
    }
    let student = student((a + b - 2) as f64);
    let reach = student.inverse_cdf(1.0 - LEVEL / 2.0) + student.inverse_cdf(POWER);
    Some(reach * deviation * (1.0 / a as f64 + 1.0 / b as f64).sqrt())
}

/// The smallest size of each group, at least `least`, with which a difference of that size is
/// found. None if a thousand are not enough.
pub fn needed(deviation: f64, size: f64, least: usize) -> Option<usize> {
    (least..=MOST).find(|count| detectable(deviation, *count, *count).is_some_and(|it| it <= size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cohen's table 2.4.1: a difference of one standard deviation, at 5 % two-sided and a power of
    /// 80 %, needs 17 in each group; of half of one, 64.
    #[test]
    fn the_numbers_are_those_of_the_book() {
        assert_eq!(needed(1.0, 1.0, 3), Some(17));
        assert_eq!(needed(1.0, 0.5, 3), Some(64));
        assert_eq!(needed(1.0, 0.01, 3), None);
        assert_eq!(needed(0.0, 0.01, 3), Some(3));
        assert_eq!(detectable(1.0, 1, 1), None);
        assert!(detectable(1.0, 2, 2).unwrap() > 5.0, "two a side see nearly nothing");
    }
}
