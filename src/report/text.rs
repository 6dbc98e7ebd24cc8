//! For a terminal.

use anyhow::Result;
use comfy_table::{
    Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, Width, presets,
};

use super::layout::Tables;
use super::notes;
use super::screen;
use super::sections::{Part, SECTIONS, Section};
use super::sheet::Sheet;
use super::table::{self, Kind, Line};
use super::{Detail, Report, ReportInfo, Style, WIDTH};
use crate::compare::{Comparison, Verdict};
use crate::units;
use crate::words::{self, Words};

pub struct Text;

static INFO: ReportInfo =
    ReportInfo { name: "text", layouts: true, sections: true, summary: "a table for the terminal" };

/// Fewest characters that the names of rows have before cells are broken over lines.
const SHORTEST: usize = 12;
/// Width at most of the names in tables of words.
const NAMES: u16 = 30;

impl Report for Text {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let width = style.width.unwrap_or(WIDTH);
        let mut text = match style.layout {
            Some(layout) => tables_of(&layout.of(comparison, &style.words)?, width, style),
            None => String::new(),
        };
        match &style.detail {
            Detail::Screen if text.is_empty() => {
                text = screen::render(comparison, width.into(), style);
            }
            Detail::Screen => {
                let answer = screen::answer(comparison, width.into(), &ANSWER, style);
                text.push_str(&format!("\n{}\n", answer.join("\n")));
            }
            Detail::Long => {
                let is_told = |section: &&Section| match section.part {
                    // It repeats the rows in short.
                    Part::Summary => false,
                    // The layout's tables stand in their place.
                    Part::Rows => text.is_empty(),
                    Part::Tables(_) | Part::Notes => true,
                };
                let all = SECTIONS.iter().filter(is_told);
                let all: Vec<&Section> = all.collect();
                text.extend(all.into_iter().map(|it| section(comparison, it, width, style)));
            }
            Detail::Sections(wanted) => {
                for it in wanted {
                    match section(comparison, it, width, style) {
                        empty if empty.is_empty() => {
                            let name = ("name", words::text(it.name));
                            let told = style.words.with("section-empty", &[name]);
                            text.push_str(&format!("\n{told}\n"));
                        }
                        some => text.push_str(&some),
                    }
                }
            }
        }
        Ok(text.trim_start_matches('\n').as_bytes().to_vec())
    }
}

/// Sentences and warnings below the tables of a layout.
const ANSWER: screen::Size = screen::Size { sentences: 3, lines: 2, warnings: 2, rows: 0 };

/// The tables of a layout with their notes.
fn tables_of(tables: &Tables, width: u16, style: &Style) -> String {
    let mut text: String = tables.sheets.iter().map(|it| self::sheet(it, style)).collect();
    text.push('\n');
    text.extend(tables.notes.iter().map(|note| wrapped(note, width as usize)));
    text
}

/// A part of the whole output; empty where there is nothing to show.
fn section(comparison: &Comparison, section: &Section, width: u16, style: &Style) -> String {
    match section.part {
        Part::Summary => screen::render(comparison, width.into(), style),
        Part::Rows => rows(comparison, width, style),
        Part::Notes => notes(comparison, &style.words, width),
        Part::Tables(of) => {
            of(comparison, &style.words).iter().map(|it| sheet(it, style)).collect()
        }
    }
}

/// The table, as wide as its names may be without breaking the rest of it over lines. Where even
/// the shortest do not help, the cells are broken.
fn rows(comparison: &Comparison, width: u16, style: &Style) -> String {
    let longest = (SHORTEST..=table::LONG).rev().step_by(2);
    let fitting = longest.filter_map(|long| {
        let lines = table::lines(comparison, &style.words, long);
        rows_in(&lines, width, style)
    });
    let lines = || table::lines(comparison, &style.words, table::LONG);
    fitting.take(1).next().unwrap_or_else(|| joined(broken(&lines(), width, style), Vec::new()))
}

/// The table where every line of it fits the width. Long names stand on lines of their own, so that
/// figures need not share one with them.
fn rows_in(lines: &[Line], width: u16, style: &Style) -> Option<String> {
    let is_heading = |line: &&Line| line.kind == Kind::Heading;
    let figures: Vec<&Line> = lines.iter().filter(|line| !is_heading(line)).collect();
    let without = table_lines(&figures, width, style);
    if without.len() != figures.len() + 1 {
        return None;
    }
    let mut place = 0;
    let mut headings = Vec::new();
    for line in lines {
        match is_heading(&line) {
            true => headings.push((place, bold(&line.what, style))),
            false => place += 1,
        }
    }
    Some(joined(without, headings))
}

/// The table with its cells broken over lines.
fn broken(lines: &[Line], width: u16, style: &Style) -> Vec<String> {
    table_lines(&lines.iter().collect::<Vec<_>>(), width, style)
}

