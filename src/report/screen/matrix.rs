//! All verdicts at a glance: environments against rows, or against groups of
//! them where rows are too many.

use super::grid::{Grid, Piece};
use super::tally::Tally;
use crate::compare::{Cell, Comparison, Row, StartUp, Verdict};
use crate::report::table;
use crate::units;
use crate::words::{Words, text};

/// A matrix that fits.
pub struct Matrix {
    pub grid: Grid,
    /// Its items are groups of rows.
    pub of_groups: bool,
    /// The last column is the time that starting takes.
    pub has_start: bool,
    /// Groups for which there was no room.
    pub left_out: Vec<String>,
}

/// What a line or a column of the matrix is of.
#[derive(Clone)]
struct Item<'a> {
    name: String,
    /// The name as two lines: the area, and the rest.
    heading: [String; 2],
    rows: Vec<&'a Row>,
}

impl<'a> Item<'a> {
    fn of_row(comparison: &Comparison, words: &Words, row: &'a Row) -> Item<'a> {
        let name = super::name(comparison, words, row);
        let heading = match name.split_once('.') {
            Some((area, rest)) if !row.is_of_command() => [area.to_owned(), rest.to_owned()],
            _ => [String::new(), name.clone()],
        };
        Item { name, heading, rows: vec![row] }
    }

    /// The rows of which `name_of` is that name.
    fn of_group(name: &str, rows: &[&'a Row], name_of: fn(&Row) -> &str) -> Item<'a> {
        let rows = rows.iter().copied().filter(|row| name_of(row) == name).collect();
        Item { name: name.to_owned(), heading: [String::new(), name.to_owned()], rows }
    }

    /// How far its worst row is from the reference, over all columns.
    fn size(&self, columns: &[usize]) -> f64 {
        let worst = |column: &usize| Tally::of(&self.rows, *column).worst();
        let sizes = columns.iter().filter_map(worst).map(|(_, tax)| tax.ratio.ln().abs());
        sizes.fold(0.0, f64::max)
    }
}

/// The matrix that shows most within the width and so many lines.
pub fn matrix(comparison: &Comparison, words: &Words, width: usize, most_lines: usize) -> Matrix {
    let columns: Vec<usize> =
        (0..comparison.columns.len()).filter(|column| !comparison.is_absent(*column)).collect();
    let shown = Shown { comparison, columns, start: words.say("screen-start") };
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let of_rows: Vec<Item<'_>> =
        rows.iter().map(|row| Item::of_row(comparison, words, row)).collect();
    let mut groups = groups(&rows);
    let matrix = |grid: Grid, of_groups| {
        let last = grid.header.last().and_then(|line| line.last());
        let has_start = last.is_some_and(|piece| piece.text == shown.start);
        Matrix { grid, of_groups, has_start, left_out: Vec::new() }
    };
    // What cuts the fewest letters; of equal ones, the first.
    let best = |grids: Vec<Grid>| {
        let short = grids.into_iter().filter(|grid| grid.lines.len() <= most_lines);
        let fitting = short.filter_map(|grid| Some((grid.lost(width)?, grid)));
        fitting.min_by_key(|it| it.0).map(|it| it.1)
    };
    if let Some(grid) = best(shown.grids(&of_rows, [ROWS_AS_LINES, ROWS_AS_COLUMNS])) {
        return matrix(grid, false);
    }
    let mut left_out: Vec<String> = Vec::new();
    loop {
        let mut grids = shown.grids(&groups, [GROUPS; 2]);
        // Environments as lines, which all groups have in common, come first.
        grids.rotate_left(1);
        let found = best(grids);
        if found.is_some() || groups.len() <= 1 {
            let grid = found.unwrap_or_else(|| shown.with_items_as_columns(&groups, false, GROUPS));
            return Matrix { left_out, ..matrix(grid, true) };
        }
        // The group with the least to tell goes first; of equal ones, the last.
        let size = |item: &Item<'_>| item.size(&shown.columns[1..]);
        let least = groups.iter().enumerate().rev().min_by(|a, b| size(a.1).total_cmp(&size(b.1)));
        if let Some(at) = least.map(|(at, _)| at) {
            left_out.push(groups.remove(at).name);
        }
    }
}

/// Fewest columns of a cut name and of a cut heading.
type Shortest = (usize, usize);
const ROWS_AS_LINES: Shortest = (20, 7);
const ROWS_AS_COLUMNS: Shortest = (10, 9);
const GROUPS: Shortest = (8, 7);

/// The rows by area; by probe where all are of one area.
fn groups<'a>(rows: &[&'a Row]) -> Vec<Item<'a>> {
    let by = |name_of: fn(&Row) -> &str| {
        let mut names: Vec<&str> = Vec::new();
        for name in rows.iter().map(|row| name_of(row)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().map(|name| Item::of_group(name, rows, name_of)).collect::<Vec<_>>()
    };
    let areas = by(Row::area);
    if areas.len() > 1 { areas } else { by(|row| &row.probe) }
}

/// The columns that are shown.
struct Shown<'a> {
    comparison: &'a Comparison,
    columns: Vec<usize>,
    /// The heading of the time that starting takes.
    start: String,
}

