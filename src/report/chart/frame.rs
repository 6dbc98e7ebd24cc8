//! What charts with two axes share: title, legend of the environments, axes with labels.

use super::scale::Log;
use super::svg::{Side, Svg, fit, width};
use crate::compare::Comparison;

pub const WIDTH: f64 = 760.0;
/// Room left of the plot, for the labels of its axis.
pub const LEFT: f64 = 66.0;
pub const RIGHT: f64 = WIDTH - 10.0;

/// Colours that series have; later ones begin again.
const COLOURS: usize = 10;

/// The class of a column's colour, the same in every chart of a comparison.
pub fn colour(column: usize) -> String {
    format!("s{}", column % COLOURS)
}

/// The title and below it each column with its colour; where the next thing begins.
pub fn heading(svg: &mut Svg, title: &str, comparison: &Comparison, shown: &[usize]) -> f64 {
    svg.text((0.0, 16.0), Side::Start, "big", &fit(title, WIDTH * 0.8));
    let (mut x, mut y) = (0.0, 38.0);
    for column in shown {
        let label = fit(&comparison.columns[*column], 200.0);
        if x + 20.0 + width(&label) > WIDTH {
            (x, y) = (0.0, y + 18.0);
        }
        let class = colour(*column);
        svg.rect((x, y - 9.0), (11.0, 11.0), &format!("fill {class}"));
        svg.text((x + 16.0, y), Side::Start, "", &label);
        x += 34.0 + width(&label);
    }
    y + 16.0
}

/// A logarithmic axis on the left, from `bottom` up, with lines across the plot.
pub fn upright(svg: &mut Svg, axis: &Log, text: impl Fn(f64) -> String) {
    for tick in axis.ticks() {
        let y = axis.at(tick);
        svg.line((LEFT, y), (RIGHT, y), "grid");
        svg.text((LEFT - 6.0, y + 4.0), Side::End, "small dim", &text(tick));
    }
}

/// A value on an axis: without the digits that a round value does not need.
pub fn label(text: &str) -> String {
    let Some((number, unit)) = text.split_once(' ') else { return text.to_owned() };
    let short = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{short} {unit}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_have_no_needless_digits() {
        let all = ["1.00 µs", "100 ns", "1.50 ms", "10.0 KiB", "3"].map(super::label);
        assert_eq!(all, ["1 µs", "100 ns", "1.5 ms", "10 KiB", "3"]);
    }
}
