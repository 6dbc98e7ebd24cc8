//! The table of facts that differ: a fact with the reference's value, and below it the others'.

use super::sheet::Sheet;
use crate::compare::{Change, Comparison, Difference};
use crate::words::{Words, text};

/// Longest value in characters; a longer list shows only its different elements, a longer text only
/// its beginning.
const LONG: usize = 64;
/// Most elements of a list that are shown.
const ELEMENTS: usize = 8;
/// Stands for a fact that the reference does not show.
const NOTHING: &str = "–";

/// The table; none if no fact differs.
pub fn sheet(comparison: &Comparison, words: &Words) -> Option<Sheet> {
    let reference = ("reference", text(&comparison.reference));
    let header = ["", &words.with("head-facts", std::slice::from_ref(&reference))];
    let title = words.say("title-facts");
    let mut sheet = Sheet { prose: true, ..Sheet::new(&title, &header) };
    for difference in &comparison.differences {
        sheet.rows.extend(rows(words, difference, &comparison.columns));
    }
    let silent = silent(comparison, words);
    if !silent.is_empty() {
        let told = words.with("facts-unknown", &[reference]);
        sheet.rows.push(vec![words.say("unknown"), told]);
        sheet.rows.extend(silent);
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// The reference's value, and each other one with all the columns that have it.
fn rows(words: &Words, difference: &Difference, columns: &[String]) -> Vec<Vec<String>> {
    let others = (1..columns.len()).filter(|column| difference.is_other(*column));
    let told = others.map(|column| (told(words, difference, column), columns[column].as_str()));
    let groups = grouped(told.collect());
    if groups.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![vec![difference.name(), of_reference(words, difference)]];
    rows.extend(groups.into_iter().map(|(value, names)| vec![format!("  {names}"), value]));
    rows
}

/// The first of many names, and how many more there are.
fn first_of(words: &Words, names: &[String], separator: &str) -> String {
    let mut text = names[..names.len().min(ELEMENTS)].join(separator);
    if names.len() > ELEMENTS {
        let more = words.with("list-more", &[("count", (names.len() - ELEMENTS).into())]);
        text.push_str(&format!("{separator}{more}"));
    }
    text
}

/// The columns that do not show facts of the reference, with these facts.
fn silent(comparison: &Comparison, words: &Words) -> Vec<Vec<String>> {
    let of_column = |(column, label)| {
        let unknown = comparison.differences.iter().filter(|it| it.is_unknown(column));
        let names: Vec<String> = unknown.map(Difference::name).collect();
        (!names.is_empty()).then(|| (first_of(words, &names, ", "), label))
    };
    let columns = comparison.columns.iter().map(String::as_str).enumerate();
    let groups = grouped(columns.filter_map(of_column).collect());
    groups.into_iter().map(|(facts, names)| vec![format!("  {names}"), facts]).collect()
}

/// Each text once, with the names of all columns that have it.
fn grouped(told: Vec<(String, &str)>) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for (text, name) in told {
        match groups.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push_str(&format!(", {name}")),
            None => groups.push((text, name.to_owned())),
        }
    }
    groups
}

/// All values of a column as one text.
fn whole(difference: &Difference, column: usize) -> String {
    difference.values[column].as_deref().unwrap_or_default().join(" | ")
}

fn is_long(text: &str) -> bool {
    text.chars().count() > LONG
}

fn of_reference(words: &Words, difference: &Difference) -> String {
    let text = whole(difference, 0);
    match () {
        () if text.is_empty() => NOTHING.to_owned(),
        () if is_long(&text) && difference.changes.iter().any(Option::is_some) => {
            words.say("facts-long")
        }
        () => shortened(&text),
    }
}

fn told(words: &Words, difference: &Difference, column: usize) -> String {
    let text = whole(difference, column);
    match &difference.changes[column] {
        Some(change) if is_long(&text) || is_long(&whole(difference, 0)) => changed(words, change),
        _ => shortened(&text),
    }
}

fn shortened(text: &str) -> String {
    if !is_long(text) {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONG).collect();
    format!("{}…", kept.trim_end())
}

/// `+new −old`: the elements that a list has in addition, and those that it lacks.
fn changed(words: &Words, change: &Change) -> String {
    let Change { added, removed } = change;
    let signed = |sign: char, elements: &[String]| {
        let elements: Vec<String> =
            elements.iter().map(|element| format!("{sign}{element}")).collect();
        first_of(words, &elements, " ")
    };
    let all = format!("{} {}", signed('+', added), signed('−', removed));
    let all = all.trim();
    if all.is_empty() { words.say("facts-in-another-order") } else { all.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::LANGUAGES;

    fn english() -> Words {
        Words::of(LANGUAGES[0])
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    fn difference(fact: &str, values: &[Option<&str>]) -> Difference {
        let values: Vec<_> =
            values.iter().map(|value| value.map(|text| strings(&[text]))).collect();
        let changes = vec![None; values.len()];
        Difference { fact: fact.into(), dir: None, values, changes }
    }

    #[test]
    fn columns_with_the_same_value_share_a_row() {
        let columns = strings(&["native", "a", "b", "c", "gone"]);
        let values = [Some("6.1"), Some("4.19"), Some("6.1"), Some("4.19"), None];
        let rows = rows(&english(), &difference("kernel", &values), &columns);
        assert_eq!(rows, [["kernel", "6.1"], ["  a, c", "4.19"]]);
    }

    #[test]
    fn of_long_lists_only_the_differences_are_shown() {
        let long = "flag ".repeat(20);
        let mut flags = difference("cpu_flags", &[Some(&long), Some("x")]);
        let many: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        flags.changes[1] = Some(Change { added: strings(&["x"]), removed: many });
        let rows = rows(&english(), &flags, &strings(&["native", "a"]));
        assert!(rows[0][1].starts_with("(long"), "{rows:?}");
        assert_eq!(rows[1][1], "+x −f0 −f1 −f2 −f3 −f4 −f5 −f6 −f7 2 more");
        let same = Change { added: Vec::new(), removed: Vec::new() };
        assert_eq!(changed(&english(), &same), "the same in another order");
        assert_eq!(shortened(&"y".repeat(70)).chars().count(), LONG + 1);
    }
}
