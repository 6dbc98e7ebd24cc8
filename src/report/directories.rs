//! Target directories against each other, in words and as tables.

use super::sheet::Sheet;
use super::table;
use crate::compare::{
    Cheapest, Comparison, Directories, DirectoryCosts, DirectoryRow, DirectoryTax, Open, Verdict,
};
use crate::units;
use crate::words::{Words, text as text_of};

/// Directories beside the reference in one table: with more, lines do not fit a terminal.
const BESIDE: usize = 2;
/// Most directories of which a sentence says that they cost least.
const MOST_LEAST: usize = 2;
/// Most names of rows in a sentence.
const MOST_NAMES: usize = 4;

/// What the directories cost: which one costs least in which rows, for each column, or for several
/// of which the same is said; and a sentence for each directory where there is one column only.
/// None where there is one directory only.
pub fn sentences(comparison: &Comparison, words: &Words) -> Vec<String> {
    let Some(directories) = &comparison.directories else { return Vec::new() };
    let mut found: Vec<(Vec<&str>, String)> = Vec::new();
    for (column, label) in comparison.columns.iter().enumerate() {
        let Some(text) = least(directories, words, column) else { continue };
        match found.iter_mut().find(|it| it.1 == text) {
            Some(it) => it.0.push(label),
            None => found.push((vec![label], text)),
        }
    }
    let all = comparison.columns.len();
    let sentence = |(labels, text): (Vec<&str>, String)| match labels.len() {
        count if count == all => words.with("dirs-least", &[("text", text_of(&text))]),
        _ => {
            let labels: Vec<String> = labels.iter().map(|label| label.to_string()).collect();
            let columns = words.listed(&labels);
            let values = [("columns", text_of(&columns)), ("text", text_of(&text))];
            words.with("dirs-least-in", &values)
        }
    };
    let mut sentences: Vec<String> = found.into_iter().map(sentence).collect();
    if all == 1 {
        let names = 0..directories.names.len();
        sentences
            .extend(names.filter_map(|other| of_directory(comparison, words, directories, other)));
    }
    sentences
}

/// `memory in file.create, disk or xfs in file.stat; no difference shown in file.open`.
fn least(directories: &Directories, words: &Words, column: usize) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let (mut alike, mut open) = (Vec::new(), Vec::new());
    for Cheapest { dirs, rows: own } in directories.cheapest(column) {
        match dirs.len() {
            count if count > directories.names.len() => open.extend(own),
            count if count > MOST_LEAST => alike.extend(own),
            _ => {
                let (dirs, rows) = (either(words, &dirs), rows(words, &own, directories));
                let values = [("dirs", text_of(&dirs)), ("rows", text_of(&rows))];
                told.push(words.with("dirs-cheapest", &values));
            }
        }
    }
    let rest = [(alike, "dirs-alike"), (open, "dirs-open")];
    let rest = rest.into_iter().filter(|it| !it.0.is_empty());
    told.extend(
        rest.map(|(own, id)| words.with(id, &[("rows", text_of(&rows(words, &own, directories)))])),
    );
    (!told.is_empty()).then(|| words.joined(&told))
}

/// `a`, or `a or b`.
fn either(words: &Words, dirs: &[&str]) -> String {
    let mut all = dirs.iter().map(|dir| dir.to_string());
    let first = all.next().unwrap_or_default();
    all.fold(first, |first, second| {
        words.with("dirs-or", &[("first", text_of(&first)), ("second", text_of(&second))])
    })
}

/// `memory (tmpfs): less than disk, 0.451× on average (0.41 to 0.49); from 0.037× in file.create
/// create to 1.99× in file.read size=1MiB`: of one column.
fn of_directory(
    comparison: &Comparison,
    words: &Words,
    own: &Directories,
    other: usize,
) -> Option<String> {
    let name = described(comparison, &own.names[other]);
    let mean = own.means.first()?.get(other)?.as_ref()?;
    let rows = own.rows.iter().filter_map(|row| {
        let tax = row.columns[0].as_ref()?.ratios[other].as_ref()?;
        Some((row, tax))
    });
    let rows: Vec<(&DirectoryRow, &DirectoryTax)> = rows.collect();
    let id = if rows.len() > 1 { "dirs-figure-average" } else { "dirs-figure" };
    let figure = table::figure(words, id, mean.value, mean.interval);
    let id = match mean.verdict {
        Verdict::Slower => "dirs-more",
        Verdict::Faster => "dirs-less",
        Verdict::Same => "dirs-same",
        Verdict::Inconclusive { why: Open::ManyRows, .. } if mean.value > 1.0 => {
            "dirs-perhaps-more"
        }
        Verdict::Inconclusive { why: Open::ManyRows, .. } => "dirs-perhaps-less",
        _ => "dirs-not-shown",
    };
    let margin = units::percent(comparison.margin);
    let ends = if rows.len() > 1 { extremes(words, &rows) } else { String::new() };
    let values = [
        ("name", text_of(&name)),
        ("base", text_of(&own.reference)),
        ("margin", text_of(&margin)),
        ("figure", text_of(&figure)),
        ("ends", text_of(&ends)),
    ];
    Some(words.with(id, &values))
}

