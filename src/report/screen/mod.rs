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

use grid::cut;
pub use grid::{Grid, Piece};
pub use tally::Tally;

use super::{Style, directories, notes, table};
use crate::compare::{
    Cell, Comparison, Conditions, Directories, Flag, RemarkKind, Row, Tax, Verdict, tax_of,
};
use crate::units;
use crate::words::{Words, text};

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

/// Sentences about directories at most, where there is room.
const DIRECTORIES: usize = 9;

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

/// What the verdicts come to: the directories first, then a sentence for each environment.
pub fn verdicts(comparison: &Comparison, words: &Words, most: usize) -> Vec<String> {
    let mut all = directories::sentences(comparison, words);
    all.truncate(most.max(DIRECTORIES));
    all.extend(sentences::sentences(comparison, words, most));
    all
}

/// What follows from the verdicts, and where to go from there.
pub fn answer(comparison: &Comparison, width: usize, size: &Size, style: &Style) -> Vec<String> {
    let words = &style.words;
    let mut lines = Vec::new();
    // One for each directory is the whole answer where there is one environment.
    for sentence in directories::sentences(comparison, words).iter().take(size.sentences + 1) {
        lines.extend(short(sentence, width, size.lines));
    }
    for sentence in sentences::sentences(comparison, words, size.sentences) {
        lines.extend(short(&sentence, width, size.lines));
    }
    for warning in warnings(comparison, words, size.warnings) {
        lines.extend(short(&format!("! {warning}"), width, 2));
    }
    let (word, text) = state(&comparison.conditions, words);
    let state = units::wrapped(&text, width);
    let noisy = style.colour && comparison.conditions.is_noisy();
    lines.extend(state.into_iter().enumerate().map(|(at, line)| match (at, noisy) {
        (0, true) => line.replacen(&word, &format!("\x1b[33m{word}\x1b[0m"), 1),
        _ => line,
    }));
    let name = |id: &str| words.say(id) + " ";
    if let Some(next) = next(comparison, style) {
        lines.extend(command(&name("screen-next"), &next, width));
    }
    lines.extend(command(&name("screen-rows"), &with(style, &["--long"]), width));
    lines
}

/// The verdicts of all rows, or of those that tell most.
pub struct Glance {
    pub title: Option<String>,
    pub grid: Grid,
    /// What the table leaves out, and what its marks and letters mean.
    pub notes: Vec<String>,
}

/// The verdicts in a table of so many columns of letters and so many lines. Where there is one
/// environment with several target directories, these are what is compared.
pub fn glance(comparison: &Comparison, words: &Words, width: usize, most: usize) -> Glance {
    match (&comparison.directories, &comparison.columns[..]) {
        (Some(directories), [_]) => of_directories((comparison, words), directories, width, most),
        _ => of_environments(comparison, words, width, most),
    }
}

fn of_directories(
    (comparison, words): (&Comparison, &Words),
    directories: &Directories,
    width: usize,
    most: usize,
) -> Glance {
    let view = &directories.views[0];
    let of_view = of_environments(view, words, width, most);
    let base = directories::described(comparison, &directories.reference);
    let rows = view.rows.len();
    let base = ("base", text(&base));
    let title = match &view.columns[..] {
        [_, other] => {
            let other = directories::described(comparison, other);
            words.with("screen-two-dirs", &[("other", text(&other)), base])
        }
        all => {
            let values = [("count", all.len().into()), ("rows", rows.into()), base];
            words.with("screen-many-dirs", &values)
        }
    };
    let without = comparison.rows.iter().filter(|row| row.dir.is_none() && table::has_lines(row));
    let note = match without.count() {
        0 => None,
        rows => Some(words.with("screen-without-dir", &[("count", rows.into())])),
    };
    let notes = note.into_iter().chain(of_view.notes).collect();
    Glance { title: Some(title), notes, ..of_view }
}

