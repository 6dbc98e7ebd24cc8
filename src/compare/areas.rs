//! The summary of an area: the geometric mean of the taxes of its rows.

use serde::Serialize;

use super::row::{Row, first_met, tax_of};
use crate::model::{CommandPhase, Quantity};

/// Geometric mean of the taxes of one area's times: a summary of its rows, never a result itself.
#[derive(Clone, Debug, Serialize)]
pub struct Area {
    pub area: String,
    /// Rows of the area, whether measured or not.
    pub rows: usize,
    /// By column; none in the reference's own and where nothing was measured.
    pub ratios: Vec<Option<f64>>,
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
        let logs = |column: usize| -> Vec<f64> {
            own.iter().filter_map(|row| Some(tax_of(&row.cells[column])?.ratio.ln())).collect()
        };
        let logs: Vec<Vec<f64>> = (0..columns).map(logs).collect();
        let mean = |logs: &Vec<f64>| {
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        Area {
            area: area.to_owned(),
            rows: own.len(),
            ratios: logs.iter().map(mean).collect(),
            counts: logs.iter().map(Vec::len).collect(),
        }
    };
    first_met(rows.iter().map(Row::area)).into_iter().map(summary).collect()
}
