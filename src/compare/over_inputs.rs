//! The gain of a command over all of its inputs: the averages that published comparisons print, and
//! the estimate from pairs of the same input, with intervals over the inputs.

use serde::Serialize;

use super::row::{Cell, Row};
use crate::model::{COMMAND, Quantity};
use crate::stats::{self, Estimate};

/// The parameter that names the input.
const INPUT: &str = "input";

/// One figure of a command over its inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverInputs {
    /// The parameters beside the input.
    pub params: String,
    pub phase: String,
    /// By column; none in the reference's own, and with fewer than two inputs.
    pub columns: Vec<Option<SpeedUp>>,
}

/// By how much a column is faster than the reference: shares of the reference's time, negative
/// where it is slower.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpeedUp {
    /// Inputs that both have.
    pub inputs: usize,
    /// One minus the ratio of the arithmetic means over the inputs; its 95 % interval from the
    /// differences of each input.
    pub mean: f64,
    pub mean_interval: Option<(f64, f64)>,
    /// One minus the ratio of the medians over the inputs, each side's own.
    pub median: f64,
    /// The inputs whose times the two medians are, where no input is both.
    pub median_of: Option<[String; 2]>,
    /// One minus the geometric mean of the inputs' ratios, with its 95 % interval.
    pub paired: f64,
    pub paired_interval: Option<(f64, f64)>,
}

/// Every figure of commands that have several inputs.
pub(super) fn over_inputs(rows: &[Row], columns: usize) -> Vec<OverInputs> {
    let mut found: Vec<OverInputs> = Vec::new();
    let timed = |row: &&Row| row.probe == COMMAND && row.quantity == Quantity::Time;
    for row in rows.iter().filter(timed) {
        let Some((_, params)) = split(&row.params) else { continue };
        if found.iter().any(|it| it.params == params && it.phase == row.phase) {
            continue;
        }
        let group: Vec<(&str, &Row)> = rows
            .iter()
            .filter(|other| other.probe == COMMAND && other.phase == row.phase)
            .filter_map(|other| Some((split(&other.params)?, other)))
            .filter_map(|((input, rest), other)| (rest == params).then_some((input, other)))
            .collect();
        let speed_up = |column| if column > 0 { speed_up(&group, column) } else { None };
        let columns: Vec<Option<SpeedUp>> = (0..columns).map(speed_up).collect();
        if columns.iter().any(Option::is_some) {
            found.push(OverInputs { params, phase: row.phase.clone(), columns });
        }
    }
    found
}

/// The input that a row is of, and its other parameters.
fn split(params: &str) -> Option<(&str, String)> {
    let is_input = |pair: &&str| pair.split_once('=').is_some_and(|(name, _)| name == INPUT);
    let input = params.split(' ').find(is_input)?.split_once('=')?.1;
    let rest: Vec<&str> = params.split(' ').filter(|pair| !is_input(pair)).collect();
    Some((input, rest.join(" ")))
}

fn speed_up(group: &[(&str, &Row)], column: usize) -> Option<SpeedUp> {
    let cost = |cell: &Cell| match cell {
        Cell::Measured(measured) => Some(measured.cost),
        _ => None,
    };
    let pairs: Vec<(&str, f64, f64)> = group
        .iter()
        .filter_map(|(input, row)| Some((*input, cost(&row.cells[0])?, cost(&row.cells[column])?)))
        .collect();
    if pairs.len() < 2 {
        return None;
    }
    let old: Vec<f64> = pairs.iter().map(|(_, old, _)| *old).collect();
    let new: Vec<f64> = pairs.iter().map(|(_, _, new)| *new).collect();
    let saved: Vec<f64> = pairs.iter().map(|(_, old, new)| old - new).collect();
    let logs: Vec<f64> = pairs.iter().map(|(_, old, new)| (new / old).ln()).collect();
    let (mean_old, saved) = (stats::plain_mean(&old)?.value, stats::plain_mean(&saved)?);
    let ratio = stats::plain_mean(&logs)?;
    let (median_old, median_new) = (stats::quantile(&old, 0.5)?, stats::quantile(&new, 0.5)?);
    let bounds = |estimate: &Estimate| {
        let width = estimate.half_width(0.95);
        (estimate.value - width, estimate.value + width)
    };
    let (low, high) = bounds(&saved);
    let (least, most) = bounds(&ratio);
    Some(SpeedUp {
        inputs: pairs.len(),
        mean: saved.value / mean_old,
        mean_interval: Some((low / mean_old, high / mean_old)),
        median: 1.0 - median_new / median_old,
        median_of: median_of(&pairs, median_old, median_new),
        paired: 1.0 - ratio.value.exp(),
        paired_interval: Some((1.0 - most.exp(), 1.0 - least.exp())),
    })
}

