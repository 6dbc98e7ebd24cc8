//! The summary of an area: the geometric mean of the taxes of its rows.

use serde::Serialize;

use super::row::{Row, Tax, first_met, tax_of};
use crate::model::{CommandPhase, Quantity};

/// Geometric mean of the taxes of one area's times: a summary of its rows, never a result itself.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Area {
    pub area: String,
    /// Rows of the area, whether measured or not.
    pub rows: usize,
    /// By column; none in the reference's own and where nothing was measured.
    pub ratios: Vec<Option<f64>>,
    /// The same of the mean costs.
    pub all_in_ratios: Vec<Option<f64>>,
    /// Rows that the mean is of, by column: means of different rows are no comparison.
    pub counts: Vec<usize>,
}

/// The summary of every area, in the order of its first row.
pub(super) fn areas(rows: &[Row], columns: usize) -> Vec<Area> {
    let summary = |area: &str| {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.area() == area && row.quantity == Quantity::Time)
            // What a command uses is part of what it takes: only its wall times have a mean.
            .filter(|row| !row.is_of_command() || row.phase == CommandPhase::Wall.name())
            .collect();
        let means = |of: fn(&Tax) -> f64| -> Vec<Option<f64>> {
            (0..columns).map(|column| geometric_mean(taxes(&own, column).map(of))).collect()
        };
        Area {
            area: area.to_owned(),
            rows: own.len(),
            ratios: means(|tax| tax.ratio),
            all_in_ratios: means(|tax| tax.all_in_ratio),
            counts: (0..columns).map(|column| taxes(&own, column).count()).collect(),
        }
    };
    first_met(rows.iter().map(Row::area)).into_iter().map(summary).collect()
}

/// The taxes of these rows in that column.
fn taxes<'a>(rows: &'a [&Row], column: usize) -> impl Iterator<Item = &'a Tax> {
    rows.iter().filter_map(move |row| tax_of(&row.cells[column]))
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
