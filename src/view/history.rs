//! One row over many files: its tax in each file, in the order of time.

use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use maud::{Markup, html};

use super::files::{Files, Summary};
use super::kept::Kept;
use crate::compare::{Margins, compare, sides, tax_of};
use crate::model::{COMMAND, EMPTY_SHELL, visible};
use crate::report::{TimeOfTax, history_chart, row_title};
use crate::runfile::RunFile;
use crate::words::{Words, text};

/// Most files of a history: each is read and compared in full, as the verdicts of a file's rows
/// are given together.
pub const MOST: usize = 200;
/// Most taxes that are kept, at about 300 bytes each.
const KEPT: usize = 200_000;

/// The taxes of files that a history has read: another row of them is shown at once.
pub struct Taxes(Kept<(&'static str, String), Result<Vec<OfRow>, String>>);

/// A tax with the title of its row.
struct OfRow {
    title: String,
    tax: TimeOfTax,
}

impl Taxes {
    pub fn new() -> Taxes {
        Taxes(Kept::new(KEPT, |taxes| taxes.as_ref().map_or(1, |taxes| taxes.len() + 1)))
    }

    fn of(
        &self,
        files: &Files,
        summary: &Summary,
        words: &Words,
    ) -> Arc<Result<Vec<OfRow>, String>> {
        let read = || of_file(files, summary, words).map_err(|error| format!("{error:#}"));
        self.0.of((words.language.code, summary.name.clone()), summary.stamp, read)
    }
}

/// The tax of the row of that title in every file that has it, as chart and table.
pub fn body(
    (files, kept): (&Files, &Taxes),
    listed: &[&Summary],
    row: &str,
    words: &Words,
) -> Markup {
    let mut taxes: Vec<TimeOfTax> = Vec::new();
    let mut unread = Vec::new();
    let listed: Vec<&Summary> = listed.iter().copied().filter(|it| may_have(it, row)).collect();
    for summary in listed.iter().take(MOST) {
        match &*kept.of(files, summary, words) {
            Ok(found) => {
                let own = found.iter().filter(|it| it.title == row);
                taxes.extend(own.map(|it| it.tax.clone()));
            }
            Err(error) => unread.push(format!("{}: {error}", visible(&summary.name))),
        }
    }
    taxes.sort_by(|a, b| a.started.cmp(&b.started));
    html! {
        h2 { (words.with("view-history-of", &[("row", text(row))])) }
        @if taxes.is_empty() { p { (words.say("view-history-empty")) } }
        (history_chart(words, row, &taxes))
        @if listed.len() > MOST {
            p { (words.with("view-history-cut", &[("most", MOST.into())])) }
        }
        @if !unread.is_empty() { ul { @for line in &unread { li { (line) } } } }
    }
}

/// Whether the file can have the row: rows begin with their probe, but those of whole commands.
fn may_have(summary: &Summary, row: &str) -> bool {
    let probe = row.split(' ').next().unwrap_or_default();
    summary.probes.iter().any(|own| own == probe || own == COMMAND || own == EMPTY_SHELL)
}

fn of_file(files: &Files, summary: &Summary, words: &Words) -> Result<Vec<OfRow>> {
    let run: Rc<RunFile> = Rc::new(files.read_listed(summary)?);
    let sources = [(summary.name.clone(), run, None)];
    let sides = sides(&sources, None)?;
    let comparison = compare(&sides, &Margins::general(0.03))?;
    let mut found = Vec::new();
    for row in &comparison.rows {
        let title = row_title(words, row);
        for (cell, label) in row.cells.iter().zip(&comparison.columns) {
            let Some(tax) = tax_of(cell) else { continue };
            let (started, file) = (summary.started.clone(), summary.name.clone());
            let tax = TimeOfTax { started, file, label: label.clone(), tax: tax.clone() };
            found.push(OfRow { title: title.clone(), tax });
        }
    }
    Ok(found)
}
