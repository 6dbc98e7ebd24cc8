//! The rounds of each row over time: drift, levels, and beside them what else wanted a CPU.

use super::frame::{self, LEFT, RIGHT, WIDTH};
use super::scale::{Log, linear};
use super::svg::{Picture, Side, Svg};
use super::{Scene, farthest};
use crate::compare::{Point, Row, TimeLine};
use crate::report::table;
use crate::units;
use crate::words::text;

/// Most rows of a picture that has to fit an article; a page has all of them.
const MOST: usize = 6;
const PLOT: f64 = 150.0;
/// Height of the strip of other tasks.
const LOAD: f64 = 26.0;

/// The axis of time.
struct Flat {
    begin: f64,
    span: f64,
}

impl Flat {
    fn at(&self, seconds: f64) -> f64 {
        LEFT + 4.0 + (seconds - self.begin) / self.span * (RIGHT - LEFT - 8.0)
    }
}

/// The rows that are farthest from the reference.
pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    let rows: Vec<(usize, &Row)> = scene.comparison.rows.iter().enumerate().collect();
    let mut rows: Vec<_> = rows.into_iter().filter(|(_, row)| table::has_lines(row)).collect();
    rows.sort_by(|a, b| farthest(b.1).total_cmp(&farthest(a.1)));
    rows.truncate(MOST);
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().filter_map(|(at, _)| of_row(scene, at)).collect()
}

/// The rounds of the row of that number; none if there are none.
pub fn of_row(scene: &Scene<'_>, at: usize) -> Option<Picture> {
    let comparison = scene.comparison;
    let row = comparison.rows.get(at)?;
    let line = comparison.time_lines.get(at)?;
    let points = || line.columns.iter().flatten();
    let begin = points().map(|point| point.at_s).reduce(f64::min)?;
    let end = points().map(|point| point.at_s).fold(begin, f64::max);
    let flat = Flat { begin, span: (end - begin).max(1e-3) };
    let shown: Vec<usize> =
        (0..line.columns.len()).filter(|column| !line.columns[*column].is_empty()).collect();
    let mut svg = Svg::default();
    let title = table::title(scene.words, row);
    let top = frame::heading(&mut svg, &title, comparison, &shown);
    let bottom = top + PLOT;
    let axis = Log::of(points().map(|point| point.floor), (bottom, top));
    frame::upright(&mut svg, &axis, |cost| frame::label(&table::amount(cost, row.quantity)));
    let x = |point: &Point| flat.at(point.at_s);
    for column in &shown {
        let own: Vec<(f64, f64)> =
            line.columns[*column].iter().map(|it| (x(it), axis.at(it.floor))).collect();
        svg.titled(&comparison.columns[*column], |svg| {
            svg.dots(&own, &frame::colour(*column));
        });
    }
    let bottom = load(&mut svg, scene, line, (&x, bottom + 8.0));
    seconds(&mut svg, &flat, bottom);
    let name = text(&title);
    let description = scene.words.with("time-text", &[("row", name)]);
    Some(Picture { width: WIDTH, height: bottom + 22.0, title, description, svg })
}

/// The other tasks at each round, as a strip; where it ends.
fn load(
    svg: &mut Svg,
    scene: &Scene<'_>,
    line: &TimeLine,
    (x, top): (&dyn Fn(&Point) -> f64, f64),
) -> f64 {
    let known = line.columns.iter().flatten().filter_map(|it| Some((x(it), it.runnable?)));
    let known: Vec<(f64, u32)> = known.collect();
    let Some(most) = known.iter().map(|(_, tasks)| *tasks).max() else { return top };
    let bottom = top + LOAD;
    let height = |tasks: u32| LOAD * f64::from(tasks) / f64::from(most.max(1));
    let busy = known.iter().filter(|it| it.1 > 0).map(|(x, tasks)| (*x, height(*tasks)));
    svg.strokes(&busy.collect::<Vec<_>>(), bottom, "load");
    svg.line((LEFT, bottom), (RIGHT, bottom), "axis");
    let label = scene.words.with("time-load", &[("most", most.into())]);
    svg.text((LEFT - 6.0, bottom - 8.0), Side::End, "small dim", &label);
    bottom
}

/// The seconds since the run began, below the plot.
fn seconds(svg: &mut Svg, flat: &Flat, bottom: f64) {
    for tick in linear(flat.begin, flat.begin + flat.span, 6) {
        let x = flat.at(tick);
        let label = if tick == 0.0 { "0 s".into() } else { frame::label(&units::time(tick * 1e9)) };
        svg.text((x, bottom + 15.0), Side::Middle, "small dim", &label);
    }
}
