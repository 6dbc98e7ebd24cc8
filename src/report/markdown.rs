//! For an issue, a wiki or a README.

use anyhow::Result;

use super::escape::{markdown_cell, markdown_item};
use super::gate;
use super::notes;
use super::sections;
use super::sheet::Sheet;
use super::table::{self, Line};
use super::{Report, ReportInfo, Style};
use crate::compare::{Comparison, Gate};

pub struct Markdown;

static INFO: ReportInfo =
    ReportInfo { name: "markdown", layouts: true, summary: "a table for issues and wikis" };

impl Report for Markdown {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        if let Some(layout) = style.layout {
            let tables = layout.of(comparison)?;
            let beside = sections::sheets(comparison);
            let mut text: String = tables.sheets.iter().chain(&beside).map(sheet).collect();
            text.extend(tables.notes.iter().map(|note| item(note)));
            return Ok((text + &notes(comparison)).into_bytes());
        }
        let mut text = String::from("| | cost | tax | 95 % interval | mean | verdict |\n");
        text.push_str("| --- | ---: | ---: | ---: | ---: | --- |\n");
        for line in table::lines(comparison, table::LONG) {
            let what = match line.kind {
                table::Kind::Heading | table::Kind::Reference => {
                    format!("**{}**", markdown_cell(&line.what))
                }
                _ => format!("&emsp;{}", markdown_cell(&line.what)),
            };
            let Line { cost, tax, interval, mean, verdict, .. } = line;
            let [cost, tax, interval, mean, verdict] =
                [cost, tax, interval, mean, verdict].map(|cell| markdown_cell(&cell));
            let cells = [what, cost, tax, interval, mean, verdict];
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text.push('\n');
        for sheet in sections::sheets(comparison) {
            text.push_str(&self::sheet(&sheet));
        }
        text.push_str(&notes(comparison));
        Ok(text.into_bytes())
    }
}

fn notes(comparison: &Comparison) -> String {
    let notes: String = notes::notes(comparison).iter().map(|note| item(note)).collect();
    match &comparison.gate {
        Some(gate) => notes + "\n" + &gated(comparison, gate),
        None => notes,
    }
}

/// What the user's limits come to, the sum as a title.
fn gated(comparison: &Comparison, gate: &Gate) -> String {
    let mut lines = gate::lines(comparison, gate).into_iter();
    let title = lines.next().map(|sum| format!("**{sum}**\n\n")).unwrap_or_default();
    title + &lines.map(|line| item(&line)).collect::<String>()
}

fn item(note: &str) -> String {
    format!("- {}\n", markdown_item(note))
}

fn sheet(sheet: &Sheet) -> String {
    let line = |cells: Vec<String>| {
        let padding = vec![String::new(); sheet.header.len().saturating_sub(cells.len())];
        format!("| {} |\n", [cells, padding].concat().join(" | "))
    };
    let plain = |cells: &[String]| cells.iter().map(|cell| markdown_cell(cell)).collect::<Vec<_>>();
    let side = if sheet.prose { " --- |" } else { " ---: |" };
    let numbers = side.repeat(sheet.header.len() - 1);
    let title = markdown_item(&sheet.title);
    let mut text = format!("**{title}**\n\n{}| --- |{numbers}\n", line(plain(&sheet.header)));
    for words in &sheet.rows {
        let mut cells = plain(words);
        let indent = words[0].len() - words[0].trim_start().len();
        cells[0] = match (words.len(), indent) {
            (1, 0) => format!("**{}**", cells[0]),
            _ => "&emsp;".repeat(indent / 2) + &cells[0],
        };
        text.push_str(&line(cells));
    }
    text + "\n"
}
