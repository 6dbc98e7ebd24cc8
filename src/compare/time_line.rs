//! The rounds of a row in the order of time, for pictures: what a drift, levels and other load look
//! like.

use super::cell_data::{CellData, RowData};

/// The rounds of one row in every column.
#[derive(Clone, Debug, Default)]
pub struct TimeLine {
    /// In the order of the columns; each ascending in time.
    pub columns: Vec<Vec<Point>>,
}

/// One round of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Which of the cell's sessions it is of, from 0.
    pub session: usize,
    pub round: u32,
    /// Seconds since the beginning of the first session, as if the next one began at its end.
    pub at_s: f64,
    /// The floor and the mean cost of the block, in the row's quantity.
    pub floor: f64,
    pub mean: f64,
    /// Other tasks that wanted a CPU when the block began; none where it is not known.
    pub runnable: Option<u32>,
}

pub(super) fn time_line(row: &RowData<'_>) -> TimeLine {
    TimeLine { columns: row.cells.iter().map(points).collect() }
}

fn points(cell: &CellData<'_>) -> Vec<Point> {
    let mut points = Vec::new();
    let mut began = 0.0;
    let mut blocks = cell.blocks.as_slice();
    for (session, (rounds, count)) in cell.sessions.iter().zip(&cell.blocks_by_session).enumerate()
    {
        let (own, rest) = blocks.split_at(*count);
        blocks = rest;
        let mut last: f64 = 0.0;
        for block in own {
            let Some(round) = rounds.get(block.round) else { continue };
            let at_s = block.asked_ns as f64 / 1e9;
            last = last.max(at_s);
            points.push(Point {
                session,
                round: block.round,
                at_s: began + at_s,
                floor: round.ln_floor.exp(),
                mean: round.mean,
                runnable: block.runnable,
            });
        }
        began += last;
    }
    points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    points
}
