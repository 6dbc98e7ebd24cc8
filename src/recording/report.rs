//! The report of a re-enactment: what each of its processes appends to a file when it ends, and the
//! sums of all.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::groups::MOST_GROUPS;
use super::script::MAGIC;
use super::{Class, Kind};

/// The most bytes of a report.
const LARGEST: u64 = 256 << 20;
/// Numbers of one process: the mark, its stream, when it began and ended (in ns of its clock),
/// inode number and ns of the last change of the script as it sees them, a count and a time of
/// each class, how many calls of each kind ended otherwise than recorded, and a time of each group.
pub const NUMBERS: usize = FIRST_GROUP + MOST_GROUPS;

/// Place of the first class's numbers.
pub const FIRST: usize = 6;
/// Place of the first group's time.
pub const FIRST_GROUP: usize = FIRST + 2 * Class::ALL.len() + Kind::ALL.len();

/// The sums over all processes.
#[derive(Debug, Default, PartialEq)]
pub struct Report {
    /// Number and time in ns of the operations of a class.
    pub classes: BTreeMap<String, (u64, u64)>,
    pub unlike: BTreeMap<String, u64>,
    /// Time in ns of each group of operations, by its number.
    pub groups: Vec<u64>,
    /// When the first process began and ended, in ns of the environment's clock.
    pub span: (u64, u64),
    /// Inode number of the script, and the ns of the second of its last change.
    pub identity: (u64, u64),
}

impl Report {
    /// Adds what was before the first process and after it, to the class of that.
    pub fn add_ends(&mut self, start_ns: u64, end_ns: u64) {
        let (first, last) = self.span;
        let ns = first.saturating_sub(start_ns) + end_ns.saturating_sub(last);
        let sum = self.classes.entry(Class::Start.name().to_owned()).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(ns));
    }
}

/// Reads the report in that file.
pub fn read(path: &Path) -> Result<Report> {
    let mut bytes = Vec::new();
    let file = File::open(path).context("the re-enactment wrote no report")?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).context("reading the report")?;
    ensure!(bytes.len() as u64 <= LARGEST, "the report has more than {} MiB", LARGEST >> 20);
    sums(&bytes)
}

/// The sums of a report.
pub fn sums(bytes: &[u8]) -> Result<Report> {
    let mut report = Report { groups: vec![0; MOST_GROUPS], ..Report::default() };
    let records = bytes.chunks_exact(8 * NUMBERS);
    ensure!(records.remainder().is_empty() && !bytes.is_empty(), "the report is cut");
    for record in records {
        let number =
            |at: usize| record[8 * at..8 * at + 8].try_into().map_or(0, u64::from_le_bytes);
        ensure!(number(0) == MAGIC, "the report is damaged");
        if number(1) == 0 {
            let first = if report.span.0 == 0 { number(2) } else { report.span.0 };
            report.span = (first, number(3));
            report.identity = (number(4), number(5));
        }
        for (at, (class, ..)) in Class::ALL.iter().enumerate() {
            let (count, ns) = (number(FIRST + 2 * at), number(FIRST + 1 + 2 * at));
            if count > 0 {
                let sum = report.classes.entry(class.name().to_owned()).or_default();
                *sum = (sum.0.saturating_add(count), sum.1.saturating_add(ns));
            }
        }
        for (at, (kind, ..)) in Kind::ALL.iter().enumerate() {
            let count = number(FIRST + 2 * Class::ALL.len() + at);
            if count > 0 {
                let sum = report.unlike.entry(kind.name().to_owned()).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        for (at, sum) in report.groups.iter_mut().enumerate() {
            *sum = sum.saturating_add(number(FIRST_GROUP + at));
        }
    }
    let used = report.groups.iter().rposition(|ns| *ns > 0).map_or(0, |last| last + 1);
    report.groups.truncate(used);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_added_up() {
        let mut numbers = [0_u64; NUMBERS];
        (numbers[0], numbers[FIRST + 2], numbers[FIRST + 3]) = (MAGIC, 3, 700);
        (numbers[FIRST + 2 * Class::ALL.len()], numbers[FIRST_GROUP + 3]) = (2, 700);
        let one: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let report = sums(&[one.clone(), one.clone()].concat()).unwrap();
        assert_eq!(report.classes, BTreeMap::from([("stat".to_owned(), (6, 1400))]));
        assert_eq!(report.unlike, BTreeMap::from([("open".to_owned(), 4)]));
        assert_eq!(report.groups, [0, 0, 0, 1400]);
        assert!(sums(&one[1..]).is_err() && sums(&[]).is_err());
        let mut other = one.clone();
        other[0] ^= 1;
        assert!(sums(&other).unwrap_err().to_string().contains("damaged"));
    }
}
