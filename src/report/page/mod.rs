//! The report as a page of HTML: one file that loads nothing from elsewhere. It may use a
//! comparison, the charts, and the words of `report/`. It must not compute statistics, nor write to
//! files or streams.

mod data;
mod parts;

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart::{Scene, TimeOfTax, draw_taxes};
use super::sheet::Sheet;
use super::{Report, ReportInfo, Style, findings, screen, table};
use crate::compare::Comparison;
use crate::units;
use crate::words::{Words, text};

pub struct Page;

static INFO: ReportInfo = ReportInfo {
    name: "html",
    layouts: true,
    sections: false,
    summary: "a page to publish: one file, offline",
};

const STYLE: &str = include_str!("page.css");

impl Report for Page {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let scene = Scene { comparison, words: &style.words, layout: style.layout };
        Ok(page(&scene, style, html! {})?.into_string().into_bytes())
    }
}

/// A part of the page: its place in the page, its title, and what is there.
pub struct Part {
    pub id: &'static str,
    pub title: String,
    pub body: Markup,
}

/// The page of a comparison with something above it, such as choices.
pub fn page_with(comparison: &Comparison, style: &Style, above: Markup) -> Result<Vec<u8>> {
    let scene = Scene { comparison, words: &style.words, layout: style.layout };
    Ok(page(&scene, style, above)?.into_string().into_bytes())
}

/// A page of its own, in the same style.
pub fn shell(words: &Words, title: &str, body: Markup) -> Vec<u8> {
    let page = html! {
        (DOCTYPE)
        html lang=(words.language.code) {
            (head(title))
            body { main { h1 { (title) } (body) } }
        }
    };
    page.into_string().into_bytes()
}

/// The chart of a row over many runs, with its table.
pub fn history(words: &Words, row: &str, taxes: &[TimeOfTax]) -> Markup {
    let Some(picture) = draw_taxes(words, row, taxes) else { return html! {} };
    let header = ["column-started", "column-file", "column-environment", "column-tax"];
    let header = header.into_iter().chain(["column-interval", "column-verdict"]);
    let mut sheet = Sheet { prose: true, ..Sheet::new(row, &[]) };
    sheet.header = header.map(|id| words.say(id)).collect();
    for it in taxes {
        let ends = it.tax.interval;
        let ends = ends.map(|(a, b)| format!("{}–{}", units::factor(a), units::factor(b)));
        let (started, file, label) = (it.started.clone(), it.file.clone(), it.label.clone());
        let (tax, verdict) = (table::ratio(&it.tax), table::verdict(words, &it.tax));
        sheet.rows.push(vec![started, file, label, tax, ends.unwrap_or_default(), verdict]);
    }
    parts::figure(words, "history", &picture, parts::sheet(&sheet))
}

/// What no page shows: how it is to be read, and that it loads nothing.
fn head(title: &str) -> Markup {
    html! { head {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta http-equiv="Content-Security-Policy"
            content="default-src 'none'; style-src 'unsafe-inline'; form-action 'self'";
        meta name="generator" content={ "envtax " (env!("CARGO_PKG_VERSION")) };
        title { (title) }
        style { (PreEscaped(STYLE)) }
    } }
}

fn page(scene: &Scene<'_>, style: &Style, above: Markup) -> Result<Markup> {
    let Scene { comparison, words, .. } = scene;
    let title = title(words, comparison);
    let parts = parts::all(scene, style)?;
    Ok(html! {
        (DOCTYPE)
        html lang=(words.language.code) {
            (head(&title))
            body {
                header {
                    (above)
                    h1 { (title) }
                    p .dim { (words.with("page-made-by", &[
                        ("version", text(env!("CARGO_PKG_VERSION"))),
                    ])) }
                    nav aria-label=(words.say("page-contents")) {
                        ul { @for part in &parts {
                            li { a href={ "#" (part.id) } { (part.title) } }
                        } }
                    }
                }
                main {
                    @for part in &parts {
                        section id=(part.id) aria-labelledby={ (part.id) "-title" } {
                            h2 id={ (part.id) "-title" } { (part.title) }
                            (part.body)
                        }
                    }
                }
            }
        }
    })
}

/// What the comparison is of.
pub fn title(words: &Words, comparison: &Comparison) -> String {
    let reference = ("reference", text(&comparison.reference));
    match &comparison.columns[1..] {
        [] => words.with("page-title-one", &[reference]),
        few if few.len() <= 3 => {
            words.with("page-title", &[reference, ("others", text(&words.listed(few)))])
        }
        many => words.with("page-title-many", &[reference, ("count", many.len().into())]),
    }
}

/// The sentences that follow from the verdicts, and the state of the machine.
fn summary(scene: &Scene<'_>) -> Markup {
    let Scene { comparison, words, .. } = scene;
    let sentences = findings::sentences(comparison, words);
    let (_, state) = screen::state(&comparison.conditions, words);
    html! {
        ul .findings { @for sentence in &sentences { li { (sentence) } } }
        p { strong { (words.say("page-state")) } ": " (state) }
        p .dim { (words.with("page-floor", &[(
            "margin", text(&units::percent(comparison.margin)),
        )])) }
    }
}