/// The inputs whose times are the medians, where no input's are both. Of an even number the median
/// is between two, and no input's.
fn median_of(pairs: &[(&str, f64, f64)], old: f64, new: f64) -> Option<[String; 2]> {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
    let of_old: Vec<&str> = pairs.iter().filter(|it| near(it.1, old)).map(|it| it.0).collect();
    let of_new: Vec<&str> = pairs.iter().filter(|it| near(it.2, new)).map(|it| it.0).collect();
    let common = of_old.iter().any(|input| of_new.contains(input));
    let (old, new) = (of_old.first()?, of_new.first()?);
    (!common).then(|| [old, new].map(|input| input.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::beside_tests::case;
    use super::super::tests::{compared, run_of};
    use super::*;
    use crate::model::{Phase, SampleSet};

    /// A run in which each of the inputs took that many ms in both columns, in every round.
    fn over(times: &[(&str, u64, u64)]) -> Vec<OverInputs> {
        let cases = times.iter().map(|(input, _, _)| {
            let mut planned = case(COMMAND, &format!("input={input} n=2"));
            planned.phases = vec![Phase::timed("wall")];
            planned
        });
        let run = run_of(cases.collect(), 6, |case, column, _| {
            let ms = if column == 0 { times[case].1 } else { times[case].2 };
            let samples = vec![vec![ms * 1_000_000]];
            Some(SampleSet { iterations: 1, samples, ..SampleSet::default() })
        });
        compared(run).over_inputs
    }

    /// The real times of before-after in docs/PUBLISHED.md, with what it printed (3.1 and 2.2 %).
    #[test]
    fn averages_are_those_of_the_published_comparison() {
        let all = over(&[("A", 2672, 2637), ("B", 2668, 2590), ("C", 2754, 2614)]);
        let [real] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((real.params.as_str(), real.phase.as_str()), ("n=2", "wall"));
        assert_eq!(real.columns[0], None);
        let gain = real.columns[1].as_ref().unwrap();
        let percent = |share: f64| (share * 1e3).round() / 10.0;
        assert_eq!((gain.inputs, percent(gain.mean), percent(gain.median)), (3, 3.1, 2.2));
        let (low, high) = gain.mean_interval.unwrap();
        assert_eq!((percent(low), percent(high)), (-1.7, 8.0));
        assert_eq!(gain.median_of, Some(["A".into(), "C".into()]));
        assert_eq!(percent(gain.paired), 3.1);
        assert!(gain.paired_interval.unwrap().0 < 0.0);
    }

    #[test]
    fn one_input_has_no_average() {
        assert_eq!(over(&[("A", 10, 11)]), []);
        let two = over(&[("A", 10, 5), ("B", 20, 10)]);
        let gain = two[0].columns[1].as_ref().unwrap();
        assert!((gain.mean - 0.5).abs() < 1e-9 && (gain.median - 0.5).abs() < 1e-9);
        assert_eq!(gain.median_of, None, "between two inputs");
    }
}
