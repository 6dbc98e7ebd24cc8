//! For a spreadsheet: one line for each figure in each environment, numbers unrounded.

use anyhow::Result;

use super::escape::csv_text;
use super::{Report, ReportInfo, Style, failure};
use crate::compare::{Cell, ColumnLoad, Comparison, Row, Verdict};
use crate::model::Quantity;

pub struct Csv;

static INFO: ReportInfo = ReportInfo {
    name: "csv",
    layouts: false,
    sections: false,
    summary: "one line a figure, for spreadsheets",
};

/// What a column has.
enum Has {
    Text,
    Number,
}
use Has::{Number, Text};

const HEADER: [(&str, Has); 26] = [
    ("probe", Text),
    ("phase", Text),
    ("params", Text),
    ("dir", Text),
    ("unit", Text),
    ("quantity", Text),
    ("environment", Text),
    ("reference", Text),
    ("cost", Number),
    ("all_in", Number),
    ("rounds", Number),
    ("tax", Number),
    ("tax_low", Number),
    ("tax_high", Number),
    ("verdict", Text),
    ("flags", Text),
    ("reason", Text),
    ("all_in_tax", Number),
    ("all_in_tax_low", Number),
    ("all_in_tax_high", Number),
    ("tax_p10", Number),
    ("tax_p90", Number),
    ("runnable", Number),
    ("runnable_p90", Number),
    ("wait_share", Number),
    ("steal_share", Number),
];
/// Columns from the verdict on, which has the state of what was not measured.
const FROM_VERDICT: usize = 8;
/// Columns of what else the machine did.
const LOAD: usize = 4;

impl Report for Csv {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, _: &Style) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(HEADER.iter().map(|(name, _)| name))?;
        for row in &comparison.rows {
            for (column, cell) in row.cells.iter().enumerate() {
                let mut record = record(comparison, row, column, cell);
                record.extend(load(comparison, column));
                writer.write_record(HEADER.iter().zip(&record).map(
                    |((_, has), text)| match has {
                        Text => csv_text(text).into_owned(),
                        Number => text.clone(),
                    },
                ))?;
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
