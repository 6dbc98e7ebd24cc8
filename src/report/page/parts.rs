//! The parts of the page, in the order in which they are read.

use anyhow::Result;
use maud::{Markup, PreEscaped, html};

use super::Part;
use crate::compare::{Cell, Flag, Row, Verdict, tax_of};
use crate::report::chart::{self, Picture, Scene};
use crate::report::sections::{Part as SectionPart, SECTIONS};
use crate::report::sheet::Sheet;
use crate::report::table::{self, Kind, Line};
use crate::report::{Style, notes};
use crate::words::{Words, text};

pub fn all(scene: &Scene<'_>, style: &Style) -> Result<Vec<Part>> {
    let words = scene.words;
    let part = |id: &'static str, body: Markup| {
        let title = words.say(&format!("page-{id}"));
        Part { id, title, body }
    };
    let mut parts = vec![part("summary", super::summary(scene))];
    if let Some(layout) = scene.layout {
        let tables = layout.of(scene.comparison, words)?;
        let drawn = chart::find("layout").map(|chart| (chart.draw)(scene))?;
        let body = html! {
            @for (at, picture) in drawn.iter().enumerate() {
                figure { (framed(picture, &format!("layout-{at}"))) }
            }
            @for sheet in &tables.sheets { (self::sheet(sheet)) }
            ul { @for note in &tables.notes { li { (note_text(note)) } } }
        };
        parts.push(Part { id: "layout", title: layout.name.to_owned(), body });
    }
    parts.push(part("matrix", matrix(scene)));
    parts.push(part("rows", rows(scene)));
    if let Some(body) = beside(scene) {
        parts.push(part("tables", body));
    }
    if let Some(body) = time_lines(scene) {
        parts.push(part("time", body));
    }
    parts.push(part("method", method(scene, style)));
    parts.push(part("words", glossary(scene, style)));
    parts.push(part("data", super::data::download(words, scene.comparison)?));
    Ok(parts)
}

/// A picture with its table behind it.
pub fn figure(words: &Words, id: &str, picture: &Picture, table: Markup) -> Markup {
    html! {
        figure {
            (framed(picture, id))
            details { summary { (words.say("page-show-table")) } (table) }
        }
    }
}

/// A picture that scrolls where the page is narrower.
fn framed(picture: &Picture, id: &str) -> Markup {
    html! {
        div .scroll tabindex="0" role="group" aria-label=(picture.title) {
            (PreEscaped(picture.in_page(id)))
        }
    }
}

fn matrix(scene: &Scene<'_>) -> Markup {
    let chart::Scene { comparison, words, .. } = scene;
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let title = words.with("matrix-title", &[("reference", text(&comparison.reference))]);
    let margin = crate::units::percent(comparison.margin);
    html! {
        div .scroll tabindex="0" role="group" aria-label=(title) {
            table .matrix {
                caption { (title) }
                thead { tr {
                    th scope="col" { (words.say("column-row")) }
                    @for label in &comparison.columns { th scope="col" { (label) } }
                } }
                tbody { @for row in &rows { tr {
                    th scope="row" {
                        a href={ "#probe-" (row.probe) } { (table::title(words, row)) }
                    }
                    @for column in 0..comparison.columns.len() {
                        @let mark = chart::mark(words, row, column);
                        td class=(mark.class) {
                            (mark.text) " " span .word { (mark.words) }
                        }
                    }
                } } }
            }
        }
        p .dim { (words.with("matrix-legend", &[("margin", text(&margin))])) }
    }
}

/// A forest plot for each area, with the rows as a table behind it.
fn rows(scene: &Scene<'_>) -> Markup {
    let comparison = scene.comparison;
    html! {
        @for (number, area) in comparison.areas.iter().enumerate() {
            @let own: Vec<&Row> = comparison.rows.iter()
                .filter(|row| row.area() == area.area && table::has_lines(row)).collect();
            @let lines = table::lines_of(comparison, scene.words, area, usize::MAX);
            h3 { (area.area) }
            @match chart::forest_of_rows(scene, &own, own.len()) {
                Some(picture) => {
                    @let id = format!("forest-{number}");
                    (figure(scene.words, &id, &picture, row_table(scene.words, &lines)))
                }
                None => (row_table(scene.words, &lines)),
            }
        }
        @for column in (0..comparison.columns.len()).filter(|it| comparison.is_absent(*it)) {
            p { (scene.words.with("page-absent", &[("label", text(&comparison.columns[column]))])) }
        }
    }
}

