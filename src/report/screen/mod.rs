//! The first screen of a comparison: the verdicts at a glance, what they come to as sentences, the
//! state of the machine, and the next command. It may use a comparison and the words of `report/`.
//! It must not compute statistics, nor write to files or streams.

mod figures;
mod grid;
mod matrix;
mod sentences;
mod tally;
#[cfg(test)]
mod tests;

use grid::{Grid, Piece, cut};

use super::{Style, notes, table};
use crate::compare::{Cell, Comparison, Conditions, Flag, RemarkKind, Row, Verdict};
use crate::units;

/// Most lines of the screen.
const MOST_LINES: usize = 40;
/// What is tried until the screen is short enough.
const SIZES: [Size; 7] = [
    Size { sentences: 6, lines: 3, warnings: 3, rows: 24 },
    Size { sentences: 6, lines: 3, warnings: 3, rows: 20 },
    Size { sentences: 6, lines: 2, warnings: 2, rows: 20 },
    Size { sentences: 4, lines: 2, warnings: 2, rows: 18 },
    Size { sentences: 3, lines: 2, warnings: 1, rows: 17 },
    Size { sentences: 2, lines: 2, warnings: 1, rows: 16 },
    Size { sentences: 1, lines: 2, warnings: 1, rows: 12 },
];

/// How much there is of a part of the screen, at most.
#[derive(Clone, Copy)]
pub struct Size {
    pub sentences: usize,
    /// Lines of a sentence.
    pub lines: usize,
    pub warnings: usize,
    /// Lines of the table.
    pub rows: usize,
}

/// Remarks without which the figures would be misread.
const WARNINGS: [RemarkKind; 11] = [
    RemarkKind::Control,
    RemarkKind::NotDurable,
    RemarkKind::ClockRate,
    RemarkKind::ClockJump,
    RemarkKind::ClockBackward,
    RemarkKind::OtherProgram,
    RemarkKind::OtherCommand,
    RemarkKind::Drift,
    RemarkKind::CutOff,
    RemarkKind::Interrupted,
    RemarkKind::Sessions,
];

/// The screen, of lines no wider than `width` columns but for words that are longer.
pub fn render(comparison: &Comparison, width: usize, style: &Style) -> String {
    let of_size = |size: &Size| {
        let mut screen = table_part(comparison, width, size.rows, style);
        screen.push(String::new());
        screen.extend(answer(comparison, width, size, style));
        screen
    };
    let mut found = Vec::new();
    for size in SIZES {
        found = of_size(&size);
        if found.len() <= MOST_LINES {
            break;
        }
    }
    found.join("\n") + "\n"
}

/// A sentence for each environment, or for several of which the same is said.
pub fn all_sentences(comparison: &Comparison) -> Vec<String> {
    sentences::sentences(comparison, usize::MAX)
}

/// The state of the machine as a word, and what it is made of.
pub fn machine_state(comparison: &Comparison) -> (&'static str, String) {
    state(&comparison.conditions)
}

/// What follows from the verdicts, and where to go from there.
pub fn answer(comparison: &Comparison, width: usize, size: &Size, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for sentence in sentences::sentences(comparison, size.sentences) {
        lines.extend(short(&sentence, width, size.lines));
    }
    for warning in warnings(comparison, size.warnings) {
        lines.extend(short(&format!("! {warning}"), width, 2));
    }
    let (word, text) = state(&comparison.conditions);
    let state = units::wrapped(&format!("{word}: {text}"), width);
    let noisy = style.colour && comparison.conditions.is_noisy();
    lines.extend(state.into_iter().enumerate().map(|(at, line)| match (at, noisy) {
        (0, true) => line.replacen(word, &format!("\x1b[33m{word}\x1b[0m"), 1),
        _ => line,
    }));
    if let Some(words) = next(comparison, style) {
        lines.extend(command("next: ", &words, width));
    }
    lines.extend(command("rows: ", &with(style, &["--long"]), width));
    lines
}

fn table_part(comparison: &Comparison, width: usize, most: usize, style: &Style) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let reference = &comparison.reference;
    let environments = comparison.columns.len();
    if environments <= 2 {
        let figures = figures::of_rows(comparison, most);
        let mut lines = Vec::new();
        if let [_, other] = &comparison.columns[..] {
            lines.extend(short(&format!("{other}: multiples of {reference}'s cost"), width, 2));
        }
        lines.extend(figures.grid.drawn(width, style.colour));
        lines.extend(figures.left_out.map(|text| cut(&format!("… {text}"), width)));
        lines.extend(letters(&rows, width));
        return lines;
    }
    if let [row] = rows[..] {
        let mut lines = figures::of_environments(comparison, row).drawn(width, style.colour);
        lines.extend(letters(&rows, width));
        return lines;
    }
    let matrix = matrix::matrix(comparison, width, most);
    let title = format!(
        "{environments} environments, {} rows: multiples of {reference}'s cost",
        rows.len()
    );
    let mut lines = short(&title, width, 2);
    lines.extend(matrix.grid.drawn(width, style.colour));
    if !matrix.left_out.is_empty() {
        let text = format!("… not shown for want of room: {}", matrix.left_out.join(", "));
        lines.extend(short(&text, width, 1));
    }
    let legend = tally::legend(comparison, &cells(&matrix.grid), matrix.of_areas);
    lines.extend(units::wrapped(&legend, width));
    lines
}

