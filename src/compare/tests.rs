//! Comparisons of run files whose truth is known, because they are made here.

use super::*;
use crate::model::{Case, EnvSpec, Params, Plan, SampleSet};
use crate::runfile::{End, EndReason, Header, Outcome};

/// A run of two environments and one probe with one phase. `times` gives the ns of a sample of ten
/// iterations for a round of `a` and `b`.
fn run(rounds: u32, times: impl Fn(u32) -> (u64, u64)) -> RunFile {
    let spec =
        |name: &str| EnvSpec { name: name.into(), kind: "native".into(), argument: String::new() };
    let planned = |probe: &str| PlannedCase {
        case: Case { probe: probe.into(), params: Params::default(), dir: None },
        phases: vec![String::new()],
        unit: "call".into(),
    };
    let plan = Plan {
        environments: vec![spec("a"), spec("b")],
        reference: "a".into(),
        cases: vec![planned("x.one"), planned("x.two")],
        dirs: Vec::new(),
        seed: 1,
        precision: 0.02,
        budget_s: 1.0,
        min_rounds: 15,
    };
    let mut blocks = Vec::new();
    for round in 0..=rounds {
        let (a, b) = times(round);
        for (place, (env, ns)) in [("a", a), ("b", b)].into_iter().enumerate() {
            let set = SampleSet {
                iterations: 10,
                samples: vec![vec![ns; 20]],
                pinned: true,
                ..SampleSet::default()
            };
            let at = u64::from(round) * 1000;
            blocks.push(Block {
                env: env.into(),
                case: 0,
                round,
                place,
                cpu: None,
                asked_ns: at,
                outer_ns: 900,
                set,
            });
        }
    }
    RunFile {
        header: Header {
            format: 1,
            envtax: "0".into(),
            started: String::new(),
            host: Default::default(),
            plan,
        },
        environments: ["a", "b"].map(started).to_vec(),
        blocks,
        hosts: Vec::new(),
        outcomes: Vec::new(),
        end: Some(End { reason: EndReason::Precision, elapsed_s: 1.0 }),
        remarks: Vec::new(),
    }
}

fn started(name: &str) -> crate::runfile::Environment {
    crate::runfile::Environment {
        name: name.into(),
        error: None,
        facts: Default::default(),
        clock: Default::default(),
        cpus: Vec::new(),
        started_in_ms: 1.0,
        dirs: Default::default(),
    }
}

/// Multiplies by a little that changes from round to round and averages to nothing.
fn jitter(ns: u64, round: u32) -> u64 {
    (ns as f64 * (1.0 + 0.01 * ((round * 7 % 5) as f64 - 2.0))) as u64
}

fn source(run: RunFile) -> [(String, RunFile, Option<String>); 1] {
    [("r.jsonl".into(), run, None)]
}

fn compared(run: RunFile) -> Comparison {
    let source = source(run);
    compare(&sides(&source, None).unwrap(), 0.03).unwrap()
}

fn tax(comparison: &Comparison, row: usize) -> &Tax {
    tax_of(&comparison.rows[row].cells[1]).unwrap()
}

#[test]
fn a_known_ratio_is_found_whatever_the_machine_did() {
    // Both environments get three times slower on the way: rounds cancel it.
    let comparison = compared(run(20, |round| {
        let drift = 1 + u64::from(round / 7);
        (100_000 * drift, jitter(150_000, round) * drift)
    }));
    let tax = tax(&comparison, 0);
    let (low, high) = tax.interval.unwrap();
    assert!(low < 1.5 && 1.5 < high && high - low < 0.06, "{tax:?}");
    assert_eq!(tax.verdict, Verdict::Slower);
    assert!((tax.all_in_ratio - tax.ratio).abs() < 0.01);
    let Cell::Measured(b) = &comparison.rows[0].cells[1] else { panic!() };
    let Cell::Measured(a) = &comparison.rows[0].cells[0] else { panic!() };
    assert!((b.cost_ns / a.cost_ns - tax.ratio).abs() < 1e-9, "costs and tax agree");
    assert!((tax.difference_ns - (b.cost_ns - a.cost_ns)).abs() < 1e-6);
    assert_eq!(b.rounds, 20, "the warm-up round does not count");
}