/// The tables beside the rows, each behind its chart where it has one.
fn beside(scene: &Scene<'_>) -> Option<Markup> {
    let mut bodies = Vec::new();
    for section in SECTIONS {
        let SectionPart::Tables(of) = section.part else { continue };
        let sheets = of(scene.comparison, scene.words);
        let tables = html! { @for sheet in &sheets { (self::sheet(sheet)) } };
        let chart = CHART_OF.iter().find(|(name, _)| *name == section.name);
        let pictures = chart.and_then(|(_, chart)| chart::find(chart).ok());
        let pictures = pictures.map(|chart| (chart.draw)(scene)).unwrap_or_default();
        if sheets.is_empty() {
            continue;
        }
        if pictures.is_empty() {
            bodies.push(tables);
            continue;
        }
        bodies.push(html! {
            h3 { (sheets[0].title) }
            @for (at, picture) in pictures.iter().enumerate() {
                figure { (framed(picture, &format!("{}-{at}", section.name))) }
            }
            details { summary { (scene.words.say("page-show-table")) } (tables) }
        });
    }
    (!bodies.is_empty()).then(|| html! { @for body in &bodies { (body) } })
}

/// The charts of sections.
const CHART_OF: [(&str, &str); 3] =
    [("ladders", "ladder"), ("latencies", "latency"), ("copies", "scaling")];

/// Every row over time, behind its name, with a table of how its rounds lie.
fn time_lines(scene: &Scene<'_>) -> Option<Markup> {
    let rows = scene.comparison.rows.iter().enumerate();
    let rows = rows.filter(|(_, row)| table::has_lines(row));
    let drawn: Vec<(usize, &Row, Picture)> =
        rows.filter_map(|(at, row)| Some((at, row, chart::time_line_of(scene, at)?))).collect();
    (!drawn.is_empty()).then(|| {
        html! {
            p .dim { (scene.words.say("page-time-how")) }
            @for (at, row, picture) in &drawn {
                details .row {
                    summary { (table::title(scene.words, row)) }
                    figure {
                        (framed(picture, &format!("time-{at}")))
                        (sheet(&spread(scene, row)))
                    }
                }
            }
        }
    })
}

/// How the rounds of a row lie in each column.
fn spread(scene: &Scene<'_>, row: &Row) -> Sheet {
    let words = scene.words;
    let header =
        ["", "column-rounds", "column-floor", "column-least", "column-most", "column-mean"];
    let header = header.map(|id| if id.is_empty() { String::new() } else { words.say(id) });
    let mut sheet =
        Sheet { header: header.to_vec(), ..Sheet::new(&table::title(scene.words, row), &[]) };
    for (cell, label) in row.cells.iter().zip(&scene.comparison.columns) {
        let Cell::Measured(measured) = cell else { continue };
        let amount = |cost: f64| table::amount(cost, row.quantity);
        let (least, most) = measured.range.map(|(a, b)| (amount(a), amount(b))).unwrap_or_default();
        sheet.rows.push(vec![
            label.clone(),
            measured.rounds.to_string(),
            amount(measured.cost),
            least,
            most,
            amount(measured.all_in),
        ]);
    }
    sheet
}

fn row_table(words: &Words, lines: &[Line]) -> Markup {
    let columns = ["row", "cost", "tax", "interval", "mean", "verdict"];
    html! {
        div .scroll tabindex="0" role="group" aria-label=(words.say("page-rows")) {
        table .numbers .rows {
            thead { tr { @for column in columns {
                th scope="col" { (words.say(&format!("column-{column}"))) }
            } } }
            tbody { @for line in lines {
                tr class=[line_class(line.kind)] {
                    th scope="row" { (line.what.trim_start()) }
                    @for cell in [&line.cost, &line.tax, &line.interval, &line.mean] {
                        td { (cell) }
                    }
                    td class=[line.word.map(word_class)] { (verdict(line)) }
                }
            } }
        } }
    }
}

