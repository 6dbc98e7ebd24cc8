//! `envtax compare FILE`, of a run file or of another program's results, in every format.

#![no_main]

use std::rc::Rc;

use envtax_fuzz::assert_harmless;
use envtax_fuzz::compare::{Margins, compare, sides};
use envtax_fuzz::import;
use envtax_fuzz::report::{CHARTS, Detail, LAYOUTS, REPORTS, SECTIONS, Style};
use envtax_fuzz::runfile::reader;
use envtax_fuzz::words::{LANGUAGES, Words};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let run = match import::parse(bytes, "stem") {
        Ok(Some(run)) => run,
        Ok(None) => match reader::parse(bytes) {
            Ok(run) => run,
            Err(_) => return,
        },
        Err(_) => return,
    };
    let sources = [("a.jsonl".to_owned(), Rc::new(run), None)];
    let compared = sides(&sources, None).and_then(|sides| compare(&sides, &Margins::general(0.03)));
    let comparison = match compared {
        Ok(comparison) => comparison,
        Err(error) => return assert_harmless(&format!("{error:#}")),
    };
    let layouts = [None, LAYOUTS.get(bytes.len() % LAYOUTS.len())];
    for (report, layout) in REPORTS.iter().flat_map(|report| layouts.map(|it| (report, it))) {
        if layout.is_some() && !report.info().layouts {
            continue;
        }
        for detail in [Detail::Screen, Detail::Long, Detail::Sections(SECTIONS.iter().collect())] {
            let style = Style {
                colour: false,
                width: Some(100),
                layout,
                detail,
                words: Words::of(LANGUAGES[bytes.len() % LANGUAGES.len()]),
                chart: &CHARTS[bytes.len() % CHARTS.len()],
                probe: |_, _| None,
                again: vec!["envtax".to_owned(), "compare".to_owned()],
            };
            if let Ok(bytes) = report.render(&comparison, &style) {
                assert_harmless(&String::from_utf8(bytes).expect("reports are text"));
            }
        }
    }
});
