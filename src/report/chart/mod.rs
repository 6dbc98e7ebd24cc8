//! Pictures of a comparison, in SVG: one file a chart, listed once below. Page, article and files
//! have the same pictures. May use a comparison, its words, and the tables of `report/`. Must not
//! compute statistics, nor write to files or streams.

mod bars;
mod flame;
mod forest;
mod frame;
mod history;
mod ladder;
mod latency;
mod layout;
mod matrix;
mod scale;
mod scaling;
mod svg;
mod time_line;

use anyhow::{Context, Result};

use super::layout::Layout;
use crate::compare::{Comparison, Row, Tax, Verdict, tax_of};
use crate::model::suggest;
use crate::words::Words;

pub use flame::{Stacks, flames};
pub use forest::of_rows as forest_of_rows;
pub use history::{TimeOfTax, draw_taxes};
pub use matrix::mark;
pub use svg::Picture;
pub use time_line::of_row as time_line_of;

/// Every chart.
pub const CHARTS: &[Chart] = &[
    Chart { name: "forest", summary: "taxes with their intervals", draw: forest::draw },
    Chart { name: "matrix", summary: "all verdicts at a glance", draw: matrix::draw },
    Chart { name: "ladder", summary: "block sizes, with call and byte", draw: ladder::draw },
    Chart { name: "latency", summary: "distributions of single operations", draw: latency::draw },
    Chart { name: "timeline", summary: "rounds over time, with other load", draw: time_line::draw },
    Chart { name: "scaling", summary: "what several copies achieve", draw: scaling::draw },
    Chart { name: "layout", summary: "the bars of a published comparison", draw: layout::draw },
];

/// One kind of picture.
pub struct Chart {
    pub name: &'static str,
    pub summary: &'static str,
    /// The pictures, from top to bottom; none where there is nothing to show.
    pub draw: fn(&Scene<'_>) -> Vec<Picture>,
}

/// What is drawn.
pub struct Scene<'a> {
    pub comparison: &'a Comparison,
    pub words: &'a Words,
    pub layout: Option<&'static Layout>,
}

/// The chart of that name.
pub fn find(name: &str) -> Result<&'static Chart> {
    CHARTS.iter().find(|chart| chart.name == name).with_context(|| {
        let known: Vec<_> = CHARTS.iter().map(|it| (it.name, it.summary)).collect();
        suggest::unknown("chart", name, &known)
    })
}

impl Chart {
    /// Everything that it shows, as one picture.
    pub fn picture(&self, scene: &Scene<'_>) -> Result<Picture> {
        Picture::stacked((self.draw)(scene)).with_context(|| {
            format!("this comparison has nothing for the chart `{}`: {}", self.name, self.summary)
        })
    }
}

/// How far the taxes of a row are from the reference, as a logarithm.
fn farthest(row: &Row) -> f64 {
    let taxes = row.cells.iter().filter_map(tax_of);
    taxes.map(|tax| tax.ratio.ln().abs()).filter(|it| it.is_finite()).fold(0.0, f64::max)
}

/// The class of what a tax comes to.
pub fn class(tax: &Tax) -> &'static str {
    match tax.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive { .. } => "open",
        Verdict::Descriptive => "none",
    }
}