fn of_environments(comparison: &Comparison, words: &Words, width: usize, most: usize) -> Glance {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let reference = &comparison.reference;
    let environments = comparison.columns.len();
    if environments <= 2 {
        let figures = figures::of_rows(comparison, words, most);
        let other = comparison.columns.get(1);
        let reference = ("reference", text(reference));
        let title = |other| words.with("screen-two", &[("other", text(other)), reference.clone()]);
        return Glance {
            title: other.map(|other| title(other)),
            notes: figures.left_out.into_iter().chain(explained(words, &figures.cells)).collect(),
            grid: figures.grid,
        };
    }
    if let [row] = rows[..] {
        let cells = row.cells.iter().enumerate();
        let shown = cells.filter(|(column, _)| !comparison.is_absent(*column));
        let notes = explained(words, &shown.map(|it| it.1).collect::<Vec<_>>());
        return Glance {
            title: None,
            grid: figures::of_environments(comparison, words, row),
            notes,
        };
    }
    let matrix = matrix::matrix(comparison, words, width, most);
    let values = [
        ("environments", environments.into()),
        ("rows", rows.len().into()),
        ("reference", text(reference)),
    ];
    let title = words.with("screen-many", &values);
    let mut notes = Vec::new();
    if !matrix.left_out.is_empty() {
        let names = words.listed(&matrix.left_out);
        notes.push(words.with("screen-left-out", &[("names", text(&names))]));
    }
    let legend = matrix::legend(comparison, words, &matrix);
    notes.extend(Some(legend).filter(|legend| !legend.is_empty()));
    Glance { title: Some(title), grid: matrix.grid, notes }
}

fn table_part(comparison: &Comparison, width: usize, most: usize, style: &Style) -> Vec<String> {
    let Glance { title, grid, notes } = glance(comparison, &style.words, width, most);
    let mut lines = title.map_or(Vec::new(), |title| short(&title, width, 2));
    lines.extend(grid.drawn(width, style.colour));
    lines.extend(notes.iter().flat_map(|note| short(note, width, 3)));
    lines
}

/// The row's name, without a directory that all rows on files have in common.
fn name(comparison: &Comparison, words: &Words, row: &Row) -> String {
    let mut dirs = comparison.rows.iter().filter_map(|row| row.dir.as_ref());
    let first = dirs.next();
    let common = dirs.all(|dir| Some(dir) == first);
    let dir = row.dir.clone().filter(|_| !common);
    table::title(words, &Row { dir, cells: Vec::new(), ..row.clone() })
}

/// What the letters and figures of these cells mean, as far as a reader would stumble over them.
fn explained(words: &Words, cells: &[&Cell]) -> Vec<String> {
    let name = |flag: &Flag| {
        let text = notes::explanation(words, *flag);
        let name = text.split_once(':').map_or(text.as_str(), |(name, _)| name);
        format!("({}) {name}", flag.letter())
    };
    let flags = table::flags_of(cells.iter().copied());
    let names: Vec<String> = flags.iter().map(name).collect();
    let letters: String = flags.iter().map(|flag| flag.letter()).collect();
    let flags = format!("{}: envtax list flags {letters}", words.listed(&names));
    let taxes: Vec<&Tax> = cells.iter().filter_map(|cell| tax_of(cell)).collect();
    let remarks = tally::remarks(words, &taxes);
    (!letters.is_empty()).then_some(flags).into_iter().chain(remarks).collect()
}

/// What would be misread without it: remarks, and why something was not measured.
pub fn warnings(comparison: &Comparison, words: &Words, most: usize) -> Vec<String> {
    let mut all: Vec<String> = notes::remarks_of(comparison, words, &WARNINGS);
    all.extend(notes::reasons(comparison, words));
    let line = |text: &String| text.lines().next().unwrap_or_default().to_owned();
    let more = all.len().saturating_sub(most);
    let mut told: Vec<String> = all.iter().take(most).map(line).collect();
    if more > 0
        && let Some(last) = told.last_mut()
    {
        last.push_str(&words.with("screen-more-warnings", &[("count", more.into())]));
    }
    told
}

