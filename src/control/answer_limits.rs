//! Limits on what an answer may contain. The environment may control its agent. Whatever the agent
//! sends, the controller must not accept work that it did not ask for, and must not run out of
//! memory.

use anyhow::{Result, ensure};

use crate::model::{Extras, Failure, SampleSet};
use crate::protocol::{Answer, BlockSize};
use crate::runfile;

/// The longest text of a failure, in characters, and the largest number of lines and attempts.
const TEXT: usize = 4000;
const LINES: usize = 50;
const ATTEMPTS: usize = 4;
/// The largest number of letters in all notes and names of one block, of counters, and of pairs in
/// all histograms.
const LETTERS: usize = 4000;
const COUNTERS: usize = 100;
const PAIRS: usize = 20_000;

/// Values that a message may have, and lists and objects among them: a list of one digit takes
/// forty times the memory of its text.
const VALUES: usize = 300_000;
const LISTS: usize = 40_000;

/// Whether a message has more values than any answer. Nothing of it was parsed yet.
pub fn has_many_values(message: &str) -> bool {
    let count = |marks: &[u8]| message.bytes().filter(|byte| marks.contains(byte)).count();
    count(b",") > VALUES || count(b"[{") > LISTS
}

/// An error if the block is not what was asked for.
pub fn check_block(set: &SampleSet, phases: usize, asked: &BlockSize) -> Result<()> {
    let (iterations, samples) = (set.iterations, set.samples.first().map_or(0, Vec::len));
    ensure!(
        iterations == asked.iterations,
        "has {iterations} iterations a sample, and {} were asked for",
        asked.iterations
    );
    ensure!(
        samples <= asked.samples,
        "has {samples} samples, and {} were asked for",
        asked.samples
    );
    check_extras(&set.extras)?;
    runfile::check(set, phases)
}

fn check_extras(extras: &Extras) -> Result<()> {
    let texts = extras.notes.iter().chain(&extras.hidden).chain(&extras.output);
    let names = extras.counters.keys().chain(extras.latencies.keys());
    let names = names.chain(extras.classes.keys()).chain(extras.unlike.keys());
    let letters: usize = texts.chain(names).map(String::len).sum();
    ensure!(letters <= LETTERS, "has notes of more than {LETTERS} letters");
    let counters = extras.counters.len() + extras.latencies.len() + extras.notes.len();
    let counters = counters + extras.classes.len() + extras.unlike.len();
    ensure!(counters <= COUNTERS, "has more than {COUNTERS} notes and counters");
    let pairs: usize = extras.latencies.values().map(Vec::len).sum();
    ensure!(pairs <= PAIRS, "has histograms of more than {PAIRS} latencies");
    Ok(())
}

/// The answer, with the text of a failure cut to a length that can be shown and stored.
pub fn bounded(answer: Answer) -> Answer {
    match answer {
        Answer::Failed(failure) => Answer::Failed(cut(failure)),
        Answer::CannotMeasure(failure) => Answer::CannotMeasure(cut(failure)),
        other => other,
    }
}

fn cut(mut failure: Failure) -> Failure {
    failure.what = cut_text(&failure.what);
    let details = &mut failure.details;
    details.printed.truncate(LINES);
    details.next_attempts.truncate(ATTEMPTS);
    let texts = details.by_hand.iter_mut().chain(&mut details.remedy).chain(&mut details.printed);
    texts.for_each(|text| *text = cut_text(text));
    for attempt in &mut details.next_attempts {
        // The failure of an attempt has no attempts of its own.
        attempt.details.next_attempts.clear();
        *attempt = cut(std::mem::take(attempt));
    }
    failure
}

fn cut_text(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: BlockSize = BlockSize { iterations: 10, samples: 3, discard: true, limit_ns: 1 };

    fn set(iterations: u64, samples: usize) -> SampleSet {
        SampleSet { iterations, samples: vec![vec![1; samples]], ..SampleSet::default() }
    }

    fn refused(set: &SampleSet) -> String {
        check_block(set, 1, &ASKED).unwrap_err().to_string()
    }

    #[test]
    fn a_block_is_as_it_was_asked_for() {
        assert!(check_block(&set(10, 3), 1, &ASKED).is_ok());
        assert!(check_block(&set(10, 1), 1, &ASKED).is_ok(), "its time was over");
        assert!(refused(&set(11, 3)).contains("11 iterations"));
        assert!(refused(&set(10, 4)).contains("4 samples, and 3 were asked for"));
        assert!(check_block(&set(10, 3), 2, &ASKED).is_err(), "a phase is missing");
    }

    #[test]
    fn what_stands_beside_the_samples_is_bounded() {
        let mut much = set(10, 3);
        much.extras.notes = vec!["x".repeat(LETTERS + 1)];
        assert!(refused(&much).contains("letters"));
        much.extras.notes = vec![String::new(); COUNTERS + 1];
        assert!(refused(&much).contains("notes and counters"));
        much.extras.notes.clear();
        much.extras.latencies.insert("a".into(), vec![(1, 1); PAIRS + 1]);
        assert!(refused(&much).contains("latencies"));
    }

    #[test]
    fn a_message_has_no_more_values_than_an_answer() {
        let pairs = vec!["[1,1]"; PAIRS].join(",");
        assert!(!has_many_values(&pairs), "the histograms of a block");
        assert!(has_many_values(&vec!["[1]"; LISTS + 1].join(",")));
        assert!(has_many_values(&vec!["1"; VALUES + 2].join(",")));
    }

    #[test]
    fn long_failures_are_cut() {
        let long = "x".repeat(TEXT + 1);
        let mut failure = Failure::new(&long).printed(vec![long.clone(); LINES + 1]);
        failure.details.next_attempts = vec![failure.clone(); ATTEMPTS + 1];
        let Answer::Failed(cut) = bounded(Answer::Failed(failure)) else { unreachable!() };
        assert_eq!((cut.what.len(), cut.details.printed.len()), (TEXT, LINES));
        let attempts = &cut.details.next_attempts;
        assert_eq!((attempts.len(), attempts[0].details.printed[0].len()), (ATTEMPTS, TEXT));
    }
}
