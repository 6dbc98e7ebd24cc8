//! The flags of figures with their remedies, for `envtax list flags`.

use anyhow::{Result, ensure};

use crate::compare::Flag;
use crate::words::{Words, text};

/// Rows of a letter and a text: what the flag means, and what to do. Of all flags, or of those
/// whose letters stand in the words. Errors: a letter that no flag has.
pub(super) fn rows(wanted: &[String], words: &Words) -> Result<Vec<[String; 2]>> {
    // As they stand behind a verdict: `(wt)`, `w,t` and `w t` are the same.
    let wanted = wanted.iter().flat_map(|word| word.chars());
    let wanted: Vec<char> = wanted.filter(|letter| !"(), ".contains(*letter)).collect();
    let letters: Vec<char> = Flag::ALL.iter().map(|flag| flag.letter()).collect();
    for letter in &wanted {
        let all: String = letters.iter().collect();
        ensure!(letters.contains(letter), "there is no flag `{letter}`; there are {all}");
    }
    let row = |flag: &Flag| {
        let letter = flag.letter().to_string();
        let [meaning, remedy] =
            ["flag", "remedy"].map(|what| words.say(&format!("{what}-{letter}")));
        let values = [("meaning", text(&meaning)), ("remedy", text(&remedy))];
        let told = words.with("flags-what-to-do", &values);
        [letter, told]
    };
    let is_wanted = |flag: &&Flag| wanted.is_empty() || wanted.contains(&flag.letter());
    Ok(Flag::ALL.iter().filter(is_wanted).map(row).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The document has a row for every flag: name, letter, meaning.
    #[test]
    fn every_flag_is_listed_and_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/RUN-FILE.md");
        let document = std::fs::read_to_string(path).unwrap();
        let documented: BTreeSet<(String, String)> = document
            .lines()
            .filter_map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let [_, name, letter, ..] = cells[..] else { return None };
                let name = name.strip_prefix('`')?.strip_suffix('`')?;
                (letter.chars().count() == 1).then(|| (name.to_owned(), letter.to_owned()))
            })
            .collect();
        let name = |flag: &Flag| match serde_json::to_value(flag).unwrap() {
            serde_json::Value::String(name) => name,
            other => panic!("{other}"),
        };
        let listed: BTreeSet<(String, String)> =
            Flag::ALL.iter().map(|flag| (name(flag), flag.letter().to_string())).collect();
        assert_eq!(listed, documented);
        assert_eq!(listed.len(), Flag::ALL.len());
    }

    #[test]
    fn every_flag_says_what_it_means_and_what_to_do() {
        for [letter, text] in rows(&[], &Words::english()).unwrap() {
            let (meaning, remedy) = text.split_once("\nWhat to do: ").unwrap();
            assert!(meaning.len() > 20 && remedy.len() > 20, "{letter}: {text}");
        }
    }

    #[test]
    fn some_flags_alone() {
        let letters = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            rows(&words, &Words::english()).unwrap().into_iter().map(|[letter, _]| letter).collect()
        };
        assert_eq!(letters(&["m"]), ["m"]);
        assert_eq!(letters(&["(cm)"]), letters(&["c,", "m"]));
        assert_eq!(letters(&["cm"]).len(), 2);
        let error = rows(&["ß".to_owned()], &Words::english()).unwrap_err().to_string();
        assert!(error.contains("no flag `ß`; there are"), "{error}");
    }
}
