//! What the verdicts say, as sentences: never more than they do.

use super::tally::{Found, Tally};
use crate::compare::{Comparison, Remark, RemarkKind, Row, Tax, Verdict};
use crate::model::COMMAND;
use crate::report::{failure, table};
use crate::units;
use crate::words::{Words, text};

/// An interval whose ends are farther apart than by this factor tells nobody anything.
const USELESS: f64 = 100.0;

/// Areas that have a name in sentences, `area-NAME`.
const AREAS: [&str; 11] = [
    "bystander",
    "clock",
    "cpu",
    "file",
    "memory",
    "pipe",
    "process",
    "signal",
    "socket",
    "syscall",
    "thread",
];
/// Most areas of a sentence that are named with their figures.
const NAMED: usize = 3;

/// What the rows of an area measure, as it stands in a sentence.
fn named(words: &Words, area: &str) -> String {
    match AREAS.contains(&area) {
        true => words.say(&format!("area-{area}")),
        false => area.to_owned(),
    }
}

/// Columns of which the same is said.
struct Group<'a> {
    columns: Vec<(usize, Tally<'a>)>,
    text: String,
}

/// A sentence for each column, or for several of which the same is said; of more than `most`, those
/// with the largest taxes and one for all others.
pub fn sentences(comparison: &Comparison, words: &Words, most: usize) -> Vec<String> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for column in 1..comparison.columns.len() {
        let (text, tally) = (clauses((comparison, words), &rows, column), Tally::of(&rows, column));
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
        let names = group.columns.iter().map(|(column, _)| comparison.columns[*column].clone());
        format!("{}: {}", listed(words, &names.collect::<Vec<_>>()), group.text)
    };
    let mut sentences: Vec<String> = groups.iter().map(of_group).collect();
    if !others.is_empty() {
        sentences.push(of_others(comparison, words, &others));
    }
    sentences
}

/// Most names of a group.
const NAMES: usize = 4;