/// The rows that are shown to cost least and most of what they cost in the first directory.
fn extremes(words: &Words, rows: &[(&DirectoryRow, &DirectoryTax)]) -> String {
    let is = |wanted: Verdict| rows.iter().filter(move |it| it.1.verdict == wanted);
    let order = |a: &&(_, &DirectoryTax), b: &&(_, &DirectoryTax)| a.1.value.total_cmp(&b.1.value);
    let least = is(Verdict::Faster).min_by(order).map(|it| ("dirs-down", it));
    let most = is(Verdict::Slower).max_by(order).map(|it| ("dirs-up", it));
    let end = |(id, (row, tax)): (&str, &(&DirectoryRow, &DirectoryTax))| {
        let ratio = units::factor(tax.value);
        words.with(id, &[("ratio", text_of(&ratio)), ("row", text_of(&row.name))])
    };
    let ends: Vec<String> = least.into_iter().chain(most).map(end).collect();
    match ends.is_empty() {
        true => String::new(),
        false => words.with("dirs-ends", &[("ends", text_of(&words.listed(&ends)))]),
    }
}

/// The directory with its type of filesystem in the first column, where its name is another one.
pub fn described(comparison: &Comparison, dir: &str) -> String {
    let fact = comparison.specs.first().and_then(|facts| facts.get(&format!("dir {dir}")));
    let kind = fact.and_then(|text| text.split(' ').next()).filter(|kind| *kind != dir);
    kind.map_or(dir.to_owned(), |kind| format!("{dir} ({kind})"))
}

/// The names of the rows; those of a probe of which all rows are there by the probe's name alone.
fn rows(words: &Words, rows: &[&DirectoryRow], directories: &Directories) -> String {
    let probe = |row: &DirectoryRow| row.name.split(' ').next().unwrap_or_default().to_owned();
    if rows.len() == directories.rows.len() && rows.len() > 1 {
        return words.with("all-rows", &[("rows", rows.len().into())]);
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
        names.push(words.with("list-more", &[("count", more.into())]));
    }
    table::and(words, &names)
}

/// The costs against the first directory, a few directories in a table; the sentences are below the
/// last one. Environments have a line each, or the row's own where there is one.
pub fn sheets(comparison: &Comparison, words: &Words) -> Vec<Sheet> {
    let Some(directories) = &comparison.directories else { return Vec::new() };
    let others: Vec<usize> = (0..directories.names.len()).collect();
    let sheet = |others: &[usize]| sheet(words, directories, others, &comparison.columns);
    let mut sheets: Vec<Sheet> = others.chunks(BESIDE).map(sheet).collect();
    if let Some(last) = sheets.last_mut() {
        last.below = sentences(comparison, words);
    }
    sheets
}

fn sheet(words: &Words, directories: &Directories, others: &[usize], columns: &[String]) -> Sheet {
    let reference = ("reference", text_of(&directories.reference));
    let (title, interval) =
        (words.with("title-directories", &[reference]), words.say("head-interval"));
    let mut header = vec!["", directories.reference.as_str()];
    for other in others {
        header.extend([directories.names[*other].as_str(), &interval]);
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
            sheet.rows.push(line(words, label, costs, others));
        }
    }
    sheet
}

fn line(words: &Words, label: String, costs: &DirectoryCosts, others: &[usize]) -> Vec<String> {
    let mut row = vec![label, units::time(costs.cost)];
    for other in others {
        row.extend(match &costs.ratios[*other] {
            Some(cost) => [format!("{}×", units::factor(cost.value)), bounds(words, cost)],
            None => ["–".into(), String::new()],
        });
    }
    row
}

fn bounds(words: &Words, cost: &DirectoryTax) -> String {
    match cost.interval {
        Some((low, high)) => format!("{}–{}", units::factor(low), units::factor(high)),
        None => words.say("unknown"),
    }
}
