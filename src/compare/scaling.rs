//! What several copies at a time achieve of what they could.

use serde::Serialize;

use super::data::{RowKey, SideData};
use super::ladder::Cost;
use crate::stats::Contrast;

/// One row that was measured in several copies, in every column.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// The row without the copies.
    pub name: String,
    pub copies: u64,
    /// How many times as much is done as by one copy, with its 95 % interval, in the order of the
    /// columns; none where either was not measured.
    pub columns: Vec<Option<Cost>>,
}

/// Every row of several copies whose single copy was measured as well.
pub(super) fn scalings(rows: &[(RowKey, Vec<SideData<'_>>)]) -> Vec<Scaling> {
    let mut found = Vec::new();
    for (key, data) in rows.iter().filter(|(key, _)| key.phase().timed) {
        let Some((single, copies)) = single_of(key) else { continue };
        let is_single = |other: &&(RowKey, Vec<SideData<'_>>)| other.0 == single;
        let Some((_, alone)) = rows.iter().find(is_single) else { continue };
        let speedup = |(own, alone): (&SideData<'_>, &SideData<'_>)| speedup(own, alone, copies);
        let columns = data.iter().zip(alone).map(speedup).collect();
        found.push(Scaling { name: single.row(Vec::new()).name(), copies, columns });
    }
    found
}

/// The same row with one copy, and how many this one has.
fn single_of(key: &RowKey) -> Option<(RowKey, u64)> {
    let copies = key.planned.case.params.get("copies")?.parse().ok()?;
    let mut single = key.clone();
    let words = key.planned.case.params.as_str().split(' ');
    let rest: Vec<&str> = words.filter(|word| !word.starts_with("copies=")).collect();
    single.planned.case.params = crate::model::Params::new(&rest.join(" "));
    Some((single, copies))
}

/// `copies * cost of one alone / cost of one among several`, over the rounds that both have.
fn speedup(own: &SideData<'_>, alone: &SideData<'_>, copies: u64) -> Option<Cost> {
    let ratio = Contrast::against(&alone.sessions, &own.sessions).of_one_launch().effect()?;
    Some(Cost::of(&ratio, |log| copies as f64 * log.exp()))
}
