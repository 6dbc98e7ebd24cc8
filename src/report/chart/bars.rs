//! Bars in groups, one bar a column, each with its figure and its interval.

use super::Scene;
use super::frame::{self, WIDTH};
use super::scale::linear;
use super::svg::{Picture, Side, Svg, fit};
use crate::report::layout::{Bars, Height};
use crate::units;
use crate::words::text;

const NAMES: f64 = 180.0;
const FIGURES: f64 = 80.0;
const BAR: f64 = 15.0;
const GAP: f64 = 10.0;

/// The groups from top to bottom; none where no bar has a height.
pub fn of(scene: &Scene<'_>, bars: &Bars) -> Option<Picture> {
    let mut bars = bars.clone();
    bars.groups.retain(|(_, heights)| heights.iter().any(Option::is_some));
    let heights = || bars.groups.iter().flat_map(|(_, heights)| heights.iter().flatten());
    let most = heights().map(|it| it.interval.map_or(it.value, |it| it.1).max(it.value));
    let most = most.filter(|it| it.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let columns = scene.comparison.columns.len();
    let shown: Vec<usize> = (0..columns)
        .filter(|column| {
            bars.groups.iter().any(|(_, it)| it.get(*column).is_some_and(Option::is_some))
        })
        .collect();
    let mut svg = Svg::default();
    let top = frame::heading(&mut svg, &bars.title, scene.comparison, &shown);
    let height: f64 = bars.groups.iter().map(|(_, it)| group_height(it)).sum();
    let bottom = top + height;
    let x = |value: f64| NAMES + value / most * (WIDTH - NAMES - FIGURES);
    for tick in linear(0.0, most, 6) {
        svg.line((x(tick), top), (x(tick), bottom), "grid");
        let label = if tick == 0.0 { "0".into() } else { short(tick) };
        svg.text((x(tick), bottom + 15.0), Side::Middle, "small dim", &label);
    }
    let mut y = top;
    for (name, heights) in &bars.groups {
        let middle = y + (group_height(heights) - GAP) / 2.0 + 4.0;
        svg.text((NAMES - 8.0, middle), Side::End, "", &fit(name, NAMES - 10.0));
        for (column, height) in heights.iter().enumerate() {
            let Some(height) = height else { continue };
            let told = format!("{name} · {}: {}", scene.comparison.columns[column], figure(height));
            svg.titled(&told, |svg| bar(svg, height, column, (&x, y)));
            y += BAR;
        }
        y += GAP;
    }
    let way = if bars.lower_is_better { "bars-lower" } else { "bars-higher" };
    svg.text(
        (NAMES, bottom + 32.0),
        Side::Start,
        "dim",
        &format!("{} · {}", bars.unit, scene.words.say(way)),
    );
    let description = scene.words.with("bars-text", &[("title", text(&bars.title))]);
    let title = bars.title.clone();
    Some(Picture { width: WIDTH, height: bottom + 42.0, title, description, svg })
}

fn group_height(heights: &[Option<Height>]) -> f64 {
    BAR * heights.iter().flatten().count() as f64 + GAP
}

fn short(value: f64) -> String {
    let text = units::number(value);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn figure(height: &Height) -> String {
    match height.interval {
        Some((low, high)) => {
            let [value, low, high] = [height.value, low, high].map(units::number);
            format!("{value} [{low}–{high}]")
        }
        None => units::number(height.value),
    }
}

fn bar(svg: &mut Svg, height: &Height, column: usize, (x, y): (&dyn Fn(f64) -> f64, f64)) {
    let end = x(height.value);
    let class = frame::colour(column);
    svg.rect((x(0.0), y + 1.0), (end - x(0.0), BAR - 3.0), &format!("fill {class}"));
    let mut right = end;
    if let Some((low, high)) = height.interval {
        let y = y + BAR / 2.0 - 0.5;
        svg.line((x(low.max(0.0)), y), (x(high), y), "whisker");
        right = right.max(x(high));
    }
    svg.text((right + 6.0, y + 11.0), Side::Start, "small", &units::number(height.value));
}
