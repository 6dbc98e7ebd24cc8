//! Ladders of block sizes: what a call of each size costs, and the line of call and byte through
//! it.

use super::Scene;
use super::frame::{self, LEFT, RIGHT, WIDTH};
use super::scale::Log;
use super::svg::{Picture, Side, Svg};
use crate::compare::{Ladder, Split};
use crate::units;
use crate::words::text;

const PLOT: f64 = 220.0;
/// Points of a fitted line, which is curved on these axes.
const STEPS: usize = 40;

pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    scene.comparison.ladders.iter().filter_map(|ladder| of_ladder(scene, ladder)).collect()
}

pub fn of_ladder(scene: &Scene<'_>, ladder: &Ladder) -> Option<Picture> {
    let found = ladder.columns.iter().enumerate();
    let found: Vec<(usize, &Split)> =
        found.filter_map(|(column, split)| Some((column, split.as_ref()?))).collect();
    let shown: Vec<usize> = found.iter().map(|(column, _)| *column).collect();
    found.first()?;
    let mut svg = Svg::default();
    let top = frame::heading(&mut svg, &ladder.name, scene.comparison, &shown);
    let bottom = top + PLOT;
    let costs = found.iter().flat_map(|(_, split)| split.costs.iter().copied());
    let upright = Log::of(costs, (bottom, top));
    let sizes = ladder.sizes.iter().map(|size| *size as f64);
    let flat = Log::of(sizes.clone(), (LEFT, RIGHT));
    frame::upright(&mut svg, &upright, |cost| frame::label(&units::time(cost)));
    for size in &ladder.sizes {
        let x = flat.at(*size as f64);
        svg.line((x, top), (x, bottom), "grid");
        svg.text((x, bottom + 15.0), Side::Middle, "small dim", &units::bytes_exact(*size));
    }
    for (column, split) in found {
        let class = frame::colour(column);
        let point = |(size, cost): (f64, f64)| (flat.at(size), upright.at(cost));
        svg.titled(&scene.comparison.columns[column], |svg| {
            if split.fits {
                svg.path(
                    &fitted(ladder, split).map(point).collect::<Vec<_>>(),
                    &format!("thin {class}"),
                );
            }
            for measured in sizes.clone().zip(split.costs.iter().copied()) {
                svg.circle(point(measured), 4.0, &format!("fill {class}"));
            }
        });
    }
    let description = scene.words.with("ladder-text", &[("row", text(&ladder.name))]);
    let title = ladder.name.clone();
    Some(Picture { width: WIDTH, height: bottom + 24.0, title, description, svg })
}

/// The costs of the fitted line between the smallest and the largest size.
fn fitted<'a>(ladder: &Ladder, split: &'a Split) -> impl Iterator<Item = (f64, f64)> + use<'a> {
    let first = ladder.sizes.first().map_or(1.0, |size| *size as f64);
    let last = ladder.sizes.last().map_or(1.0, |size| *size as f64);
    (0..=STEPS).map(move |step| {
        let size = first * (last / first).powf(step as f64 / STEPS as f64);
        (size, split.call.value + split.kib.value * size / 1024.0)
    })
}