/// The state of the machine: a word, and the sentence that begins with it.
pub fn state(conditions: &Conditions, words: &Words) -> (String, String) {
    let word = words.say(match conditions.others {
        _ if conditions.is_noisy() => "state-word-noisy",
        Some(_) => "state-word-quiet",
        None => "state-word-unknown",
    });
    let beside = words.listed(&beside(conditions, words));
    let rounds = rounds(conditions, words);
    let parts: Vec<String> = [beside, rounds].into_iter().filter(|part| !part.is_empty()).collect();
    let gap = if parts.is_empty() { "" } else { ": " };
    let text = format!("{word}{gap}{}", words.joined(&parts));
    (word, text)
}

/// What else had a part in the measuring.
fn beside(conditions: &Conditions, words: &Words) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some((usual, most)) = conditions.others {
        let cpus = match conditions.cpus {
            Some(cpus) => words.with("state-cpus-of", &[("cpus", cpus.into())]),
            None => words.say("state-cpus-unknown"),
        };
        let id = if usual >= 1.0 { "state-wanted" } else { "state-wanted-none" };
        let [usual_tasks, most_tasks] = [usual, most].map(|tasks| tasks.round() as usize);
        parts.push(words.with(id, &[("usual", usual_tasks.into()), ("cpus", text(&cpus))]));
        if most > usual {
            parts.push(words.with("state-wanted-most", &[("most", most_tasks.into())]));
        }
    }
    if let Some(share) = conditions.steal.filter(|share| *share >= 0.001) {
        let share = units::percent(share);
        parts.push(words.with("state-hypervisor", &[("share", text(&share))]));
    }
    parts
}

/// How many rounds there were.
fn rounds(conditions: &Conditions, words: &Words) -> String {
    let Some((fewest, most)) = conditions.rounds else { return String::new() };
    let (low, high) = (fewest.to_string(), most.to_string());
    let rounds = match fewest == most {
        true => low,
        false => words.with("range-to", &[("low", text(&low)), ("high", text(&high))]),
    };
    let wanted = ("wanted", conditions.wanted_rounds.into());
    let of = match conditions.is_short() {
        true => words.with("state-rounds-wanted", &[wanted]),
        false => String::new(),
    };
    let values = [("rounds", text(&rounds)), ("most", most.into()), ("of", text(&of))];
    words.with("state-rounds-of", &values)
}

/// The command to give next: what measures open rows, or what explains those that are decided.
fn next(comparison: &Comparison, style: &Style) -> Option<Vec<String>> {
    let view = comparison.directories.as_ref().and_then(|it| it.views.first());
    let of_view = view.filter(|_| comparison.columns.len() == 1).and_then(|it| it.next.as_ref());
    if let Some(next) = comparison.next.as_ref().or(of_view) {
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

/// A command that can be pasted: broken between its parts, with a backslash at each line's end.
fn command(name: &str, words: &[String], width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/=@%+".contains(c);
        let quoted = match word.chars().all(plain) && !word.is_empty() {
            true => word.into(),
            false => shell_words::quote(word),
        };
        match parts.last_mut() {
            // An option and its value stay together.
            Some(part) if !word.starts_with("--") && part.starts_with("--") => {
                part.push_str(&format!(" {quoted}"));
            }
            _ => parts.push(quoted.into_owned()),
        }
    }
    let mut lines = Vec::new();
    let mut line = format!("{name}{}", parts.first().map_or("", String::as_str));
    for part in parts.iter().skip(1) {
        // Room for the backslash.
        if units::columns(&line) + 1 + units::columns(part) + 2 > width {
            lines.push(format!("{line} \\"));
            line = " ".repeat(units::columns(name)) + part;
        } else {
            line.push_str(&format!(" {part}"));
        }
    }
    lines.push(line);
    lines
}
