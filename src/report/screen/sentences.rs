//! What the verdicts say, as sentences: never more than they do.

use super::tally::{Found, Tally};
use crate::compare::{Comparison, Remark, RemarkKind, Row, Tax, Verdict};
use crate::model::COMMAND;
use crate::report::{failure, table};
use crate::units;

/// An interval whose ends are farther apart than by this factor tells nobody anything.
const USELESS: f64 = 100.0;

/// What the rows of an area measure, as it stands in a sentence.
const AREAS: [(&str, &str); 10] = [
    ("bystander", "bystanders"),
    ("clock", "the clock"),
    ("cpu", "the CPU"),
    ("file", "files"),
    ("pipe", "pipes"),
    ("process", "processes"),
    ("signal", "signals"),
    ("socket", "sockets"),
    ("syscall", "system calls"),
    ("thread", "threads"),
];
/// Most areas of a sentence that are named with their figures.
const NAMED: usize = 3;

fn words(area: &str) -> &str {
    AREAS.iter().find(|it| it.0 == area).map_or(area, |it| it.1)
}

/// Columns of which the same is said.
struct Group<'a> {
    columns: Vec<(usize, Tally<'a>)>,
    text: String,
}

/// A sentence for each column, or for several of which the same is said; of more than `most`, those
/// with the largest taxes and one for all others.
pub fn sentences(comparison: &Comparison, most: usize) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for column in 1..comparison.columns.len() {
        let (text, tally) = (clauses(comparison, &rows, column), Tally::of(&rows, column));
        match groups.iter_mut().find(|group| group.text == text) {
            Some(group) => group.columns.push((column, tally)),
            None => groups.push(Group { columns: vec![(column, tally)], text }),
        }
    }
    let mut others = Vec::new();
    if groups.len() > most {
        groups.sort_by(|a, b| size(&b.columns[0].1).total_cmp(&size(&a.columns[0].1)));
        others = groups.split_off(most.saturating_sub(1));
        groups.sort_by_key(|group| group.columns[0].0);
    }
    let others: Vec<_> = others.into_iter().flat_map(|group| group.columns).collect();
    let of_group = |group: &Group<'_>| {
        let names = group.columns.iter().map(|(column, _)| comparison.columns[*column].as_str());
        format!("{}: {}", listed(&names.collect::<Vec<_>>()), group.text)
    };
    let mut sentences: Vec<String> = groups.iter().map(of_group).collect();
    if !others.is_empty() {
        sentences.push(of_others(comparison, &others));
    }
    sentences
}

/// Most names of a group.
const NAMES: usize = 4;

/// `a, b`, or `a, b, c and 9 others`.
fn listed(names: &[&str]) -> String {
    match names.len() {
        few if few <= NAMES => names.join(", "),
        many => format!("{} and {} others", names[..NAMES - 1].join(", "), many + 1 - NAMES),
    }
}

/// How far the worst decided row is from the reference; an environment that did not start comes
/// first.
fn size(tally: &Tally<'_>) -> f64 {
    match tally.rows() == tally.failed {
        true => f64::INFINITY,
        false => tally.worst().map_or(0.0, |(_, tax)| tax.ratio.ln().abs()),
    }
}

