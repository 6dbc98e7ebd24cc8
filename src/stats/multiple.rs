//! Corrects verdicts for their number (multiple testing).

use super::rank::ascending;

/// Family-wise error at which words of difference are given. Runs end where intervals look narrow,
/// which makes small p-values more frequent than they say: at this level a false word is in at most
/// 5 % of simulated families (docs/METHODOLOGY.md, simulated coverage).
pub const FAMILY_LEVEL: f64 = 0.02;

/// Which hypotheses are rejected at family-wise error `level` (S. Holm, Scandinavian Journal of
/// Statistics 6, 1979): in the order of their p-values, each is held to `level` divided by the
/// number not yet decided, and the first that fails ends it.
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut rejected = vec![false; p_values.len()];
    for (decided, index) in ascending(p_values).into_iter().enumerate() {
        if p_values[index] > level / (p_values.len() - decided) as f64 {
            break;
        }
        rejected[index] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_ends_it() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[0.06, 0.0], 0.05), [false, true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