/// `a, b`, or `a, b, c and 9 others`.
fn listed(words: &Words, names: &[String]) -> String {
    match names.len() {
        few if few <= NAMES => words.listed(names),
        many => {
            let first = words.listed(&names[..NAMES - 1]);
            let values = [("names", text(&first)), ("count", (many + 1 - NAMES).into())];
            words.with("names-and-others", &values)
        }
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

fn of_others(comparison: &Comparison, words: &Words, others: &[(usize, Tally<'_>)]) -> String {
    let decided: Vec<Found<'_>> = others.iter().flat_map(|it| it.1.decided.clone()).collect();
    let all = Tally { decided, ..Tally::default() };
    let absent = others.iter().filter(|it| comparison.is_absent(it.0)).count();
    let absent = match absent {
        0 => String::new(),
        count => words.with("others-absent", &[("count", count.into())]),
    };
    let all_are = |of: fn(&Tally<'_>) -> usize| others.iter().all(|it| of(&it.1) == it.1.rows());
    let what = match all.worst() {
        Some((row, tax)) => {
            let slower = tax.verdict == Verdict::Slower;
            let id = if slower { "others-up" } else { "others-down" };
            let (figure, row) = (figure(words, tax), row.name());
            words.with(id, &[("figure", text(&figure)), ("row", text(&row))])
        }
        None if all_are(|it| it.same) => same_rows(comparison, words, String::new()),
        None if all_are(|it| it.untested.len()) => words.say("verdict-none"),
        None => words.say("said-no-difference"),
    };
    let count = ("count", others.len().into());
    words.with("others", &[count, ("what", text(&what)), ("absent", text(&absent))])
}

/// `the same within 3 % in 2 of 5 rows`.
fn same_rows(comparison: &Comparison, words: &Words, rows: String) -> String {
    let margin = units::percent(comparison.margin);
    words.with("said-same", &[("margin", text(&margin)), ("rows", text(&rows))])
}

/// `87.1× (54 to 141)`.
fn figure(words: &Words, tax: &Tax) -> String {
    table::figure(words, "figure", tax.ratio, tax.interval)
}

/// What is said of a column.
fn clauses((comparison, words): (&Comparison, &Words), rows: &[&Row], column: usize) -> String {
    if comparison.is_absent(column) {
        return match why_absent(comparison, words, column) {
            Some(why) => words.with("said-did-not-start", &[("why", text(&why))]),
            None => words.say("did-not-start"),
        };
    }
    let of_area = |area: &str| {
        let own: Vec<&Row> = rows.iter().copied().filter(|row| row.area() == area).collect();
        Tally::of(&own, column)
    };
    let areas = comparison.areas.iter().map(|area| area.area.as_str());
    let mut tallies: Vec<(String, Tally<'_>)> =
        areas.map(|area| (named(words, area), of_area(area))).collect();
    tallies.retain(|(_, tally)| tally.rows() > 0);
    tallies.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
    let decided: Vec<&(String, Tally<'_>)> =
        tallies.iter().filter(|(_, tally)| tally.worst().is_some()).collect();
    let first = decided.iter().take(NAMED);
    let mut figures: Vec<String> =
        first.filter_map(|(area, tally)| of_decided(words, area, tally, comparison)).collect();
    if decided.len() > NAMED {
        let more = decided.len() - NAMED;
        figures.push(words.with("said-less-in-areas", &[("count", more.into())]));
    }
    let all = Tally::of(rows, column);
    let mut clauses = Vec::new();
    if !figures.is_empty() {
        clauses.push(words.listed(&figures));
    }
    clauses.extend(same(comparison, words, &tallies, &all));
    clauses.extend(undecided(words, &all));
    words.joined(&clauses)
}

/// `files and 2 more rows the same within 3 %`.
fn same(
    comparison: &Comparison,
    words: &Words,
    tallies: &[(String, Tally<'_>)],
    all: &Tally<'_>,
) -> Option<String> {
    let whole = || tallies.iter().filter(|(_, it)| it.same == it.rows());
    let mut areas: Vec<String> = whole().map(|(area, _)| area.clone()).collect();
    let more = all.same - whole().map(|(_, it)| it.same).sum::<usize>();
    match (areas.is_empty(), more) {
        _ if all.same == 0 => return None,
        (true, more) => return Some(same_rows(comparison, words, of_rows(words, more, all))),
        (false, 0) => {}
        (false, more) => areas.push(words.with("more-rows", &[("count", more.into())])),
    }
    if areas.len() == 1 && areas[0] == COMMAND {
        return Some(same_rows(comparison, words, String::new()));
    }
    let (names, margin) = (table::and(words, &areas), units::percent(comparison.margin));
    let values = [("names", text(&names)), ("margin", text(&margin))];
    Some(words.with("said-areas-same", &values))
}

/// ` in 3 of 5 rows`; nothing where there is one row.
fn of_rows(words: &Words, count: usize, all: &Tally<'_>) -> String {
    let rows = ("rows", all.rows().into());
    match (count, all.rows()) {
        (1, 1) => String::new(),
        (count, rows_in_all) if count == rows_in_all => words.with("in-all-rows", &[rows]),
        (count, _) => words.with("in-rows", &[("count", count.into()), rows]),
    }
}

/// `files up to 26.5× (25.9 to 27.1) in 3 of 5 rows`.
fn of_decided(
    words: &Words,
    area: &str,
    tally: &Tally<'_>,
    comparison: &Comparison,
) -> Option<String> {
    let (row, tax) = tally.worst()?;
    let (count, rows) = (tally.like_worst(), tally.rows());
    let of_command = row.is_of_command();
    let id = match (of_command, rows, tax.verdict) {
        (true, 1, _) => "said-command",
        (true, _, Verdict::Faster) => "said-command-down",
        (true, ..) => "said-command-up",
        (false, 1, _) => "said-area",
        (false, _, Verdict::Faster) => "said-area-down",
        (false, ..) => "said-area-up",
    };
    let of = if row.probe == COMMAND { "in-cases" } else { "in-rows" };
    let of = match count == rows {
        true => String::new(),
        false => words.with(of, &[("count", count.into()), ("rows", rows.into())]),
    };
    let figure = figure(words, tax);
    let values = [
        ("area", text(area)),
        ("reference", text(&comparison.reference)),
        ("figure", text(&figure)),
        ("rows", text(&of)),
    ];
    Some(words.with(id, &values))
}

/// What is not decided, in numbers of rows; of a single row, with the interval that decided.
fn undecided(words: &Words, all: &Tally<'_>) -> Option<String> {
    let interval = match all.open[..] {
        [(_, tax)] if all.rows() == 1 => tax.corrected_interval.or(tax.interval),
        _ => None,
    };
    let open = match interval {
        Some((low, high)) if high > USELESS * low => words.say("said-too-little"),
        Some(ends) => {
            let ends = table::ends(words, ends);
            words.with("said-no-difference-of", &[("ends", text(&ends))])
        }
        None => words.say("said-no-difference"),
    };
    let parts = [
        (all.open.len(), open),
        (all.levels.len(), words.say("said-jumps")),
        (all.few_starts.len(), words.say("said-few-starts")),
        (all.untested.len(), words.say("verdict-none")),
        (all.failed, words.say("cell-failed")),
        (all.empty, words.say("not-measured")),
    ];
    let told = parts.iter().filter(|it| it.0 > 0).map(|(count, what)| {
        let rows = of_rows(words, *count, all);
        words.with("what-in-rows", &[("what", text(what)), ("rows", text(&rows))])
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| words.listed(&told))
}

/// Why the environment did not start, without the name.
fn why_absent(comparison: &Comparison, words: &Words, column: usize) -> Option<String> {
    let label = Some(&comparison.columns[column]);
    let is_own = |it: &&Remark| it.kind == RemarkKind::NotStarted && it.column.as_ref() == label;
    let text = failure::remark(words, comparison.remarks.iter().find(is_own)?);
    let line = text.lines().next().unwrap_or_default();
    // The text may say the same before the reason.
    let line = line.split_once("did not start: ").map_or(line, |(_, why)| why);
    Some(line.trim_start_matches(&format!("`{}`: ", comparison.columns[column])).to_owned())
}