fn of_others(comparison: &Comparison, others: &[(usize, Tally<'_>)]) -> String {
    let decided: Vec<Found<'_>> = others.iter().flat_map(|it| it.1.decided.clone()).collect();
    let all = Tally { decided, ..Tally::default() };
    let absent = others.iter().filter(|it| comparison.is_absent(it.0)).count();
    let absent = if absent > 0 { format!("; {absent} did not start") } else { String::new() };
    let all_are = |of: fn(&Tally<'_>) -> usize| others.iter().all(|it| of(&it.1) == it.1.rows());
    let what = match all.worst() {
        Some((row, tax)) if tax.verdict == Verdict::Slower => {
            format!("up to {} ({})", figure(tax), row.name())
        }
        Some((row, tax)) => format!("down to {} ({})", figure(tax), row.name()),
        None if all_are(|it| it.same) => {
            format!("the same within {}", units::percent(comparison.margin))
        }
        None if all_are(|it| it.untested.len()) => "no verdict".into(),
        None => "no difference shown".into(),
    };
    format!("the {} others: {what}{absent}", others.len())
}

/// `87.1× (54 to 141)`.
fn figure(tax: &Tax) -> String {
    let interval = tax.interval.map(|ends| format!(" ({})", units::factors(ends)));
    format!("{}×{}", units::factor(tax.ratio), interval.unwrap_or_default())
}

/// What is said of a column.
fn clauses(comparison: &Comparison, rows: &[&Row], column: usize) -> String {
    if comparison.is_absent(column) {
        return format!("did not start{}", why_absent(comparison, column));
    }
    let areas: Vec<&str> = comparison.areas.iter().map(|area| area.area.as_str()).collect();
    let of_area = |area: &&str| {
        let own: Vec<&Row> = rows.iter().copied().filter(|row| row.area() == *area).collect();
        Tally::of(&own, column)
    };
    let mut tallies: Vec<(&str, Tally<'_>)> =
        areas.iter().map(|area| (words(area), of_area(area))).collect();
    tallies.retain(|(_, tally)| tally.rows() > 0);
    tallies.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
    let decided: Vec<&(&str, Tally<'_>)> =
        tallies.iter().filter(|(_, tally)| tally.worst().is_some()).collect();
    let named = decided.iter().take(NAMED);
    let mut figures: Vec<String> =
        named.filter_map(|(area, tally)| of_decided(area, tally, comparison)).collect();
    if decided.len() > NAMED {
        figures.push(format!("less in {} more areas", decided.len() - NAMED));
    }
    let all = Tally::of(rows, column);
    let mut clauses = Vec::new();
    if !figures.is_empty() {
        clauses.push(figures.join(", "));
    }
    clauses.extend(same(comparison, &tallies, &all));
    clauses.extend(undecided(&all));
    clauses.join("; ")
}

/// `files and 2 more rows the same within 3 %`.
fn same(comparison: &Comparison, tallies: &[(&str, Tally<'_>)], all: &Tally<'_>) -> Option<String> {
    let whole = || tallies.iter().filter(|(_, it)| it.same == it.rows());
    let mut areas: Vec<String> = whole().map(|(area, _)| area.to_string()).collect();
    let more = all.same - whole().map(|(_, it)| it.same).sum::<usize>();
    let margin = units::percent(comparison.margin);
    match (areas.is_empty(), more) {
        _ if all.same == 0 => return None,
        (true, more) => return Some(format!("the same within {margin}{}", of_rows(more, all))),
        (false, 0) => {}
        (false, 1) => areas.push("1 more row".into()),
        (false, more) => areas.push(format!("{more} more rows")),
    }
    let commands = areas.len() == 1 && areas[0] == COMMAND;
    let last = areas.pop().unwrap_or_default();
    let names = match areas.is_empty() {
        _ if commands => return Some(format!("the same within {margin}")),
        true => last,
        false => format!("{} and {last}", areas.join(", ")),
    };
    Some(format!("{names} the same within {margin}"))
}

/// ` in 3 of 5 rows`; nothing where there is one row.
fn of_rows(count: usize, all: &Tally<'_>) -> String {
    match (count, all.rows()) {
        (1, 1) => String::new(),
        (count, rows) if count == rows => format!(" in all {rows} rows"),
        (count, rows) => format!(" in {count} of {rows} rows"),
    }
}

/// `files up to 26.5× (25.9 to 27.1) in 3 of 5 rows`.
fn of_decided(area: &str, tally: &Tally<'_>, comparison: &Comparison) -> Option<String> {
    let (row, tax) = tally.worst()?;
    let (count, rows) = (tally.like_worst(), tally.rows());
    let limit = match (rows, tax.verdict) {
        (1, _) => "",
        (_, Verdict::Faster) => "down to ",
        _ => "up to ",
    };
    let what = match row.is_of_command() {
        true => format!("{limit}{} the time of {}", figure(tax), comparison.reference),
        false => format!("{area} {limit}{}", figure(tax)),
    };
    let of = if row.probe == COMMAND { "cases" } else { "rows" };
    Some(if count == rows { what } else { format!("{what} in {count} of {rows} {of}") })
}

/// What is not decided, in numbers of rows; of a single row, with the interval that decided.
fn undecided(all: &Tally<'_>) -> Option<String> {
    let interval = match all.open[..] {
        [(_, tax)] if all.rows() == 1 => tax.corrected_interval.or(tax.interval),
        _ => None,
    };
    let open = match interval {
        Some((low, high)) if high > USELESS * low => "too little measured to tell".into(),
        Some(ends) => format!("no difference shown ({})", units::factors(ends)),
        None => "no difference shown".into(),
    };
    let parts = [
        (all.open.len(), open),
        (all.levels.len(), "jumps between levels".into()),
        (all.few_starts.len(), "too few starts to tell".into()),
        (all.untested.len(), "no verdict".into()),
        (all.failed, "failed".into()),
        (all.empty, "not measured".into()),
    ];
    let told = parts.iter().filter(|it| it.0 > 0);
    let told: Vec<String> =
        told.map(|(count, what)| format!("{what}{}", of_rows(*count, all))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn why_absent(comparison: &Comparison, column: usize) -> String {
    let label = Some(&comparison.columns[column]);
    let is_own = |it: &&Remark| it.kind == RemarkKind::NotStarted && it.column.as_ref() == label;
    let Some(remark) = comparison.remarks.iter().find(is_own) else { return String::new() };
    let text = failure::remark(&crate::words::Words::english(), remark);
    let line = text.lines().next().unwrap_or_default();
    // The text may say the same before the reason.
    let line = line.split_once("did not start: ").map_or(line, |(_, why)| why);
    format!(": {}", line.trim_start_matches(&format!("`{}`: ", comparison.columns[column])))
}
