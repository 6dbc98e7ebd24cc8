//! For a spreadsheet: one line for each figure in each environment, numbers unrounded.

use anyhow::Result;

use super::escape::csv_text;
use super::{Report, ReportInfo, Style, failure};
use crate::compare::{Cell, ColumnLoad, Comparison, Row, Verdict};
use crate::model::Quantity;

pub struct Csv;

static INFO: ReportInfo =
    ReportInfo { name: "csv", layouts: false, summary: "one line a figure, for spreadsheets" };

const HEADER: [&str; 26] = [
    "probe",
    "phase",
    "params",
    "dir",
    "unit",
    "quantity",
    "environment",
    "reference",
    "cost",
    "all_in",
    "rounds",
    "tax",
    "tax_low",
    "tax_high",
    "verdict",
    "flags",
    "reason",
    "all_in_tax",
    "all_in_tax_low",
    "all_in_tax_high",
    "tax_p10",
    "tax_p90",
    "runnable",
    "runnable_p90",
    "wait_share",
    "steal_share",
];
/// Columns from the verdict on, which has the state of what was not measured.
const FROM_VERDICT: usize = 8;
/// Columns with text; the others have numbers.
const TEXTS: [&str; 11] = [
    "probe",
    "phase",
    "params",
    "dir",
    "unit",
    "quantity",
    "environment",
    "reference",
    "verdict",
    "flags",
    "reason",
];
/// Columns of what else the machine did.
const LOAD: usize = 4;

impl Report for Csv {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, _: &Style) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(HEADER)?;
        for row in &comparison.rows {
            for (column, cell) in row.cells.iter().enumerate() {
                let mut record = record(comparison, row, column, cell);
                record.extend(load(comparison, column));
                writer.write_record(HEADER.iter().zip(&record).map(|(name, text)| {
                    let cell = if TEXTS.contains(name) { csv_text(text) } else { text.into() };
                    cell.into_owned()
                }))?;
            }
        }
        Ok(writer.into_inner()?)
    }
}

fn record(comparison: &Comparison, row: &Row, column: usize, cell: &Cell) -> Vec<String> {
    let mut record = vec![
        row.probe.clone(),
        row.phase.clone(),
        row.params.clone(),
        row.dir.clone().unwrap_or_default(),
        row.unit.clone(),
        quantity(row.quantity).to_owned(),
        comparison.columns[column].clone(),
        comparison.reference.clone(),
    ];
    let measured = match cell {
        Cell::Measured(measured) => measured,
        Cell::Skipped(why) => return unmeasured(record, "skipped", &failure::long(why)),
        Cell::Failed(why) => return unmeasured(record, "failed", &failure::long(why)),
        Cell::NotReached { reason } => return unmeasured(record, "not_reached", reason),
    };
    let tax = measured.tax.as_ref();
    let interval = tax.and_then(|tax| tax.interval);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    record.push(measured.cost.to_string());
    record.push(measured.all_in.to_string());
    record.push(measured.rounds.to_string());
    record.push(number(tax.map(|tax| tax.ratio)));
    record.push(number(interval.map(|(low, _)| low)));
    record.push(number(interval.map(|(_, high)| high)));
    record.push(tax.map(|tax| word(tax.verdict)).unwrap_or_default().to_owned());
    record.push(measured.flags.iter().map(|flag| flag.letter()).collect());
    record.push(String::new());
    record.push(number(tax.map(|tax| tax.all_in_ratio)));
    let ends = [tax.and_then(|tax| tax.all_in_interval), tax.and_then(|tax| tax.range)];
    for interval in ends {
        record.push(number(interval.map(|(low, _)| low)));
        record.push(number(interval.map(|(_, high)| high)));
    }
    record
}

/// A record without numbers: the state stands where the verdict would.
fn unmeasured(mut record: Vec<String>, state: &str, reason: &str) -> Vec<String> {
    record.resize(HEADER.len() - LOAD - FROM_VERDICT, String::new());
    record.extend([state, "", reason].map(String::from));
    record.resize(HEADER.len() - LOAD, String::new());
    record
}

/// What else the machine did while the column was measured.
fn load(comparison: &Comparison, column: usize) -> [String; LOAD] {
    let of = |of: fn(&ColumnLoad) -> Option<f64>| {
        let value = comparison.loads.get(column).and_then(of);
        value.map(|value| value.to_string()).unwrap_or_default()
    };
    [
        of(|it| it.runnable),
        of(|it| it.runnable_p90),
        of(|it| it.wait_share),
        of(|it| it.steal_share),
    ]
}

fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Time => "time",
        Quantity::Bytes => "bytes",
        Quantity::Share => "share",
        Quantity::Count => "count",
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive { .. } => "inconclusive",
        Verdict::Descriptive => "descriptive",
    }
}
