//! For an issue, a wiki or a README.

use anyhow::Result;

use super::escape::{markdown_cell, markdown_item};
use super::gate;
use super::notes;
use super::screen::{self, Glance, Piece};
use super::sections::{self, Part};
use super::sheet::Sheet;
use super::table::{self, Line};
use super::{Detail, Report, ReportInfo, Style};
use crate::compare::{Comparison, Gate, Verdict};
use crate::words::{Words, text as text_of};

pub struct Markdown;

static INFO: ReportInfo = ReportInfo {
    name: "markdown",
    layouts: true,
    sections: true,
    summary: "a table for issues and wikis",
};

impl Report for Markdown {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let words = &style.words;
        let mut text = match style.layout {
            Some(layout) => {
                let tables = layout.of(comparison, words)?;
                let sheets: String = tables.sheets.iter().map(sheet).collect();
                let notes: String = tables.notes.iter().map(|note| item(note)).collect();
                let state = item(&screen::state(&comparison.conditions, words).1);
                sheets + &notes + &state + "\n"
            }
            None => String::new(),
        };
        let Detail::Sections(wanted) = &style.detail else {
            if text.is_empty() {
                text = answer(comparison, words, MOST_SENTENCES) + "\n" + &rows(comparison, words);
            }
            text.extend(sections::sheets(comparison, words).iter().map(sheet));
            return Ok((text + &notes(comparison, words)).into_bytes());
        };
        for section in wanted {
            let part = match section.part {
                Part::Summary => summary(comparison, words),
                Part::Rows => rows(comparison, words),
                Part::Notes => notes(comparison, words),
                Part::Tables(of) => of(comparison, words).iter().map(sheet).collect(),
            };
            let name = section.name;
            text.push_str(&match part.is_empty() {
                true => item(&words.with("section-empty", &[("name", text_of(name))])),
                false => part,
            });
        }
        Ok((text.trim_end().to_owned() + "\n").into_bytes())
    }
}

/// Environments that have a sentence of their own above the rows.
const MOST_SENTENCES: usize = 16;
/// Lines of the table of a summary: with them it fits a screen.
const MOST_LINES: usize = 12;
/// Columns of letters of that table; a page has more room than a terminal.
const WIDTH: usize = 100;

/// The verdicts at a glance, what they come to, and the state of the machine.
fn summary(comparison: &Comparison, words: &Words) -> String {
    let Glance { title, grid, notes } = screen::glance(comparison, words, WIDTH, MOST_LINES);
    let title = title.map(|title| format!("**{}**\n\n", markdown_item(&title)));
    let heads = grid.header.iter().map(|line| line.iter().map(|cell| cell.text.as_str()));
    let count = grid.header.iter().chain(&grid.lines).map(Vec::len).max().unwrap_or(0);
    let mut header = vec![String::new(); count];
    for head in heads {
        for (own, text) in header.iter_mut().zip(head) {
            let gap = if own.is_empty() || text.is_empty() { "" } else { "." };
            own.push_str(&format!("{gap}{}", markdown_cell(text)));
        }
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let last = count.saturating_sub(1);
    let side = |at: usize| match at {
        0 => "---",
        at if at == last && grid.words_last => "---",
        _ => "---:",
    };
    let sides: Vec<String> = (0..count).map(|at| side(at).to_owned()).collect();
    let mut text = title.unwrap_or_default() + &line(&header) + &line(&sides);
    let differs = |it: &Piece| matches!(it.verdict, Some(Verdict::Slower | Verdict::Faster));
    for pieces in &grid.lines {
        let cells = pieces.iter().map(|piece| match differs(piece) {
            true => format!("**{}**", markdown_cell(&piece.text)),
            false => markdown_cell(&piece.text),
        });
        let mut cells: Vec<String> = cells.collect();
        cells.resize(count, String::new());
        text.push_str(&line(&cells));
    }
    let has_bold = grid.lines.iter().flatten().any(differs);
    let bold = has_bold.then(|| words.say("screen-bold"));
    let notes: Vec<String> = bold.into_iter().chain(notes).collect();
    if !notes.is_empty() {
        text.push_str(&format!("\n{}\n", markdown_item(&words.joined(&notes))));
    }
    format!("{text}\n{}", answer(comparison, words, 3))
}

/// What the verdicts come to, what would be misread without a warning, and the machine's state.
fn answer(comparison: &Comparison, words: &Words, most: usize) -> String {
    let told = screen::verdicts(comparison, words, most);
    let warnings =
        screen::warnings(comparison, words, 2).into_iter().map(|text| format!("! {text}"));
    let state = screen::state(&comparison.conditions, words).1;
    told.into_iter().chain(warnings).chain([state]).map(|text| item(&text)).collect()
}

/// Every row with its interval and verdict.
fn rows(comparison: &Comparison, words: &Words) -> String {
    let headings = ["cost", "tax", "whole-interval", "mean", "verdict"];
    let headings = headings.map(|id| words.say(&format!("head-{id}")));
    let mut text = format!("| | {} |\n", headings.join(" | "));
    text.push_str("| --- | ---: | ---: | ---: | ---: | --- |\n");
    for line in table::lines(comparison, words, table::LONG) {
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
    text + "\n"
}

fn notes(comparison: &Comparison, words: &Words) -> String {
    let notes: String = notes::notes(comparison, words).iter().map(|note| item(note)).collect();
    match &comparison.gate {
        Some(gate) => notes + "\n" + &gated(comparison, words, gate),
        None => notes,
    }
}

/// What the user's limits come to, the sum as a title.
fn gated(comparison: &Comparison, words: &Words, gate: &Gate) -> String {
    let mut lines = gate::lines(words, comparison, gate).into_iter();
    let title = lines.next().map(|sum| format!("**{sum}**\n\n")).unwrap_or_default();
    title + &lines.map(|line| item(&line)).collect::<String>()
}

fn item(note: &str) -> String {
    format!("- {}\n", markdown_item(note))
}

/// A small table with its title.
pub fn sheet(sheet: &Sheet) -> String {
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
    if !sheet.below.is_empty() {
        text.push('\n');
        text.extend(sheet.below.iter().map(|sentence| item(sentence)));
    }
    text + "\n"
}