/// The row's name, without a directory that all rows on files have in common.
fn name(comparison: &Comparison, row: &Row) -> String {
    let mut dirs = comparison.rows.iter().filter_map(|row| row.dir.as_ref());
    let first = dirs.next();
    let common = dirs.all(|dir| Some(dir) == first);
    let dir = row.dir.clone().filter(|_| !common);
    table::title(&Row { dir, cells: Vec::new(), ..row.clone() })
}

/// The cells of a grid that have marks.
fn cells(grid: &Grid) -> Vec<&Piece> {
    grid.lines.iter().flat_map(|line| line.iter().skip(1)).collect()
}

/// The letters of the rows' flags, each with its name.
fn letters(rows: &[&Row], width: usize) -> Vec<String> {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let flags = cells.filter_map(|cell| match cell {
        Cell::Measured(measured) => Some(&measured.flags),
        _ => None,
    });
    let mut flags: Vec<Flag> = flags.flatten().copied().collect();
    flags.sort();
    flags.dedup();
    let name = |flag: &Flag| {
        let text = flag.explanation();
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        format!("({}) {name}", flag.letter())
    };
    let names: Vec<String> = flags.iter().map(name).collect();
    match names.is_empty() {
        true => Vec::new(),
        false => short(&format!("{}: envtax list flags", names.join(", ")), width, 3),
    }
}

/// What would be misread without it: remarks, and why something was not measured.
fn warnings(comparison: &Comparison, most: usize) -> Vec<String> {
    let mut all: Vec<String> = notes::remarks_of(comparison, &WARNINGS);
    all.extend(notes::reasons(comparison));
    let line = |text: &String| text.lines().next().unwrap_or_default().to_owned();
    let more = all.len().saturating_sub(most);
    let mut told: Vec<String> = all.iter().take(most).map(line).collect();
    if more > 0
        && let Some(last) = told.last_mut()
    {
        last.push_str(&format!(" (and {more} more: --section notes)"));
    }
    told
}

/// The state of the machine as a word, and what it is made of.
fn state(conditions: &Conditions) -> (&'static str, String) {
    let mut parts = Vec::new();
    if let Some((usual, most)) = conditions.others {
        let cpus = match conditions.cpus {
            Some(1) => "the CPU".into(),
            Some(cpus) => format!("one of {cpus} CPUs"),
            None => "a CPU".into(),
        };
        let tasks = if usual == 1.0 { "task" } else { "tasks" };
        parts.push(match usual >= 1.0 {
            true => format!("{usual:.0} other {tasks} wanted {cpus} in half of the blocks"),
            false => format!("no other task wanted {cpus} in half of the blocks"),
        });
        if most > usual {
            parts.push(format!("{most:.0} or more in a tenth"));
        }
    }
    if let Some(share) = conditions.steal.filter(|share| *share >= 0.001) {
        parts.push(format!("the hypervisor took {}", units::percent(share)));
    }
    let mut text = parts.join(", ");
    if let Some((fewest, most)) = conditions.rounds {
        let range = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
        let of = match conditions.is_short() {
            true => format!(" of the {} that are wanted", conditions.wanted_rounds),
            false => String::new(),
        };
        let gap = if text.is_empty() { "" } else { "; " };
        text.push_str(&format!("{gap}{range} rounds{of}"));
    }
    let word = match conditions.others {
        _ if conditions.is_noisy() => "NOISY",
        Some(_) => "quiet",
        None => "load unknown",
    };
    (word, text)
}

/// The command to give next: what measures open rows, or what explains those that are decided.
fn next(comparison: &Comparison, style: &Style) -> Option<Vec<String>> {
    if let Some(next) = &comparison.next {
        return Some(next.words.clone());
    }
    let taxes =
        comparison.rows.iter().flat_map(|row| &row.cells).filter_map(crate::compare::tax_of);
    let mut verdicts = taxes.map(|tax| tax.verdict);
    let differs = verdicts.any(|it| matches!(it, Verdict::Slower | Verdict::Faster));
    (differs && !comparison.differences.is_empty()).then(|| with(style, &["--section", "facts"]))
}

/// The command that prints the comparison again, with these options.
fn with(style: &Style, options: &[&str]) -> Vec<String> {
    style.again.iter().cloned().chain(options.iter().map(|it| it.to_string())).collect()
}

/// The text in so many lines at most, with `…` where it is cut.
fn short(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = units::wrapped(text, width);
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(cut(&rest, width));
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

/// A command that can be pasted: broken before its options, with a backslash at each line's end.
fn command(name: &str, words: &[String], width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/=@%+".contains(c);
        let quoted = match word.chars().all(plain) && !word.is_empty() {
            true => word.into(),
            false => shell_words::quote(word),
        };
        match parts.last_mut() {
            // An option begins a part.
            Some(part) if !word.starts_with("--") => part.push_str(&format!(" {quoted}")),
            _ => parts.push(quoted.into_owned()),
        }
    }
    let mut lines = Vec::new();
    let mut line = format!("{name}{}", parts.first().map_or("", String::as_str));
    for part in parts.iter().skip(1) {
        // Room for the backslash.
        if grid::columns(&line) + 1 + grid::columns(part) + 2 > width {
            lines.push(format!("{line} \\"));
            line = format!("{:1$}{part}", "", name.len());
        } else {
            line.push_str(&format!(" {part}"));
        }
    }
    lines.push(line);
    lines
}
