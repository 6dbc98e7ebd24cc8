//! The chart of a published comparison: what `--layout` prints as tables, as bars.

use super::svg::Picture;
use super::{Scene, bars};

pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    let Some(layout) = scene.layout else { return Vec::new() };
    (layout.bars)(scene.comparison, scene.words)
        .iter()
        .filter_map(|it| bars::of(scene, it))
        .collect()
}
