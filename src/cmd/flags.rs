//! The flags of figures with their remedies, for `envtax list flags`.

use anyhow::{Result, ensure};

use crate::compare::Flag;

/// Rows of a letter and a text: what the flag means, and what to do. Of all flags, or of those
/// whose letters stand in the words. Errors: a letter that no flag has.
pub(super) fn rows(words: &[String]) -> Result<Vec<[String; 2]>> {
    // As they stand behind a verdict: `(wt)`, `w,t` and `w t` are the same.
    let wanted = words.iter().flat_map(|word| word.chars());
    let wanted: Vec<char> = wanted.filter(|letter| !"(), ".contains(*letter)).collect();
    let letters: Vec<char> = Flag::ALL.iter().map(|flag| flag.letter()).collect();
    for letter in &wanted {
        let all: String = letters.iter().collect();
        ensure!(letters.contains(letter), "there is no flag `{letter}`; there are {all}");
    }
    let row = |flag: &Flag| {
        let (letter, meaning) = (flag.letter().to_string(), flag.explanation());
        [letter, format!("{meaning}.\nWhat to do: {}.", remedy(*flag))]
    };
    let is_wanted = |flag: &&Flag| wanted.is_empty() || wanted.contains(&flag.letter());
    Ok(Flag::ALL.iter().filter(is_wanted).map(row).collect())
}

fn remedy(flag: Flag) -> &'static str {
    match flag {
        Flag::OptimisedAway => {
            "do not use the row; report it with its run file as an error of envtax"
        }
        Flag::HeavyTail => {
            "read the mean beside the cost, because users pay the mean; measure again on an idle \
             machine to see whether the slow operations come from the environment"
        }
        Flag::Contended => {
            "stop other programs and measure again, or give a larger `--budget`; until then, do \
             not read the mean"
        }
        Flag::DifferentWork => {
            "read the tax as the cost of all that work together; a case with fewer parts, such as \
             `syscall.getppid`, shows the cost of an operation alone"
        }
        Flag::NotPinned => {
            "allow the environment the CPUs that envtax has (its cpuset, `taskset`), or give a \
             larger `--budget`"
        }
        Flag::ClockShare => {
            "measure the phase by a case with a longer operation, and compare only environments \
             whose clocks cost the same (`clock.read`)"
        }
        Flag::FewRounds => "give a larger `--budget`, or fewer cases (`--probe`)",
        Flag::Modes => {
            "read the table of levels; choose a placement (`cpu=same` or `cpu=other` instead of \
             `cpu=free`) and stop other programs, if you want one level; more rounds do not help"
        }
        Flag::NotCold => {
            "read the row as one of a warm cache, or measure a `--dir` whose filesystem can evict, \
             such as ext4"
        }
        Flag::Launches => "give a larger `--launches`, with the `--budget` that this takes",
        Flag::OtherProgram => {
            "install the same version in all environments, or read the row as a comparison of the \
             programs"
        }
        Flag::Floor => {
            "read the figure as an upper bound; with an input that needs more memory, the figure \
             is the command's own"
        }
        Flag::Ticks => {
            "read the wall time instead, or time an input that takes a hundred steps of CPU time \
             or more"
        }
        Flag::Autocorrelated => {
            "give a larger `--budget`, or stop programs whose load changes from minute to minute"
        }
        Flag::FollowsLoad => {
            "stop other programs and measure again, or measure beside a known load (`--load N`): \
             the two tables, without and with it, show the effect of the load"
        }
        Flag::BesideLoad => {
            "stop other programs and measure again; where that is not possible, take sessions at \
             several times (`envtax session`) and see whether they agree"
        }
        Flag::OtherFilesystem => {
            "name a folder on the same disk in all environments (`--dir NAME=PATH`, or the table \
             `dirs` of an environment in environments.toml), if the environment alone is asked for"
        }
        Flag::NotDurable => {
            "do not count on durability there; look for a write cache or a mount option that \
             ignores flushes, which the facts of the directory show (`--format json`, `specs`)"
        }
    }
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
        for [letter, text] in rows(&[]).unwrap() {
            let (meaning, remedy) = text.split_once("\nWhat to do: ").unwrap();
            assert!(meaning.len() > 20 && remedy.len() > 20, "{letter}: {text}");
        }
    }

    #[test]
    fn some_flags_alone() {
        let letters = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            rows(&words).unwrap().into_iter().map(|[letter, _]| letter).collect()
        };
        assert_eq!(letters(&["m"]), ["m"]);
        assert_eq!(letters(&["(cm)"]), letters(&["c,", "m"]));
        assert_eq!(letters(&["cm"]).len(), 2);
        let error = rows(&["ß".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no flag `ß`; there are"), "{error}");
    }
}
