//! The report as a page of HTML: one file that loads nothing from elsewhere. It may use a
//! comparison, the charts, and the words of `report/`. It must not compute statistics, nor write to
//! files or streams.

mod data;
mod parts;

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart::Scene;
use super::{Report, ReportInfo, Style, screen};
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
const SCRIPT: &str = include_str!("page.js");

impl Report for Page {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let scene = Scene { comparison, words: &style.words, layout: style.layout };
        Ok(page(&scene, style)?.into_string().into_bytes())
    }
}

/// A part of the page: its place in the page, its title, and what is there.
pub struct Part {
    pub id: &'static str,
    pub title: String,
    pub body: Markup,
}

fn page(scene: &Scene<'_>, style: &Style) -> Result<Markup> {
    let Scene { comparison, words, .. } = scene;
    let title = title(words, comparison);
    let parts = parts::all(scene, style)?;
    Ok(html! {
        (DOCTYPE)
        html lang=(words.language.code) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; \
                             script-src 'unsafe-inline'; img-src data:";
                meta name="generator" content={ "envtax " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
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
                (data::embedded(comparison)?)
                script { (PreEscaped(SCRIPT)) }
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
            words.with("page-title", &[reference, ("others", text(&few.join(", ")))])
        }
        many => words.with("page-title-many", &[reference, ("count", many.len().into())]),
    }
}

/// The sentences that follow from the verdicts, and the state of the machine.
fn summary(scene: &Scene<'_>) -> Markup {
    let Scene { comparison, words, .. } = scene;
    let sentences = screen::verdicts(comparison, usize::MAX);
    let (state, detail) = screen::machine_state(&comparison.conditions);
    html! {
        ul .findings { @for sentence in &sentences { li { (sentence) } } }
        p { (words.say("page-state")) ": " strong { (state) } " – " (detail) }
        p .dim { (words.with("page-floor", &[(
            "margin", text(&units::percent(comparison.margin)),
        )])) }
    }
}
