//! The data inside the page, for programs, and what offers it as a download.

use anyhow::Result;
use maud::{Markup, PreEscaped, html};

use crate::compare::Comparison;
use crate::words::Words;

/// The report as JSON, in which nothing ends the element that it stands in.
pub fn embedded(comparison: &Comparison) -> Result<Markup> {
    let json = serde_json::to_string(comparison)?;
    let safe = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    Ok(html! {
        script #report-data type="application/json" { (PreEscaped(safe)) }
    })
}

pub fn links(words: &Words) -> Markup {
    html! {
        p { button type="button" data-download="report-data" data-name="envtax-report.json" {
            (words.say("page-download-json"))
        } }
        noscript { p { (words.say("page-without-script")) } }
    }
}
