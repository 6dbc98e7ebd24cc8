//! The report's data as a download that stands in the page itself.

use std::io::Write;

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};

use crate::compare::Comparison;
use crate::words::Words;

/// A link to the report as compressed JSON. It needs no script.
pub fn download(words: &Words, comparison: &Comparison) -> Result<Markup> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, comparison)?;
    packed.flush()?;
    let data = BASE64_STANDARD.encode(packed.finish()?);
    Ok(html! {
        p { a download="envtax-report.json.gz" href={ "data:application/gzip;base64," (data) } {
            (words.say("page-download-json"))
        } }
    })
}
