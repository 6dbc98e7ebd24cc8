//! Renderers: a comparison in, bytes out. One file a format, listed once below. May use `compare`,
//! `model`, `units` and `words`. Must not write a file or compute a statistic.

mod article;
mod chart;
mod csv;
mod differences;
mod directories;
mod escape;
pub mod failure;
mod findings;
pub mod gate;
mod json;
mod layout;
mod markdown;
mod notes;
mod page;
#[cfg(feature = "png")]
mod png;
mod screen;
mod sections;
mod sheet;
mod svg;
mod table;
mod text;

use anyhow::{Context, Result};

use crate::compare::Comparison;
use crate::model::suggest;
use crate::words::Words;

pub use chart::{CHARTS, Stacks, TimeOfTax, find as find_chart, flames};
pub use layout::{ALIASES, LAYOUTS, Layout, find as find_layout};
pub use page::{history as history_chart, page_with, shell};
pub use screen::state;
pub use sections::{SECTIONS, Section, find as find_section};
pub use table::title as row_title;

/// Name of the format that is printed unless another one is asked for.
pub const TEXT: &str = "text";

/// Columns when the output is no terminal: what fits a mail or a terminal of the usual size.
pub const WIDTH: u16 = 80;

/// Every format.
pub const REPORTS: &[&dyn Report] = &[
    &text::Text,
    &markdown::Markdown,
    &csv::Csv,
    &json::Json,
    &page::Page,
    &article::Article,
    &svg::SvgFile,
    #[cfg(feature = "png")]
    &png::Png,
];

/// Formats that are files for other programs: a terminal shows none of them.
pub const FILES: [&str; 3] = ["html", "svg", "png"];

/// What a format is, for people.
pub struct ReportInfo {
    pub name: &'static str,
    /// It can print layouts.
    pub layouts: bool,
    /// It can print sections alone.
    pub sections: bool,
    pub summary: &'static str,
}

/// How the output may look, and how much of it there is.
pub struct Style {
    /// Whether escape sequences for colour may be used.
    pub colour: bool,
    /// Columns of the terminal; none when it is not one.
    pub width: Option<u16>,
    /// The published table to print instead of the usual one; for formats that people read.
    pub layout: Option<&'static Layout>,
    /// How much the text for a terminal shows. The other formats show everything.
    pub detail: Detail,
    /// The language of pages, charts and articles.
    pub words: Words,
    /// The picture to draw, in formats that are pictures.
    pub chart: &'static chart::Chart,
    /// What a probe is, by its id: the registry of probes is no part of reports.
    pub probe: fn(&str, &Words) -> Option<Explained>,
    /// The words of the command that prints the comparison again, to which options can be added.
    pub again: Vec<String>,
}

/// A probe explained.
pub struct Explained {
    /// What it measures, as a sentence.
    pub summary: String,
    /// What is timed, what is not in the figure, and where the protocol is from.
    pub timed: String,
    pub excluded: String,
    pub source: &'static str,
}

/// How much of a comparison is shown.
pub enum Detail {
    /// The answer, within a screen.
    Screen,
    /// Everything.
    Long,
    /// These parts.
    Sections(Vec<&'static Section>),
}

/// One format.
pub trait Report: Sync {
    fn info(&self) -> &'static ReportInfo;
    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>>;
}

/// The format of that name.
pub fn find(name: &str) -> Result<&'static dyn Report> {
    let found = REPORTS.iter().find(|report| report.info().name == name);
    found.copied().with_context(|| {
        let infos = REPORTS.iter().map(|report| report.info());
        let known: Vec<_> = infos.map(|info| (info.name, info.summary)).collect();
        suggest::unknown("format", name, &known)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_unique_and_an_unknown_one_is_named() {
        let mut names = std::collections::HashSet::new();
        for info in REPORTS.iter().map(|report| report.info()) {
            assert!(names.insert(info.name) && !info.summary.is_empty());
        }
        let error = find("xml").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`xml`") && error.contains("markdown"), "{error}");
    }
}
