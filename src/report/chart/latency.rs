//! Distributions of single operations: the time that a share of them exceeds.

use super::Scene;
use super::frame::{self, LEFT, RIGHT, WIDTH};
use super::scale::Log;
use super::svg::{Picture, Side, Svg};
use crate::compare::{LatencyRow, Quantiles};
use crate::units;
use crate::words::text;

const PLOT: f64 = 200.0;

pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    scene.comparison.latencies.iter().filter_map(|row| of_row(scene, row)).collect()
}

pub fn of_row(scene: &Scene<'_>, row: &LatencyRow) -> Option<Picture> {
    let found = row.columns.iter().enumerate();
    let found: Vec<(usize, &Quantiles)> =
        found.filter_map(|(column, it)| Some((column, it.as_ref()?))).collect();
    found.first()?;
    let values = |it: &Quantiles| [it.p50, it.p90, it.p99, it.p999, Some(it.max)];
    let shown: Vec<usize> = found.iter().map(|(column, _)| *column).collect();
    let mut svg = Svg::default();
    let top = frame::heading(&mut svg, &row.name, scene.comparison, &shown);
    let bottom = top + PLOT;
    let all = found.iter().flat_map(|(_, it)| values(it)).flatten().map(|ns| ns.max(1) as f64);
    let axis = Log::of(all, (bottom, top));
    frame::upright(&mut svg, &axis, |cost| frame::label(&units::time(cost)));
    let names = ["50 %", "90 %", "99 %", "99.9 %"].map(str::to_owned);
    let names = names.into_iter().chain([scene.words.say("latency-worst")]);
    let x = |at: usize| LEFT + (RIGHT - LEFT) * (at as f64 + 0.5) / 5.0;
    for (at, name) in names.enumerate() {
        svg.text((x(at), bottom + 15.0), Side::Middle, "small dim", &name);
    }
    for (column, quantiles) in found {
        let class = frame::colour(column);
        let points = values(quantiles).into_iter().enumerate();
        let points: Vec<(f64, f64)> =
            points.filter_map(|(at, ns)| Some((x(at), axis.at(ns?.max(1) as f64)))).collect();
        svg.titled(&scene.comparison.columns[column], |svg| {
            svg.path(&points, &format!("line {class}"));
            points.iter().for_each(|point| svg.circle(*point, 3.5, &format!("fill {class}")));
        });
    }
    let description = scene.words.with("latency-text", &[("row", text(&row.name))]);
    let title = row.name.clone();
    Some(Picture { width: WIDTH, height: bottom + 24.0, title, description, svg })
}
