//! What a library or a console adds: the rows whose processes have one, against the same without.

use serde::Serialize;

use super::cell_data::{RowData, RowKey};
use super::row::Cost;
use crate::stats::Contrast;

/// A row of heavier processes against the plain one, in every column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Weight {
    /// The heavier row.
    pub name: String,
    /// How many times as much it costs as the plain one, with its 95 % interval, in the order of
    /// the columns; none where either was not measured.
    pub columns: Vec<Option<Cost>>,
}

/// Parameters that add weight; a row without them is the plain one.
const WEIGHTS: [&str; 2] = ["dll=", "console="];

/// Every heavier row whose plain one was measured as well.
pub(super) fn weights(rows: &[&RowData<'_>]) -> Vec<Weight> {
    let mut found = Vec::new();
    for row in rows {
        let Some(plain) = plain_of(&row.key) else { continue };
        let Some(plain) = rows.iter().find(|other| other.key == plain) else { continue };
        let ratio = |at: usize| {
            let (own, plain) = (&row.cells[at], &plain.cells[at]);
            let ratio = Contrast::against(&own.sessions, &plain.sessions).effect()?;
            Some(Cost::of(&ratio, f64::exp))
        };
        let columns = (0..row.cells.len()).map(ratio).collect();
        found.push(Weight { name: row.key.row(Vec::new()).name(), columns });
    }
    found
}

/// The same row without weight; none for a row that has none.
fn plain_of(key: &RowKey) -> Option<RowKey> {
    let words: Vec<&str> = key.planned.case.params.as_str().split(' ').collect();
    let is_weight = |word: &&str| WEIGHTS.iter().any(|weight| word.starts_with(weight));
    let rest: Vec<&str> = words.iter().copied().filter(|word| !is_weight(word)).collect();
    (rest.len() < words.len()).then(|| {
        let mut plain = key.clone();
        plain.planned.case.params = crate::model::Params::new(&rest.join(" "));
        plain
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compared, jitter, planned, run_of, set_of};
    use crate::model::Params;

    #[test]
    fn a_heavier_row_is_held_against_the_plain_one() {
        let case = |params: &str| {
            let mut planned = planned("process.teardown");
            planned.case.params = Params::new(params);
            planned
        };
        let cases = vec![case("n=9"), case("n=9 dll=user32"), case("n=10 dll=user32")];
        let times = |case: usize, _, round| {
            let ns = [100_000, 300_000, 1][case];
            Some(set_of(vec![jitter(ns, round)]))
        };
        let weights = compared(run_of(cases, 20, times)).weights;
        assert_eq!(weights.len(), 1, "the plain one of n=10 was not measured");
        assert!(weights[0].name.contains("n=9 dll=user32"), "{}", weights[0].name);
        for ratio in &weights[0].columns {
            let ratio = ratio.unwrap();
            let (low, high) = ratio.interval.unwrap();
            assert!((2.7..3.3).contains(&ratio.value), "{ratio:?}");
            assert!(low <= ratio.value && ratio.value <= high, "{ratio:?}");
        }
    }
}
