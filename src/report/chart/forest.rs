//! Taxes with their intervals: a line for each environment in each row, the floor as a dot and the
//! mean as a diamond, on one logarithmic axis.

use super::scale::Log;
use super::svg::{Picture, Side, Svg, fit, width};
use super::{Scene, class, farthest};
use crate::compare::{Cell, Row, Tax, tax_of};
use crate::report::table;
use crate::units;
use crate::words::text;

const WIDTH: f64 = 760.0;
/// Columns: the names of environments, the axis, and the figures.
const NAMES: f64 = 170.0;
const FIGURES: f64 = 240.0;
const LINE: f64 = 19.0;
const HEADING: f64 = 22.0;
/// Most lines of a picture that has to fit an article; a page shows all of them.
const MOST: usize = 60;

/// The rows of the comparison; of many, those that are farthest from the reference.
pub fn draw(scene: &Scene<'_>) -> Vec<Picture> {
    let mut rows: Vec<&Row> =
        scene.comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let all = rows.len();
    let lines = |rows: &[&Row]| rows.iter().map(|row| taxes(row).count()).sum::<usize>();
    while lines(&rows) > MOST && rows.len() > 1 {
        let nearest =
            (0..rows.len()).min_by(|a, b| farthest(rows[*a]).total_cmp(&farthest(rows[*b])));
        rows.remove(nearest.unwrap_or_default());
    }
    of_rows(scene, &rows, all).into_iter().collect()
}

/// The taxes of a row with their columns.
fn taxes(row: &Row) -> impl Iterator<Item = (usize, &Tax)> {
    let cells = row.cells.iter().enumerate();
    cells.filter_map(|(column, cell)| Some((column, tax_of(cell)?)))
}

/// These rows as one picture, of so many that there are; none if there is no tax.
pub fn of_rows(scene: &Scene<'_>, rows: &[&Row], all: usize) -> Option<Picture> {
    let Scene { comparison, words, .. } = scene;
    let found: Vec<(usize, &Tax)> = rows.iter().flat_map(|row| taxes(row)).collect();
    if found.is_empty() {
        return None;
    }
    let ends = found.iter().flat_map(|(_, tax)| {
        let pairs = [tax.interval, tax.all_in_interval];
        let ends = pairs.into_iter().flatten().flat_map(|(low, high)| [low, high]);
        ends.chain([tax.ratio, tax.all_in_ratio, 1.0])
    });
    let axis = Log::of(ends, (NAMES, WIDTH - FIGURES));
    let mut svg = Svg::default();
    let reference = comparison.reference.as_str();
    let title = words.with("forest-title", &[("reference", text(reference))]);
    svg.text((0.0, 16.0), Side::Start, "big", &fit(&title, WIDTH * 0.8));
    let mut top = 36.0;
    if rows.len() < all {
        let args = [("shown", rows.len().into()), ("all", all.into())];
        svg.text((0.0, top - 2.0), Side::Start, "dim", &words.with("forest-cut", &args));
        top += 18.0;
    }
    legend(&mut svg, scene, top);
    top += 26.0;
    let lines = rows.iter().filter(|row| taxes(row).next().is_some());
    let height =
        lines.map(|row| HEADING + LINE * taxes(row).count() as f64).sum::<f64>() + top + 6.0;
    grid(&mut svg, scene, &axis, (top - 8.0, height));
    let mut y = top;
    for row in rows.iter().filter(|row| taxes(row).next().is_some()) {
        let name = format!("{}{}", table::title(scene.words, row), cost(row));
        svg.text((0.0, y + 11.0), Side::Start, "bold", &fit(&name, WIDTH));
        y += HEADING;
        for (column, tax) in taxes(row) {
            line(&mut svg, scene, (row, column, tax), (&axis, y));
            y += LINE;
        }
    }
    let description =
        words.with("forest-text", &[("rows", rows.len().into()), ("reference", text(reference))]);
    Some(Picture { width: WIDTH, height: height + 22.0, title, description, svg })
}

