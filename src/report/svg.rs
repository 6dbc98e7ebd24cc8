//! One chart as a picture, for an article or a wiki.

use anyhow::Result;

use super::chart::Scene;
use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

pub struct SvgFile;

static INFO: ReportInfo = ReportInfo {
    name: "svg",
    layouts: true,
    sections: false,
    summary: "a picture of one chart (--chart)",
};

impl Report for SvgFile {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let scene = Scene { comparison, words: &style.words, layout: style.layout };
        Ok(style.chart.picture(&scene)?.as_file().into_bytes())
    }
}