#[test]
fn exchanging_the_environments_inverts_the_tax() {
    let forward = run(20, |round| (100_000, jitter(140_000, round)));
    let source = source(forward);
    let there = compare(&sides(&source, None).unwrap(), 0.03).unwrap();
    let back = compare(&sides(&source, Some("b")).unwrap(), 0.03).unwrap();
    assert_eq!(back.columns, ["b", "a"]);
    let (there, back) = (tax(&there, 0), tax(&back, 0));
    assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
    let ((low, _), (_, high)) = (there.interval.unwrap(), back.interval.unwrap());
    assert!((low * high - 1.0).abs() < 1e-12);
    assert_eq!((there.verdict, back.verdict), (Verdict::Slower, Verdict::Faster));
}

#[test]
fn equal_environments_are_the_same_and_wild_ones_inconclusive() {
    let same = compared(run(20, |round| (100_000, jitter(100_000, round))));
    assert_eq!(tax(&same, 0).verdict, Verdict::Same);
    let wild = compared(run(20, |round| (100_000, if round % 2 == 0 { 60_000 } else { 160_000 })));
    let verdict = tax(&wild, 0).verdict;
    assert!(matches!(verdict, Verdict::Inconclusive { more_rounds: Some(_) }), "{verdict:?}");
}

#[test]
fn what_was_not_measured_says_why() {
    let mut run = run(20, |_| (100, 100));
    let outcome = |env: &str, state, reason: &str| Outcome {
        env: env.into(),
        case: 1,
        state,
        reason: reason.into(),
    };
    run.outcomes.push(outcome("a", OutcomeState::Skipped, "no shell"));
    run.outcomes.push(outcome("b", OutcomeState::Failed, "no space"));
    let comparison = compared(run);
    let cells = &comparison.rows[1].cells;
    assert!(matches!(&cells[0], Cell::Skipped { reason } if reason == "no shell"), "{cells:?}");
    assert!(matches!(&cells[1], Cell::Failed { reason } if reason == "no space"), "{cells:?}");
    assert_eq!(comparison.areas[0].rows, 2);
    assert!(comparison.areas[0].ratios[1].is_some(), "the row that was measured");
}

fn session(a: u64) -> RunFile {
    run(20, move |round| (jitter(a, round), 1))
}

#[test]
fn two_sessions_have_a_ratio_and_no_verdict() {
    let files = [
        ("one".to_string(), session(100_000), Some("a".to_string())),
        ("two".to_string(), session(120_000), Some("a".to_string())),
    ];
    let comparison = compare(&sides(&files, None).unwrap(), 0.03).unwrap();
    assert_eq!(comparison.columns, ["one:a", "two:a"]);
    let tax = tax(&comparison, 0);
    assert!((tax.ratio - 1.2).abs() < 0.01);
    assert_eq!((tax.interval, tax.verdict), (None, Verdict::Descriptive));
    assert!(comparison.remarks.iter().any(|remark| remark.contains("different sessions")));
}

#[test]
fn sessions_are_the_unit_when_there_are_several() {
    let files =
        |costs: [u64; 3]| costs.map(|cost| ("f".to_string(), session(cost), Some("a".to_string())));
    let (before, after) = (files([99_000, 100_000, 101_000]), files([149_000, 150_000, 151_000]));
    let sides = [pooled("before", &before).unwrap(), pooled("after", &after).unwrap()];
    let comparison = compare(&sides, 0.03).unwrap();
    let tax = tax(&comparison, 0);
    let (low, high) = tax.interval.unwrap();
    assert!(low < 1.5 && 1.5 < high, "{tax:?}");
    assert_eq!(tax.verdict, Verdict::Slower);
    assert_eq!(comparison.columns[0], "before (3 sessions)");
}

#[test]
fn wrong_names_are_refused() {
    let file = source(session(1));
    let error = sides(&file, Some("z")).unwrap_err().to_string();
    assert!(error.contains("`--reference z`") && error.contains("a, b"), "{error}");
    let [(name, run, _)] = source(session(1));
    let file = [(name, run, Some("z".to_string()))];
    let error = sides(&file, None).unwrap_err().to_string();
    assert!(error.contains("`r.jsonl` has no environment `z`"), "{error}");
}
