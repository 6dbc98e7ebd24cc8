//! Distributions of single operations, merged over the blocks of a column.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cell_data::{CellData, RowData};
use crate::stats;

/// One distribution in every column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LatencyRow {
    /// The row's probe with its parameters, and the distribution's own name.
    pub name: String,
    /// In the order of the columns; none where there is no such distribution.
    pub columns: Vec<Option<Quantiles>>,
}

/// Latencies in ns. A quantile is absent when fewer than ten operations lie beyond it: it would be
/// those operations, not a property of the environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Quantiles {
    pub count: u64,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
    pub p999: Option<u64>,
    pub max: u64,
}

/// Operations that must lie beyond a quantile.
const BEYOND: f64 = 10.0;

/// The distributions of every case, each of which its first phase stands for.
pub(super) fn of_rows(rows: &[&RowData<'_>]) -> Vec<LatencyRow> {
    rows.iter().filter(|row| row.key.phase == 0).flat_map(|row| of_case(row)).collect()
}

fn of_case(RowData { key, cells: data }: &RowData<'_>) -> Vec<LatencyRow> {
    let blocks = || data.iter().flat_map(|side| &side.blocks);
    let names: BTreeSet<&String> =
        blocks().flat_map(|block| block.set.extras.latencies.keys()).collect();
    let row = |name: &String| LatencyRow {
        name: format!("{} {name}", key.planned.case),
        columns: data.iter().map(|side| quantiles(side, name)).collect(),
    };
    names.into_iter().map(row).collect()
}

fn quantiles(side: &CellData<'_>, name: &str) -> Option<Quantiles> {
    let own = side.blocks.iter().filter_map(|block| block.set.extras.latencies.get(name));
    let mut buckets: Vec<(u64, u64)> = own.flatten().copied().collect();
    buckets.sort_unstable();
    let count = buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let at = |share: f64| {
        let shown = count as f64 * (1.0 - share) >= BEYOND;
        shown.then(|| stats::counted_quantile(&buckets, share)).flatten()
    };
    let max = buckets.last()?.0;
    let (p50, p90, p99, p999) = (at(0.5), at(0.9), at(0.99), at(0.999));
    Some(Quantiles { count, p50, p90, p99, p999, max })
}
