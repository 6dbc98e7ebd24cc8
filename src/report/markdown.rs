//! For an issue, a wiki or a README.

use anyhow::Result;

use super::sections;
use super::sheet::Sheet;
use super::table::{self, Line};
use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

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
            text.extend(tables.notes.iter().map(|note| format!("- {note}\n")));
            return Ok((text + &notes(comparison)).into_bytes());
        }
        let mut text = String::from("| | cost | tax | 95 % interval | mean | verdict |\n");
        text.push_str("| --- | ---: | ---: | ---: | ---: | --- |\n");
        for line in table::lines(comparison, table::LONG) {
            let what = match line.kind {
                table::Kind::Heading | table::Kind::Reference => {
                    format!("**{}**", escaped(&line.what))
                }
                _ => format!("&emsp;{}", escaped(line.what.trim_start())),
            };
            let verdict = escaped(&line.verdict);
            let Line { cost, tax, interval, mean, .. } = line;
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
    let item = |note: &String| {
        let lines: Vec<&str> = note.lines().map(str::trim).collect();
        format!("- {}\n", lines.join("<br>"))
    };
    table::notes(comparison).iter().map(item).collect()
}

fn sheet(sheet: &Sheet) -> String {
    let row = |cells: &[String]| {
        let empty = String::new();
        let padded = (0..sheet.header.len()).map(|at| cells.get(at).unwrap_or(&empty));
        let cells: Vec<String> = padded.map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let side = if sheet.prose { " --- |" } else { " ---: |" };
    let numbers = side.repeat(sheet.header.len() - 1);
    let mut text = format!("**{}**\n\n{}| --- |{numbers}\n", sheet.title, row(&sheet.header));
    for cells in &sheet.rows {
        let first = match cells.len() {
            1 if !cells[0].starts_with(' ') => format!("**{}**", cells[0]),
            _ => cells[0].replacen("  ", "&emsp;", cells[0].len() - cells[0].trim_start().len()),
        };
        let mut cells = cells.clone();
        cells[0] = first;
        text.push_str(&row(&cells));
    }
    text + "\n"
}

/// Text that cannot end its cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
