//! Several runs of the same environments, and sessions before and after a change.

use super::remark::RemarkKind;
use super::tests::{jitter, planned, run_of, seeded, session, set_of};
use super::*;
use crate::runfile::RunFile;

/// A run in which `b` costs `ratio` times as much as `a`.
fn run(seed: u64, ratio: f64) -> (String, RunFile, Option<String>) {
    let mut run = run_of(vec![planned("x.one")], 20, |_, column, round| {
        let factor = if column == 0 { 1.0 } else { ratio };
        Some(set_of(vec![(jitter(100_000, round + column as u32) as f64 * factor) as u64; 20]))
    });
    run.header.plan.seed = seed;
    run.header.started = format!("2026-01-01T00:00:0{seed}Z");
    (format!("{seed}.jsonl"), run, None)
}

fn compared(sources: &[(String, RunFile, Option<String>)]) -> Comparison {
    compare(&sides(sources, None).unwrap(), &Margins::general(0.03)).unwrap()
}

fn tax(comparison: &Comparison) -> &Tax {
    tax_of(&comparison.rows[0].cells[1]).unwrap()
}

#[test]
fn runs_of_the_same_environments_are_pooled() {
    let comparison = compared(&[run(1, 1.5), run(2, 1.55), run(3, 1.45)]);
    assert_eq!((comparison.columns.len(), comparison.reference.as_str()), (2, "a"));
    let tax = tax(&comparison);
    let runs = tax.runs.as_ref().unwrap();
    let (low, high) = tax.interval.unwrap();
    let (next_low, next_high) = runs.prediction.unwrap();
    assert!(low < 1.5 && 1.5 < high && tax.verdict == Verdict::Slower, "{tax:?}");
    // Three runs: sqrt(1 + 1/3) is twice sqrt(1/3).
    let wider = (next_high / next_low).ln() / (high / low).ln();
    assert!((wider - 2.0).abs() < 1e-9, "{wider}");
    assert!(runs.apart && runs.ratios.len() == 3, "their own intervals are narrow: {runs:?}");
    let sessions = |it: &&Remark| it.kind == RemarkKind::Sessions;
    assert!(!comparison.remarks.iter().any(|it| sessions(&it)), "rounds are pairs in each run");
}

#[test]
fn runs_that_agree_are_not_apart() {
    let comparison = compared(&[run(1, 1.5), run(2, 1.5), run(3, 1.5)]);
    assert!(!tax(&comparison).runs.as_ref().unwrap().apart);
}

#[test]
fn two_files_and_files_of_other_cases_are_columns_beside_each_other() {
    assert_eq!(compared(&[run(1, 1.5), run(2, 1.5)]).columns.len(), 4);
    let mut other = run(3, 1.5);
    other.1.header.plan.cases[0].case.probe = "x.two".into();
    assert_eq!(compared(&[run(1, 1.5), run(2, 1.5), other]).columns.len(), 6);
    let twice = [run(1, 1.5), run(2, 1.5), run(1, 1.5)];
    let error = sides(&twice, None).unwrap_err().to_string();
    assert_eq!(error, "`1.jsonl` is the same run as `1.jsonl`; a run counts once");
}

#[test]
fn sessions_one_side_after_the_other_are_to_be_taken_in_turn() {
    let said = |before: [u64; 2], after: [u64; 2]| {
        let files = |seeds: [u64; 2]| seeds.map(|seed| run(seed, 1.0));
        let (before, after) = (files(before), files(after));
        let sides = [pooled("before", &before).unwrap(), pooled("after", &after).unwrap()];
        let comparison = compare(&sides, &Margins::general(0.03)).unwrap();
        let mut remarks = comparison.remarks.into_iter();
        remarks.find(|it| it.kind == RemarkKind::Sessions).unwrap().text.to_string()
    };
    assert!(said([1, 2], [3, 4]).contains("Take them in turn"));
    assert!(!said([1, 3], [2, 4]).contains("Take them in turn"));
}

#[test]
fn sessions_are_the_unit_when_there_are_several() {
    let file = |cost| ("f".to_string(), seeded(session(cost), cost), Some("a".to_string()));
    let files = |costs: [u64; 3]| costs.map(file);
    let (before, after) = (files([99_000, 100_000, 101_000]), files([149_000, 150_000, 151_000]));
    let sides = [pooled("before", &before).unwrap(), pooled("after", &after).unwrap()];
    let comparison = compare(&sides, &Margins::general(0.03)).unwrap();
    let tax = tax(&comparison);
    let (low, high) = tax.interval.unwrap();
    assert!(low < 1.5 && 1.5 < high, "{tax:?}");
    assert_eq!(tax.verdict, Verdict::Slower);
    assert_eq!(comparison.columns[0], "before (3 sessions)");
}
