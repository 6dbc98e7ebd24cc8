//! Figures of few columns with their intervals: one line a row, or of one row one line a column.

use super::grid::{Grid, Piece};
use crate::compare::{Cell, Comparison, Row, Tax, Verdict, tax_of};
use crate::report::table::{self, Line};
use crate::words::{Words, text};

/// Fewest columns of a cut name and of the reference's cut name.
const SHORTEST: (usize, usize) = (12, 7);

/// Rows of one or two columns, a line each.
pub struct Figures<'a> {
    pub grid: Grid,
    /// What the lines show: of each row the cell whose verdict stands there.
    pub cells: Vec<&'a Cell>,
    /// What the rows that had no room are, if there are any.
    pub left_out: Option<String>,
}

/// The rows of a comparison of at most two columns. Of more rows than `most`, those that are
/// farthest from the reference, in their order.
pub fn of_rows<'a>(comparison: &'a Comparison, words: &Words, most: usize) -> Figures<'a> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let mut kept: Vec<usize> = (0..rows.len()).collect();
    if rows.len() > most && comparison.columns.len() > 1 {
        kept.sort_by(|a, b| size(rows[*b]).total_cmp(&size(rows[*a])).then(a.cmp(b)));
    }
    let left_out = kept.split_off(most.min(kept.len()));
    kept.sort_unstable();
    let left_out: Vec<&Row> = left_out.into_iter().map(|at| rows[at]).collect();
    let two = comparison.columns.len() == 2;
    let reference = comparison.reference.as_str();
    let head = |id: &str| words.say(&format!("head-{id}"));
    let names = match two {
        true => {
            let heads = ["tax", "interval", "mean", "verdict"].map(head);
            [String::new(), reference.to_owned()].into_iter().chain(heads).collect()
        }
        false => vec![String::new(), head("cost"), head("mean"), String::new()],
    };
    let lines = kept.iter().map(|at| line_of_row(comparison, words, rows[*at])).collect();
    let header = vec![names.into_iter().map(Piece::bold).collect()];
    Figures {
        grid: Grid { header, lines, words_last: true, shortest: SHORTEST },
        cells: kept.iter().filter_map(|at| rows[*at].cells.last()).collect(),
        left_out: counted(words, &left_out),
    }
}

/// How much the row has to tell: decided ones first, then those that are open, then
/// those without a figure.
fn size(row: &Row) -> f64 {
    let of_tax = |tax: &Tax| match tax.verdict {
        Verdict::Slower | Verdict::Faster => 2.0 + tax.ratio.ln().abs(),
        Verdict::Same => 0.0,
        _ => 1.0,
    };
    row.cells.last().map_or(0.0, |cell| tax_of(cell).map_or(0.5, of_tax))
}

/// `21 more rows: 13 same, 8 not shown`.
fn counted(words: &Words, rows: &[&Row]) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in rows {
        let word = match row.cells.last() {
            Some(Cell::Measured(measured)) => {
                measured.tax.as_ref().map(|tax| table::verdict(words, tax))
            }
            _ => Some(words.say("not-measured")),
        };
        let Some(word) = word else { continue };
        match counts.iter_mut().find(|it| it.0 == word) {
            Some(it) => it.1 += 1,
            None => counts.push((word, 1)),
        }
    }
    let told = counts.iter().map(|(word, count)| {
        words.with("screen-count-of", &[("count", (*count).into()), ("what", text(word))])
    });
    let told: Vec<String> = told.collect();
    let which = if told.is_empty() { String::new() } else { format!(": {}", words.listed(&told)) };
    let values = [("count", rows.len().into()), ("which", text(&which))];
    (!rows.is_empty()).then(|| words.with("screen-more-rows", &values))
}

fn line_of_row(comparison: &Comparison, words: &Words, row: &Row) -> Vec<Piece> {
    let name = super::name(comparison, words, row);
    let base = table::line(words, name.clone(), 0, (row, &row.cells[0]), comparison);
    let Some(cell) = row.cells.get(1) else {
        let letters = base.verdict.strip_prefix(&comparison.reference).unwrap_or(&base.verdict);
        return [name, base.cost, base.mean, letters.trim().to_owned()].map(Piece::plain).to_vec();
    };
    let own = table::line(words, name, 1, (row, cell), comparison);
    let verdict = if base.cost.is_empty() { base.verdict } else { own.verdict };
    let verdict = Piece { verdict: own.word, ..Piece::plain(verdict) };
    let mut pieces = [own.what, base.cost, own.tax, own.interval, own.mean].map(Piece::plain);
    pieces[2].verdict = own.word;
    pieces.into_iter().chain([verdict]).collect()
}

/// One row, a line for each column that started.
pub fn of_environments(comparison: &Comparison, words: &Words, row: &Row) -> Grid {
    let heads = ["cost", "tax", "interval", "mean", "verdict"];
    let heads = heads.map(|id| words.say(&format!("head-{id}")));
    let names = std::iter::once(super::name(comparison, words, row)).chain(heads);
    let of_column = |(column, cell): (usize, &Cell)| {
        let label = comparison.columns[column].clone();
        let line = table::line(words, label, column, (row, cell), comparison);
        let Line { what, cost, tax, interval, mean, verdict, word, .. } = line;
        let verdict = if column == 0 && word.is_none() && !cost.is_empty() {
            verdict.replacen(&comparison.reference, &words.say("reference"), 1)
        } else {
            verdict
        };
        let mut pieces = [what, cost, tax, interval, mean, verdict].map(Piece::plain);
        pieces[0].bold = column == 0;
        (pieces[2].verdict, pieces[5].verdict) = (word, word);
        pieces.to_vec()
    };
    let cells = row.cells.iter().enumerate();
    let cells = cells.filter(|(column, _)| !comparison.is_absent(*column));
    let header = vec![names.map(Piece::bold).collect()];
    Grid { header, lines: cells.map(of_column).collect(), words_last: true, shortest: SHORTEST }
}