impl Shown<'_> {
    fn label(&self, column: usize) -> Piece {
        let label = &self.comparison.columns[column];
        if column == 0 { Piece::bold(label) } else { Piece::plain(label) }
    }

    fn cell(&self, item: &Item<'_>, column: usize) -> Piece {
        if column == 0 {
            let text = match item.rows[..] {
                [row] => match &row.cells[0] {
                    Cell::Measured(measured) => table::bounded(measured, row.quantity),
                    Cell::Failed(_) => "!".into(),
                    _ => "–".into(),
                },
                _ => "·".into(),
            };
            return Piece::plain(text);
        }
        let other = |row: &&Row| self.comparison.is_other_filesystem(row, column);
        let mut piece = Tally::of(&item.rows, column).piece();
        if item.rows.iter().any(other) && !["–", "!"].contains(&piece.text.as_str()) {
            piece.text.push_str(" T");
        }
        piece
    }

    /// Every way to lay them out: items as lines, and as columns with and without the time that
    /// starting takes.
    fn grids(&self, items: &[Item<'_>], shortest: [Shortest; 2]) -> Vec<Grid> {
        let [of_lines, of_columns] = shortest;
        vec![
            self.with_items_as_lines(items, of_lines),
            self.with_items_as_columns(items, true, of_columns),
            self.with_items_as_columns(items, false, of_columns),
        ]
    }

    fn with_items_as_lines(&self, items: &[Item<'_>], shortest: Shortest) -> Grid {
        let labels = self.columns.iter().map(|column| Piece { bold: true, ..self.label(*column) });
        let header = std::iter::once(Piece::default()).chain(labels).collect();
        let line = |item: &Item<'_>| {
            let cells = self.columns.iter().map(|column| self.cell(item, *column));
            std::iter::once(Piece::plain(&item.name)).chain(cells).collect()
        };
        let lines = items.iter().map(line).collect();
        Grid { header: vec![header], lines, words_last: false, shortest }
    }

    fn with_items_as_columns(
        &self,
        items: &[Item<'_>],
        with_start: bool,
        shortest: Shortest,
    ) -> Grid {
        let start = with_start && !self.comparison.start_ups.is_empty();
        let start = start && !items.iter().flat_map(|item| &item.rows).any(|it| it.is_of_command());
        let heading = |at: usize| {
            let names = items.iter().map(|item| Piece::bold(&item.heading[at]));
            let last = start.then(|| Piece::bold(if at == 1 { &self.start } else { "" }));
            std::iter::once(Piece::default()).chain(names).chain(last).collect::<Vec<Piece>>()
        };
        let mut header = vec![heading(0), heading(1)];
        header.retain(|line| line.iter().any(|piece| !piece.text.is_empty()));
        let line = |column: &usize| {
            let cells = items.iter().map(|item| self.cell(item, *column));
            let last = start.then(|| Piece::plain(self.started(*column)));
            std::iter::once(self.label(*column)).chain(cells).chain(last).collect()
        };
        let lines = self.columns.iter().map(line).collect();
        Grid { header, lines, words_last: false, shortest }
    }

    /// How long the environment takes to start.
    fn started(&self, column: usize) -> String {
        let label = &self.comparison.columns[column];
        let mut all = self.comparison.start_ups.iter();
        let usual = |start: &StartUp| start.again.map_or(start.first_ns, |again| again.value);
        let found = all.find(|start| start.column == *label).map(usual);
        found.map_or("–".into(), units::time)
    }
}

/// What the marks of the matrix mean, in the order of their importance.
pub fn legend(comparison: &Comparison, words: &Words, matrix: &Matrix) -> String {
    let cells = matrix.grid.lines.iter().flat_map(|line| line.iter().skip(1));
    let cells: Vec<&Piece> = cells.collect();
    // Between the ends of a range stands the same dash.
    let has = |mark: char| match mark {
        '–' => cells.iter().any(|cell| cell.text == "–"),
        _ => cells.iter().any(|cell| cell.text.contains(mark)),
    };
    let marks = [
        ('=', "legend-same"),
        ('~', "legend-open"),
        ('?', "legend-levels"),
        ('T', "legend-filesystem"),
        ('f', "legend-share"),
        ('(', "legend-no-verdict"),
        ('–', "legend-missing"),
        ('!', "legend-failed"),
        ('·', "legend-no-cost"),
    ];
    let margin = units::percent(comparison.margin);
    let margin = [("margin", text(&margin))];
    let shown = marks.iter().filter(|it| has(it.0));
    let mut told: Vec<String> = shown.map(|(_, id)| words.with(id, &margin)).collect();
    let differs = |it: &&Piece| matches!(it.verdict, Some(Verdict::Slower | Verdict::Faster));
    if matrix.of_groups && cells.iter().any(differs) {
        told.insert(0, words.say("legend-number"));
    }
    if matrix.has_start {
        let start = words.say("screen-start");
        told.push(words.with("legend-start", &[("start", text(&start))]));
    }
    words.items(&told)
}