/// What the reference's operation costs, behind the row's name.
fn cost(row: &Row) -> String {
    match row.cells.first() {
        Some(Cell::Measured(measured)) => format!(" · {}", table::bounded(measured, row.quantity)),
        _ => String::new(),
    }
}

fn legend(svg: &mut Svg, scene: &Scene<'_>, y: f64) {
    let words = scene.words;
    let (floor, mean) = (words.say("forest-floor"), words.say("forest-mean"));
    svg.line((0.0, y), (20.0, y), "line none");
    svg.circle((10.0, y), 4.5, "fill none");
    svg.text((26.0, y + 4.0), Side::Start, "dim", &floor);
    let x = 44.0 + width(&floor);
    svg.line((x, y), (x + 20.0, y), "thin none");
    diamond(svg, (x + 10.0, y), "hollow none");
    svg.text((x + 26.0, y + 4.0), Side::Start, "dim", &mean);
}

fn diamond(svg: &mut Svg, (x, y): (f64, f64), class: &str) {
    svg.diamond((x, y), 3.6, class);
}

/// The margin as a band, the reference as a line, and the labelled values.
fn grid(svg: &mut Svg, scene: &Scene<'_>, axis: &Log, (top, bottom): (f64, f64)) {
    let margin = scene.comparison.margin;
    let (low, high) = (axis.at(1.0 / (1.0 + margin)), axis.at(1.0 + margin));
    svg.rect((low, top), (high - low, bottom - top), "band");
    let one = axis.at(1.0);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        svg.line((x, top), (x, bottom), "grid");
        if (x - one).abs() > 24.0 || tick == 1.0 {
            let label = format!("{}×", rough(tick));
            svg.text((x, bottom + 14.0), Side::Middle, "small dim", &label);
        }
    }
    if !axis.ticks().contains(&1.0) {
        svg.text((one, bottom + 14.0), Side::Middle, "small dim", "1×");
    }
    svg.line((one, top), (one, bottom), "one");
}

/// `0.5`, `1.25`, `200`, `1e6`.
fn rough(value: f64) -> String {
    match value {
        value if (1e-4..1e6).contains(&value) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        value => format!("{value:.0e}"),
    }
}

fn line(
    svg: &mut Svg,
    scene: &Scene<'_>,
    (row, column, tax): (&Row, usize, &Tax),
    (axis, y): (&Log, f64),
) {
    let (class, verdict) = (class(tax), table::verdict(scene.words, tax));
    let label = &scene.comparison.columns[column];
    let figure = match tax.interval {
        Some((low, high)) => {
            format!("{} [{}–{}]", table::ratio(tax), units::factor(low), units::factor(high))
        }
        None => table::ratio(tax),
    };
    let told = format!("{} · {label}: {figure} {verdict}", table::title(scene.words, row));
    svg.titled(&told, |svg| {
        svg.text((14.0, y + 8.0), Side::Start, "", &fit(label, NAMES - 24.0));
        let has_mean = matches!(&row.cells[column], Cell::Measured(it) if it.all_in != it.cost);
        if has_mean {
            if let Some((low, high)) = tax.all_in_interval {
                let y = y + 8.0;
                svg.line((axis.at(low), y), (axis.at(high), y), &format!("thin {class}"));
            }
            diamond(svg, (axis.at(tax.all_in_ratio), y + 8.0), &format!("hollow {class}"));
        }
        let y = y + 2.0;
        if let Some((low, high)) = tax.interval {
            svg.line((axis.at(low), y), (axis.at(high), y), &format!("line {class}"));
        }
        svg.circle((axis.at(tax.ratio), y), 4.0, &format!("fill {class}"));
        let x = WIDTH - FIGURES + 14.0;
        let room = FIGURES - 14.0 - width(&verdict) - 8.0;
        svg.text((x, y + 6.0), Side::Start, "", &fit(&figure, room));
        svg.text((WIDTH, y + 6.0), Side::End, &format!("ink {class}"), &verdict);
    });
}
