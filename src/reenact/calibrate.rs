//! Re-enacts a fresh recording on this machine, so that it has as many page faults as the real
//! program, and its computing takes what is left of the CPU time.
//!
//! User time alone cannot say that: Linux counts all CPU time of a short process as user time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{Options, PROGRAM, SCRIPT, TREE, prepare, restore};
use crate::recording::{Costs, Event, Pages, Recording};
use crate::sys::{self, CommandOrder};

/// Runs that count, after a first one.
const RUNS: usize = 5;
/// How much longer than it was recorded a part of a program may take.
const SLOWER: u32 = 4;
/// Page faults that differ by at most this percentage are as many.
const CLOSE: u64 = 2;
/// How often the pages are scaled: some are touched whatever the recording says.
const TRIES: usize = 2;
/// The most bytes that one run may write.
const OUTPUT_LIMIT: u64 = 1 << 33;

/// Sets the computing times of the recording, and its costs when it is re-enacted. Works in an
/// empty folder, which it leaves empty.
pub fn calibrate(recording: &mut Recording, folder: &Path, limit: Duration) -> Result<()> {
    let steps_per_ns = sys::spin_rate();
    // What it takes alone is known of the whole program only, and a part that ended with the time
    // limit takes as long again.
    let whole = !recording.about.partial;
    let limit = if whole { limit } else { limit * SLOWER };
    let without = Options { steps_per_ns: 0.0, ..Options::default() };
    let mut bare = run(recording, &without, folder, limit)?;
    for _ in 0..if whole { TRIES } else { 0 } {
        let (wanted, had) = (median(&recording.about.alone.faults), median(&bare.faults));
        if had.abs_diff(wanted) * 100 <= wanted * CLOSE || !scale_pages(recording, wanted, had) {
            break;
        }
        bare = run(recording, &without, folder, limit)?;
    }
    let alone = &recording.about.alone;
    let real = middle(&alone.user, &alone.system);
    let missing = real.saturating_sub(middle(&bare.user, &bare.system));
    let gaps = || recording.streams.iter().flat_map(|stream| &stream.events).map(|it| it.0);
    let total: u64 = gaps().sum();
    let factor = match (total, whole && !alone.wall.is_empty()) {
        (0, _) => 0.0,
        // Nobody knows how long it computes without a recorder.
        (_, false) => 1.0,
        _ => missing as f64 / total as f64,
    };
    for event in recording.streams.iter_mut().flat_map(|stream| &mut stream.events) {
        event.0 = (event.0 as f64 * factor) as u64;
    }
    let options = Options { steps_per_ns, ..Options::default() };
    recording.about.reenacted = run(recording, &options, folder, limit)?;
    Ok(())
}

/// Changes the numbers of touched pages in proportion, so that there are as many page faults as
/// wanted. Whether anything changed.
fn scale_pages(recording: &mut Recording, wanted: u64, had: u64) -> bool {
    let events = recording.streams.iter_mut().flat_map(|stream| &mut stream.events);
    let pages: Vec<&mut Pages> = events
        .filter_map(|(_, event)| match event {
            Event::Pages(pages) => Some(pages),
            _ => None,
        })
        .collect();
    let sum = |it: &Pages| u64::from(it.fresh) + u64::from(it.file) + u64::from(it.copied);
    let total: u64 = pages.iter().map(|it| sum(it)).sum();
    let target = (total + wanted).saturating_sub(had);
    if total == 0 || target == total {
        return false;
    }
    let factor = target as f64 / total as f64;
    // What rounding leaves goes to the next ones.
    let mut rest = 0.0;
    let mut scale = |count: &mut u32| {
        let exact = f64::from(*count) * factor + rest;
        let whole = exact.round().max(0.0);
        (*count, rest) = (whole as u32, exact - whole);
    };
    for Pages { fresh, file, copied } in pages {
        [fresh, file, copied].into_iter().for_each(&mut scale);
    }
    true
}

/// The median of the sums.
fn middle(user: &[u64], system: &[u64]) -> u64 {
    median(&user.iter().zip(system).map(|(user, system)| user + system).collect::<Vec<_>>())
}

fn median(values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn run(recording: &Recording, options: &Options, folder: &Path, limit: Duration) -> Result<Costs> {
    let place = folder.join("reenacted");
    fs::create_dir(&place)?;
    let compiled = prepare(recording, options, &place)?;
    let out = folder.join("report");
    let text = |path: &Path| path.display().to_string();
    let words = [
        text(&place.join(PROGRAM)),
        "reenact".to_owned(),
        text(&place.join(SCRIPT)),
        text(&place.join(TREE)),
        text(&out),
    ];
    let never = sys::no_input().context("a pipe")?;
    let errors = folder.join("stderr");
    let mut costs = Costs::default();
    // Each run of a part takes as long as its recording.
    let first = if recording.about.partial { RUNS } else { 0 };
    for number in first..=RUNS {
        let end = sys::run_command(
            &CommandOrder {
                words: &words,
                stdin: None,
                stdout: None,
                stderr: Some(&errors),
                limit_ns: limit.as_nanos() as u64,
                output_limit: OUTPUT_LIMIT,
            },
            &never,
        )
        .context("re-enacting it here")?;
        let said = fs::read_to_string(&errors).unwrap_or_default();
        let fine = end.status.success() && end.killed.is_none();
        ensure!(fine, "re-enacting it here ended with {} {}", end.status, said.trim());
        if number > 0 {
            costs.add(end.end_ns - end.start_ns, &end.usage);
        }
        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            if path != place && !path.is_dir() {
                fs::remove_file(&path)?;
            } else if path != place {
                fs::remove_dir_all(&path)?;
            }
        }
        if compiled.changes_tree {
            restore(recording, &place.join(TREE))?;
        }
    }
    fs::remove_dir_all(&place)?;
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Stream;

    #[test]
    fn pages_are_scaled_to_the_wanted_faults() {
        let pages = Pages { fresh: 5, file: 3, copied: 2 };
        let events = vec![(0, Event::Pages(pages)); 10];
        let streams = vec![Stream { program: String::new(), events }];
        let mut recording = Recording { streams, ..Recording::default() };
        assert!(scale_pages(&mut recording, 163, 130));
        let of = |(_, event): &(u64, Event)| match event {
            Event::Pages(it) => it.fresh + it.file + it.copied,
            _ => 0,
        };
        assert_eq!(recording.streams[0].events.iter().map(of).sum::<u32>(), 133);
        assert!(!scale_pages(&mut recording, 130, 130), "there are as many as wanted");
    }
}
