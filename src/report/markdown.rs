//! For an issue, a wiki or a README.

use anyhow::Result;

use super::table;
use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

pub struct Markdown;

static INFO: ReportInfo = ReportInfo { name: "markdown", summary: "a table for issues and wikis" };

impl Report for Markdown {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, _: &Style) -> Result<Vec<u8>> {
        let mut text = String::from("| | cost | tax | 95 % interval | verdict |\n");
        text.push_str("| --- | ---: | ---: | ---: | --- |\n");
        for line in table::lines(comparison) {
            let what = match line.kind {
                table::Kind::Reference => format!("**{}**", escaped(&line.what)),
                _ => format!("&emsp;{}", escaped(line.what.trim_start())),
            };
            let verdict = escaped(&line.verdict);
            let (cost, tax, interval) = (line.cost, line.tax, line.interval);
            text.push_str(&format!("| {what} | {cost} | {tax} | {interval} | {verdict} |\n"));
        }
        text.push('\n');
        for note in table::notes(comparison) {
            let lines: Vec<&str> = note.lines().map(str::trim).collect();
            text.push_str(&format!("- {}\n", lines.join("<br>")));
        }
        Ok(text.into_bytes())
    }
}

/// Text that cannot end its cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
