//! Target directories against each other, in words and as tables.

use super::sheet::Sheet;
use crate::compare::{Cheapest, Comparison, Cost, Directories, DirectoryCosts, DirectoryRow};
use crate::units;

/// Directories beside the reference in one table: with more, lines do not fit a terminal.
const BESIDE: usize = 2;
/// Most names of rows in a sentence.
const MOST_NAMES: usize = 4;

/// Which directories cost least in which rows: a sentence for each column, or for several of which
/// the same is said. None where there is one directory only.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let Some(directories) = &comparison.directories else { return Vec::new() };
    let mut found: Vec<(Vec<&str>, String)> = Vec::new();
    for (column, label) in comparison.columns.iter().enumerate() {
        let Some(text) = clauses(comparison, directories, column) else { continue };
        match found.iter_mut().find(|it| it.1 == text) {
            Some(it) => it.0.push(label),
            None => found.push((vec![label], text)),
        }
    }
    let all = comparison.columns.len();
    let sentence = |(labels, text): (Vec<&str>, String)| match labels.len() {
        count if count == all => format!("directories: {text}"),
        _ => format!("directories in {}: {text}", labels.join(", ")),
    };
    found.into_iter().map(sentence).collect()
}

/// `memory (tmpfs) costs least in file.create, disk (xfs) or memory in file.stat; no difference is
/// shown in file.open`.
fn clauses(comparison: &Comparison, directories: &Directories, column: usize) -> Option<String> {
    let mut described: Vec<&str> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    let mut open = None;
    for Cheapest { dirs, rows: own } in directories.cheapest(column) {
        let rows = rows(&own, directories);
        if dirs.len() > directories.names.len() {
            open = Some(format!("no difference is shown in {rows}"));
            continue;
        }
        let mut names: Vec<String> = Vec::new();
        for dir in dirs {
            let fact = comparison.specs[column].get(&format!("dir {dir}"));
            let kind = fact.and_then(|text| text.split(' ').next()).filter(|kind| *kind != dir);
            let is_new = !described.contains(&dir);
            described.push(dir);
            names.push(match kind.filter(|_| is_new) {
                Some(kind) => format!("{dir} ({kind})"),
                None => dir.to_owned(),
            });
        }
        // Said once, of the first.
        let verb = match (told.is_empty(), names.len()) {
            (false, _) => "",
            (true, 1) => " costs least",
            (true, _) => " cost least",
        };
        told.push(format!("{}{verb} in {rows}", names.join(" or ")));
    }
    told.extend(open);
    (!told.is_empty()).then(|| told.join("; "))
}

/// The names of the rows; those of a probe of which all rows are there by the probe's name alone.
fn rows(rows: &[&DirectoryRow], directories: &Directories) -> String {
    let probe = |row: &DirectoryRow| row.name.split(' ').next().unwrap_or_default().to_owned();
    if rows.len() == directories.rows.len() && rows.len() > 1 {
        return format!("all {} rows", rows.len());
    }
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let own = probe(row);
        let count = rows.iter().filter(|it| probe(it) == own).count();
        let whole = directories.rows.iter().filter(|it| probe(it) == own).count() == count;
        let name = if whole { own } else { row.name.clone() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    if more > 1 {
        names.truncate(MOST_NAMES);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The costs against the first directory, a few directories in a table; the sentences are below the
/// last one. Environments have a line each, or the row's own where there is one.
pub fn sheets(comparison: &Comparison) -> Vec<Sheet> {
    let Some(directories) = &comparison.directories else { return Vec::new() };
    let others: Vec<usize> = (0..directories.names.len()).collect();
    let sheet = |others: &[usize]| sheet(directories, others, &comparison.columns);
    let mut sheets: Vec<Sheet> = others.chunks(BESIDE).map(sheet).collect();
    if let Some(last) = sheets.last_mut() {
        last.below = sentences(comparison);
    }
    sheets
}

fn sheet(directories: &Directories, others: &[usize], columns: &[String]) -> Sheet {
    let title = format!("Target directories: cost against `{}`", directories.reference);
    let mut header = vec!["", directories.reference.as_str()];
    for other in others {
        header.extend([directories.names[*other].as_str(), "95\u{a0}%"]);
    }
    let mut sheet = Sheet::new(&title, &header);
    for row in &directories.rows {
        let costs = row.columns.iter().zip(columns);
        let measured: Vec<_> =
            costs.filter_map(|(it, label)| Some((it.as_ref()?, label))).collect();
        if columns.len() > 1 && !measured.is_empty() {
            sheet.rows.push(vec![row.name.clone()]);
        }
        for (costs, label) in measured {
            let label = if columns.len() > 1 { format!("  {label}") } else { row.name.clone() };
            sheet.rows.push(line(label, costs, others));
        }
    }
    sheet
}

fn line(label: String, costs: &DirectoryCosts, others: &[usize]) -> Vec<String> {
    let mut row = vec![label, units::time(costs.cost)];
    for other in others {
        row.extend(match &costs.ratios[*other] {
            Some(cost) => [format!("{}×", units::factor(cost.value)), bounds(cost)],
            None => ["–".into(), String::new()],
        });
    }
    row
}

fn bounds(cost: &Cost) -> String {
    match cost.interval {
        Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
        None => "unknown".into(),
    }
}