/// The verdict with its flags, each of which leads to its explanation.
fn verdict(line: &Line) -> Markup {
    let (word, letters) = line.verdict.rsplit_once(" (").unwrap_or((&line.verdict, ""));
    let letters = letters.trim_end_matches(')');
    if line.word.is_none() && letters.len() > 4 {
        return html! { (line.verdict) };
    }
    html! {
        (word)
        @if !letters.is_empty() {
            " ("
            @for letter in letters.chars() { a href={ "#flag-" (letter) } { (letter) } }
            ")"
        }
    }
}

fn line_class(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Heading | Kind::Reference => Some("strong"),
        Kind::Summary => Some("dim"),
        Kind::Environment => None,
    }
}

fn word_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Inconclusive { .. } => "open",
        Verdict::Same | Verdict::Descriptive => "same",
    }
}

/// A small table. Rows of one cell are headings of what follows.
pub fn sheet(sheet: &Sheet) -> Markup {
    let width = sheet.header.len();
    let kind = if sheet.prose { "prose" } else { "numbers" };
    html! {
        div .scroll tabindex="0" role="group" aria-label=(sheet.title) { table class=(kind) {
            caption { (sheet.title) }
            thead { tr { @for name in &sheet.header {
                @if name.is_empty() { td {} } @else {
                    th scope="col" { (name) }
                }
            } } }
            tbody { @for row in &sheet.rows {
                @let indent = row[0].len() - row[0].trim_start().len();
                @let (deep, alone) = (indent > 0, row.len() == 1);
                tr class=[(alone && !deep).then_some("strong")] {
                    th scope="row" class=[deep.then_some("deep")]
                        colspan=[alone.then_some(width)] {
                        (row[0].trim_start())
                    }
                    @for cell in row.iter().skip(1) { td { (cell) } }
                    @if row.len() > 1 { @for _ in row.len()..width { td {} } }
                }
            } }
        } }
        @for sentence in &sheet.below { p { (sentence) } }
    }
}

/// What the verdicts, flags and probes of this page mean.
fn glossary(scene: &Scene<'_>, style: &Style) -> Markup {
    let chart::Scene { comparison, words, .. } = scene;
    let cells = || comparison.rows.iter().flat_map(|row| &row.cells);
    let mut verdicts: Vec<&str> = cells().filter_map(tax_of).map(table::verdict_id).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    let mut flags: Vec<Flag> = cells()
        .filter_map(|cell| match cell {
            Cell::Measured(measured) => Some(measured.flags.iter().copied()),
            _ => None,
        })
        .flatten()
        .collect();
    flags.sort();
    flags.dedup();
    let mut probes: Vec<&str> = comparison.rows.iter().map(|row| row.probe.as_str()).collect();
    probes.dedup();
    html! {
        dl {
            @for id in verdicts {
                dt { (words.say(id)) }
                dd { (words.say(&id.replace("verdict-", "meaning-"))) }
            }
            @for flag in flags {
                dt id={ "flag-" (flag.letter()) } {
                    (words.with("page-flag", &[("letter", text(&flag.letter().to_string()))]))
                }
                dd { (note_text(&notes::explanation(words, flag))) }
            }
            @for id in probes {
                dt id={ "probe-" (id) } { (id) }
                @match (style.probe)(id, words) {
                    Some(it) => dd {
                        (note_text(&it.summary)) br;
                        (words.say("probe-timed")) ": " (note_text(&it.timed)) br;
                        (words.say("probe-excluded")) ": " (note_text(&it.excluded)) br;
                        (words.say("probe-source")) ": " (note_text(it.source))
                    },
                    None => dd { (words.say("probe-unknown")) },
                }
            }
        }
    }
}

/// A note with what stands between backticks as code.
pub fn note_text(note: &str) -> Markup {
    let code = note.matches('`').count().is_multiple_of(2);
    html! {
        @for (number, line) in note.lines().enumerate() {
            @if number > 0 { br; }
            @for (at, part) in line.split('`').enumerate() {
                @if code && at % 2 == 1 { code { (part) } } @else { (part) }
            }
        }
    }
}

fn method(scene: &Scene<'_>, style: &Style) -> Markup {
    let chart::Scene { comparison, words, .. } = scene;
    let notes = notes::notes(comparison, words);
    html! {
        ul { @for note in &notes { li { (note_text(note)) } } }
        @if !style.again.is_empty() {
            p { (words.say("page-again")) ":" }
            pre { code { (shell_words::join(&style.again)) } }
        }
    }
}
