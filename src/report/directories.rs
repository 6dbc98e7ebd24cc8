//! Target directories against each other, in words and as tables.

use super::sheet::Sheet;
use crate::compare::{
    Cheapest, Comparison, Directories, DirectoryCosts, DirectoryRow, DirectoryTax, Open, Verdict,
};
use crate::units;

/// Directories beside the reference in one table: with more, lines do not fit a terminal.
const BESIDE: usize = 2;
/// Most directories of which a sentence says that they cost least.
const MOST_LEAST: usize = 2;
/// Most names of rows in a sentence.
const MOST_NAMES: usize = 4;

/// What the directories cost: which one costs least in which rows, for each column, or for several
/// of which the same is said; and a sentence for each directory where there is one column only.
/// None where there is one directory only.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let Some(directories) = &comparison.directories else { return Vec::new() };
    let mut found: Vec<(Vec<&str>, String)> = Vec::new();
    for (column, label) in comparison.columns.iter().enumerate() {
        let Some(text) = least(directories, column) else { continue };
        match found.iter_mut().find(|it| it.1 == text) {
            Some(it) => it.0.push(label),
            None => found.push((vec![label], text)),
        }
    }
    let all = comparison.columns.len();
    let sentence = |(labels, text): (Vec<&str>, String)| match labels.len() {
        count if count == all => format!("least cost: {text}"),
        _ => format!("least cost in {}: {text}", labels.join(", ")),
    };
    let mut sentences: Vec<String> = found.into_iter().map(sentence).collect();
    if all == 1 {
        let names = 0..directories.names.len();
        sentences.extend(names.filter_map(|other| of_directory(comparison, directories, other)));
    }
    sentences
}

/// `memory in file.create, disk or xfs in file.stat; no difference shown in file.open`.
fn least(directories: &Directories, column: usize) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let (mut alike, mut open) = (Vec::new(), Vec::new());
    for Cheapest { dirs, rows: own } in directories.cheapest(column) {
        match dirs.len() {
            count if count > directories.names.len() => open.extend(own),
            count if count > MOST_LEAST => alike.extend(own),
            _ => told.push(format!("{} in {}", dirs.join(" or "), rows(&own, directories))),
        }
    }
    let rest = [(alike, "three or more alike in"), (open, "no difference shown in")];
    let rest = rest.into_iter().filter(|it| !it.0.is_empty());
    told.extend(rest.map(|(own, words)| format!("{words} {}", rows(&own, directories))));
    (!told.is_empty()).then(|| told.join("; "))
}

/// `memory (tmpfs): less than disk, 0.451× on average (0.41 to 0.49); from 0.037× in file.create
/// create to 1.99× in file.read size=1MiB`: of one column.
fn of_directory(comparison: &Comparison, own: &Directories, other: usize) -> Option<String> {
    let name = described(comparison, &own.names[other]);
    let mean = own.means.first()?.get(other)?.as_ref()?;
    let base = &own.reference;
    let rows = own.rows.iter().filter_map(|row| {
        let tax = row.columns[0].as_ref()?.ratios[other].as_ref()?;
        Some((row, tax))
    });
    let rows: Vec<(&DirectoryRow, &DirectoryTax)> = rows.collect();
    let average = if rows.len() > 1 { " on average" } else { "" };
    let interval = mean.interval.map(|ends| format!(" ({})", units::factors(ends)));
    let figure = format!("{}×{average}{}", units::factor(mean.value), interval.unwrap_or_default());
    let told = match mean.verdict {
        Verdict::Slower => format!("more than {base}, {figure}"),
        Verdict::Faster => format!("less than {base}, {figure}"),
        Verdict::Same => {
            format!("as much as {base} within {}, {figure}", units::percent(comparison.margin))
        }
        Verdict::Inconclusive { why: Open::ManyRows, .. } => {
            let way = if mean.value > 1.0 { "more" } else { "less" };
            format!("perhaps {way} than {base}, {figure}")
        }
        _ => format!("no difference from {base} shown, {figure}"),
    };
    let is = |wanted: Verdict| rows.iter().filter(move |it| it.1.verdict == wanted);
    let order = |a: &&(_, &DirectoryTax), b: &&(_, &DirectoryTax)| a.1.value.total_cmp(&b.1.value);
    let least = is(Verdict::Faster).min_by(order).map(|it| ("down", it));
    let most = is(Verdict::Slower).max_by(order).map(|it| ("up", it));
    let end = |(way, (row, tax)): (&str, &(&DirectoryRow, &DirectoryTax))| {
        format!("{way} to {}× in {}", units::factor(tax.value), row.name)
    };
    let ends: Vec<String> = least.into_iter().chain(most).map(end).collect();
    let ends = if ends.is_empty() || rows.len() == 1 { None } else { Some(ends.join(", ")) };
    Some(format!("{name}: {told}{}", ends.map(|ends| format!("; {ends}")).unwrap_or_default()))
}

/// The directory with its type of filesystem in the first column, where its name is another one.
pub fn described(comparison: &Comparison, dir: &str) -> String {
    let fact = comparison.specs.first().and_then(|facts| facts.get(&format!("dir {dir}")));
    let kind = fact.and_then(|text| text.split(' ').next()).filter(|kind| *kind != dir);
    kind.map_or(dir.to_owned(), |kind| format!("{dir} ({kind})"))
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

fn bounds(cost: &DirectoryTax) -> String {
    match cost.interval {
        Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
        None => "unknown".into(),
    }
}
