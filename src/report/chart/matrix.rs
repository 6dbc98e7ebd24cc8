//! All verdicts at a glance: environments as columns, rows as lines, coloured and in words.

use super::svg::{Picture, Side, Svg, fit, width};
use super::{Scene, class};
use crate::compare::{Cell, Row, Tax, Verdict, tax_of};
use crate::report::table;
use crate::words::{Words, text};

const LINE: f64 = 24.0;
/// Widths of the names and of a cell, in pixels.
const NAMES: f64 = 270.0;
const CELL: (f64, f64) = (64.0, 150.0);
/// Width up to which a picture stays legible in an article.
const WIDTH: f64 = 760.0;
/// A tax from which the colour is deeper.
const MUCH: f64 = 3.0;

/// What stands in a cell.
pub struct Mark {
    pub text: String,
    /// The class of its colour.
    pub class: &'static str,
    /// The same in words.
    pub words: String,
}

/// The mark of a cell.
pub fn mark(words: &Words, row: &Row, column: usize) -> Mark {
    let empty =
        |text: &str, id: &str| Mark { text: text.into(), class: "cell-none", words: words.say(id) };
    let tax = match &row.cells[column] {
        Cell::Measured(measured) => match tax_of(&row.cells[column]) {
            Some(tax) => tax,
            None => {
                let text = table::bounded(measured, row.quantity);
                return Mark { words: String::new(), class: "cell-ref", text };
            }
        },
        Cell::Skipped(_) => return empty("–", "cell-skipped"),
        Cell::Failed(_) => return empty("!", "cell-failed"),
        Cell::NotReached { .. } => return empty("–", "cell-not-reached"),
    };
    Mark { text: figure(tax), class: cell_class(tax), words: table::verdict(words, tax) }
}

/// `1.02×`, with a sign where that is not decided.
fn figure(tax: &Tax) -> String {
    let sign = match tax.verdict {
        Verdict::Same => "= ",
        Verdict::Inconclusive { .. } => "~ ",
        _ => "",
    };
    format!("{sign}{}", table::ratio(tax))
}

fn cell_class(tax: &Tax) -> &'static str {
    match class(tax) {
        "slower" if tax.ratio >= MUCH => "cell-much",
        "slower" => "cell-slower",
        "faster" => "cell-faster",
        "same" => "cell-same",
        "open" => "cell-open",
        _ => "cell-none",
    }
}

pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    let Scene { comparison, words, .. } = scene;
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = comparison.columns.len();
    let cell = ((WIDTH - NAMES) / columns as f64).clamp(CELL.0, CELL.1);
    let all = NAMES + cell * columns as f64;
    let mut svg = Svg::default();
    let title = words.with("matrix-title", &[("reference", text(&comparison.reference))]);
    svg.text((0.0, 16.0), Side::Start, "big", &fit(&title, all * 0.8));
    for (column, label) in comparison.columns.iter().enumerate() {
        let x = NAMES + cell * (column as f64 + 0.5);
        svg.text((x, 44.0), Side::Middle, "bold", &fit(label, cell - 4.0));
    }
    let mut y = 52.0;
    for row in &rows {
        svg.text((0.0, y + 16.0), Side::Start, "", &fit(&table::title(words, row), NAMES - 8.0));
        for column in 0..columns {
            let mark = mark(words, row, column);
            let x = NAMES + cell * column as f64;
            let told = format!(
                "{} · {}: {} {}",
                table::title(words, row),
                comparison.columns[column],
                mark.text,
                mark.words
            );
            svg.titled(&told, |svg| {
                svg.rect((x + 1.0, y + 1.0), (cell - 2.0, LINE - 2.0), mark.class);
                let both = format!("{} {}", mark.text, mark.words);
                let text = if width(&both) < cell - 6.0 { both } else { mark.text };
                let middle = (x + cell / 2.0, y + 16.0);
                svg.text(middle, Side::Middle, "", &fit(&text, cell - 4.0));
            });
        }
        y += LINE;
    }
    let legend =
        words.with("matrix-legend", &[("margin", text(&crate::units::percent(comparison.margin)))]);
    svg.text((0.0, y + 18.0), Side::Start, "dim", &legend);
    let description =
        words.with("matrix-text", &[("rows", rows.len().into()), ("environments", columns.into())]);
    vec![Picture { width: all.max(width(&legend)), height: y + 28.0, title, description, svg }]
}