fn table_lines(lines: &[&Line], width: u16, style: &Style) -> Vec<String> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width);
    colours(&mut table, style);
    let header = header(&style.words);
    let last = header.len() - 1;
    table.set_header(header);
    table.add_rows(lines.iter().map(|line| cells(line)));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), u16::from(index < last)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn colours(table: &mut Table, style: &Style) {
    match style.colour {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
}

fn bold(text: &str, style: &Style) -> String {
    if style.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// The lines of a table, its header first, with headings before the rows of those numbers.
fn joined(lines: Vec<String>, headings: Vec<(usize, String)>) -> String {
    let mut text = String::new();
    let mut headings = headings.into_iter().peekable();
    for (at, line) in lines.into_iter().enumerate() {
        while let Some((_, heading)) = headings.next_if(|(place, _)| place + 1 == at) {
            text.push_str(&(heading + "\n"));
        }
        text.push_str(&(line + "\n"));
    }
    text.extend(headings.map(|(_, heading)| heading + "\n"));
    text
}

/// What stands under the tables, as a list.
fn notes(comparison: &Comparison, words: &Words, width: u16) -> String {
    let notes = notes::notes(comparison, words);
    let list: String = notes.iter().map(|note| wrapped(note, width as usize)).collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

fn sheet(sheet: &Sheet, style: &Style) -> String {
    let mut table = Table::new();
    // Numbers are not arranged to the width: broken over lines they are worse than long lines.
    let arrangement =
        if sheet.prose { ContentArrangement::Dynamic } else { ContentArrangement::Disabled };
    table.load_preset(presets::NOTHING).set_content_arrangement(arrangement);
    table.set_width(style.width.unwrap_or(WIDTH));
    colours(&mut table, style);
    let title = |text: &String| comfy_table::Cell::new(text).add_attribute(Attribute::Bold);
    table.set_header(sheet.header.iter().map(title));
    // Rows of one cell are headings of what follows: they must not widen the first column.
    let (mut headings, mut place) = (Vec::new(), 0);
    for row in &sheet.rows {
        match row.as_slice() {
            [heading] => headings.push((place, heading.clone())),
            cells => {
                place += 1;
                table.add_row(cells);
            }
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        if sheet.prose && index == 0 {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(NAMES)));
        }
        if index > 0 && !sheet.prose {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = usize::from(style.width.unwrap_or(WIDTH));
    let below = sheet.below.iter().flat_map(|text| units::wrapped(text, width));
    let below: String = below.map(|line| line + "\n").collect();
    format!("\n{}\n{}{below}", bold(&sheet.title, style), joined(lines, headings))
}

fn header(words: &Words) -> Vec<comfy_table::Cell> {
    let bold = |text: String| comfy_table::Cell::new(text).add_attribute(Attribute::Bold);
    let heading = |id: &str| bold(words.say(&format!("head-{id}")));
    let figures = ["cost", "tax", "interval", "mean"];
    let figures = figures.map(|id| heading(id).set_alignment(CellAlignment::Right));
    [bold(String::new())].into_iter().chain(figures).chain([heading("verdict")]).collect()
}

fn cells(line: &Line) -> Vec<comfy_table::Cell> {
    let dim = line.kind == Kind::Summary;
    let shade = |cell: comfy_table::Cell| {
        if dim { cell.add_attribute(Attribute::Dim) } else { cell }
    };
    let right =
        |text: &str| shade(comfy_table::Cell::new(text)).set_alignment(CellAlignment::Right);
    let mut what = shade(comfy_table::Cell::new(&line.what));
    let mut verdict = shade(comfy_table::Cell::new(&line.verdict));
    if line.kind == Kind::Reference {
        what = what.add_attribute(Attribute::Bold);
    }
    if let Some(colour) = line.word.and_then(colour) {
        verdict = verdict.fg(colour);
    }
    vec![
        what,
        right(&line.cost),
        right(&line.tax),
        right(&line.interval),
        right(&line.mean),
        verdict,
    ]
}

/// Colours that are legible on light and on dark; the word says the same without them.
fn colour(verdict: Verdict) -> Option<Color> {
    match verdict {
        Verdict::Slower => Some(Color::Red),
        Verdict::Faster => Some(Color::Green),
        Verdict::Inconclusive { .. } => Some(Color::DarkYellow),
        Verdict::Same | Verdict::Descriptive => None,
    }
}

/// The note as a list item of lines no wider than `width`. Its own line breaks stay: commands to
/// copy and what others printed are not readable without them.
fn wrapped(note: &str, width: usize) -> String {
    let lines = note.lines().flat_map(|line| units::wrapped(line, width.saturating_sub(2)));
    let marked = lines.enumerate().map(|(at, line)| {
        let mark = if at == 0 { "-" } else { " " };
        format!("{mark} {line}\n")
    });
    marked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 9), "- one two\n  three\n");
        assert_eq!(wrapped("immeasurably", 5), "- immeasurably\n");
        assert_eq!(wrapped("an immeasurably", 5), "- an\n  immeasurably\n");
    }

    #[test]
    fn line_breaks_of_a_note_stay() {
        let note = "it failed:\n  by hand: sh -c x\n\nbye\r\n";
        assert_eq!(wrapped(note, 12), "- it failed:\n  by hand:\n  sh -c x\n  bye\n");
        assert_eq!(wrapped(note, 80), "- it failed:\n  by hand: sh -c x\n  bye\n");
    }
}
