//! Scaling: how many times as much several copies do as one.

use super::svg::Picture;
use super::{Scene, bars};
use crate::compare::Cost;
use crate::report::layout::{Bars, Height};

pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    let scalings = &scene.comparison.scalings;
    if scalings.is_empty() {
        return Vec::new();
    }
    let height = |cost: &Cost| Height { value: cost.value, interval: cost.interval };
    let groups = scalings.iter().map(|it| {
        let heights = it.columns.iter().map(|cost| cost.as_ref().map(height)).collect();
        (format!("{} ×{}", it.name, it.copies), heights)
    });
    let bars = Bars {
        title: scene.words.say("scaling-title"),
        unit: scene.words.say("scaling-unit"),
        lower_is_better: false,
        groups: groups.collect(),
    };
    bars::of(scene, &bars).into_iter().collect()
}
