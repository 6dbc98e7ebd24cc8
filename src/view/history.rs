//! One row over many files: its tax in each file, in the order of time.

use std::rc::Rc;

use anyhow::Result;
use maud::{Markup, html};

use super::files::{Files, Summary};
use crate::compare::{Margins, compare, sides, tax_of};
use crate::report::{TimeOfTax, history_chart, row_title};
use crate::runfile::RunFile;
use crate::words::{Words, text};

/// Most files of a history: each is read and compared in full.
pub const MOST: usize = 200;

/// The tax of the row of that title in every file that has it, as chart and table.
pub fn body(files: &Files, listed: &[&Summary], row: &str, words: &Words) -> Result<Markup> {
    let mut taxes: Vec<TimeOfTax> = Vec::new();
    let mut unread = Vec::new();
    for summary in listed.iter().take(MOST) {
        match of_file(files, summary, row, words) {
            Ok(found) => taxes.extend(found),
            Err(error) => unread.push(format!("{}: {error:#}", summary.name)),
        }
    }
    taxes.sort_by(|a, b| a.started.cmp(&b.started));
    Ok(html! {
        h2 { (words.with("view-history-of", &[("row", text(row))])) }
        @if taxes.is_empty() { p { (words.say("view-history-empty")) } }
        (history_chart(words, row, &taxes))
        @if listed.len() > MOST {
            p { (words.with("view-history-cut", &[("most", MOST.into())])) }
        }
        @if !unread.is_empty() { ul { @for line in &unread { li { (line) } } } }
    })
}

fn of_file(files: &Files, summary: &Summary, row: &str, words: &Words) -> Result<Vec<TimeOfTax>> {
    let run: Rc<RunFile> = Rc::new(files.read(&summary.name)?);
    let sources = [(summary.name.clone(), run, None)];
    let sides = sides(&sources, None)?;
    let comparison = compare(&sides, &Margins::general(0.03))?;
    let own = comparison.rows.iter().filter(|it| row_title(words, it) == row);
    let taxes = own.flat_map(|it| it.cells.iter().zip(&comparison.columns));
    let found = taxes.filter_map(|(cell, label)| {
        Some(TimeOfTax {
            started: summary.started.clone(),
            file: summary.name.clone(),
            label: label.clone(),
            tax: tax_of(cell)?.clone(),
        })
    });
    Ok(found.collect())
}
