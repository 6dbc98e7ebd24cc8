//! The tax of one row over many runs, in the order of time.

use super::frame::{LEFT, RIGHT, WIDTH, upright};
use super::scale::Log;
use super::svg::{Picture, Side, Svg, fit, width};
use super::{class, frame};
use crate::compare::Tax;
use crate::report::table;
use crate::words::{Words, text};

const PLOT: f64 = 240.0;

/// A tax with the run that it is from.
#[derive(Clone)]
pub struct TimeOfTax {
    /// When the run began, as its file tells it.
    pub started: String,
    pub file: String,
    /// The environment.
    pub label: String,
    pub tax: Tax,
}

/// A dot for each tax with its interval; the taxes are in the order of time.
pub fn draw_taxes(words: &Words, row: &str, taxes: &[TimeOfTax]) -> Option<Picture> {
    let mut labels: Vec<&str> = taxes.iter().map(|it| it.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut files: Vec<&str> = Vec::new();
    for it in taxes {
        if files.last() != Some(&it.file.as_str()) {
            files.push(&it.file);
        }
    }
    let (first, last) = (taxes.first()?, taxes.last()?);
    let mut svg = Svg::default();
    svg.text((0.0, 16.0), Side::Start, "big", &fit(row, WIDTH * 0.8));
    let mut x = 0.0;
    for (at, label) in labels.iter().enumerate() {
        svg.rect((x, 29.0), (11.0, 11.0), &format!("fill {}", frame::colour(at + 1)));
        svg.text((x + 16.0, 38.0), Side::Start, "", &fit(label, 200.0));
        x += 34.0 + width(&fit(label, 200.0));
    }
    let (top, bottom) = (54.0, 54.0 + PLOT);
    let ends = taxes.iter().flat_map(|it| {
        let (low, high) = it.tax.interval.unwrap_or((it.tax.ratio, it.tax.ratio));
        [low, high, 1.0]
    });
    let axis = Log::of(ends, (bottom, top));
    upright(&mut svg, &axis, |tax| format!("{}×", table::rough(tax)));
    svg.line((LEFT, axis.at(1.0)), (RIGHT, axis.at(1.0)), "one");
    for it in taxes {
        let at = files.iter().position(|file| *file == it.file).unwrap_or_default();
        let own = labels.iter().position(|label| *label == it.label).unwrap_or_default();
        let colour = frame::colour(own + 1);
        let step = (RIGHT - LEFT) / files.len() as f64;
        let x = LEFT + step * (at as f64 + 0.5) + (own as f64 - labels.len() as f64 / 2.0) * 2.0;
        let told =
            format!("{} · {} · {}: {}", it.started, it.file, it.label, table::ratio(&it.tax));
        svg.titled(&told, |svg| {
            if let Some((low, high)) = it.tax.interval {
                svg.line((x, axis.at(low)), (x, axis.at(high)), &format!("thin {colour}"));
            }
            let shape = if class(&it.tax) == "open" { "hollow" } else { "fill" };
            svg.circle((x, axis.at(it.tax.ratio)), 3.6, &format!("{shape} {colour}"));
        });
    }
    svg.text((LEFT, bottom + 16.0), Side::Start, "small dim", &first.started);
    svg.text((RIGHT, bottom + 16.0), Side::End, "small dim", &last.started);
    let description = words.with("history-text", &[("row", text(row))]);
    let title = row.to_owned();
    Some(Picture { width: WIDTH, height: bottom + 26.0, title, description, svg })
}
