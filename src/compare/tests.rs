//! Comparisons of run files whose truth is known, because they are made here.

use super::remark::RemarkKind;
use super::*;
use crate::model::{
    Case, EnvSpec, LaunchCount, Params, Phase, Plan, PlannedCase, Quantity, SampleSet, Stop, Work,
};
use crate::runfile::{Block, End, EndReason, Header, Outcome, OutcomeState, RunFile};

/// A run of two environments and one probe with one phase. `times` gives the ns of a sample of ten
/// iterations for a round of `a` and `b`.
fn run(rounds: u32, times: impl Fn(u32) -> (u64, u64)) -> RunFile {
    let set = |case: usize, column: usize, round: u32| {
        let (a, b) = times(round);
        let ns = if column == 0 { a } else { b };
        (case == 0).then(|| set_of(vec![ns; 20]))
    };
    run_of(vec![planned("x.one"), planned("x.two")], rounds, set)
}

/// A block of one phase.
pub(super) fn set_of(samples: Vec<u64>) -> SampleSet {
    let samples = vec![samples];
    SampleSet { iterations: 10, samples, pinned: true, ..SampleSet::default() }
}

/// A run of these cases in the environments `a` and `b`; `set` gives the block of a case, a column
/// and a round, if there is one.
pub(super) fn run_of(
    cases: Vec<PlannedCase>,
    rounds: u32,
    set: impl Fn(usize, usize, u32) -> Option<SampleSet>,
) -> RunFile {
    let spec = |name: &str| EnvSpec::new(name, "native", "");
    let plan = Plan {
        environments: vec![spec("a"), spec("b")],
        reference: "a".into(),
        cases,
        named: Default::default(),
        dirs: Vec::new(),
        seed: 1,
        stop: Stop::at_precision(0.02, 15, 1.0),
        launches: LaunchCount::Affordable,
        cold_launches: false,
        fixed_order: false,
        load: 0,
        commands: None,
    };
    let mut blocks = Vec::new();
    let places = |case| ["a", "b"].into_iter().enumerate().map(move |place| (case, place));
    for round in 0..=rounds {
        for (case, (place, env)) in (0..plan.cases.len()).flat_map(places) {
            let Some(set) = set(case, place, round) else { continue };
            blocks.push(Block {
                env: env.into(),
                case,
                round,
                place,
                cpu: None,
                asked_ns: u64::from(round) * 1000,
                outer_ns: 900,
                runnable: None,
                launch: 0,
                outside_cpu_ns: None,
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
        launches: Vec::new(),
        inspected: Vec::new(),
        blocks,
        hosts: Vec::new(),
        outcomes: Vec::new(),
        end: Some(End { reason: EndReason::Precision, elapsed_s: 1.0 }),
        remarks: Vec::new(),
        imported: false,
    }
}

pub(super) fn planned(probe: &str) -> PlannedCase {
    PlannedCase {
        case: Case { probe: probe.into(), params: Params::default(), dir: None },
        phases: vec![Phase::timed("")],
        unit: "call".into(),
        work: Work::Probe,
    }
}

fn started(name: &str) -> crate::runfile::Environment {
    crate::runfile::Environment {
        name: name.into(),
        error: None,
        details: Default::default(),
        facts: Default::default(),
        clock: Default::default(),
        cpus: Vec::new(),
        started_in_ms: 1.0,
        dirs: Default::default(),
    }
}

/// Multiplies by a little that changes from round to round and averages to nothing.
pub(super) fn jitter(ns: u64, round: u32) -> u64 {
    (ns as f64 * (1.0 + 0.01 * ((round * 7 % 5) as f64 - 2.0))) as u64
}

fn source(run: RunFile) -> [(String, RunFile, Option<String>); 1] {
    [("r.jsonl".into(), run, None)]
}

pub(super) fn compared(run: RunFile) -> Comparison {
    let source = source(run);
    compare(&sides(&source, None).unwrap(), &Margins::general(0.03)).unwrap()
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
    assert!((b.cost / a.cost - tax.ratio).abs() < 1e-9, "costs and tax agree");
    assert!((tax.difference - (b.cost - a.cost)).abs() < 1e-6);
    assert_eq!(b.rounds, 20, "the warm-up round does not count");
}

#[test]
fn exchanging_the_environments_inverts_the_tax() {
    let forward = run(20, |round| (100_000, jitter(140_000, round)));
    let source = source(forward);
    let there = compare(&sides(&source, None).unwrap(), &Margins::general(0.03)).unwrap();
    let back = compare(&sides(&source, Some("b")).unwrap(), &Margins::general(0.03)).unwrap();
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
    let wild = compared(run(20, |round| (100_000, 80_000 + u64::from(round * 13 % 20) * 2_200)));
    let verdict = tax(&wild, 0).verdict;
    assert!(
        matches!(
            verdict,
            Verdict::Inconclusive { more_rounds: Some(_), more_s: Some(_), why: Open::Width }
        ),
        "{verdict:?}"
    );
}

#[test]
fn what_was_not_measured_says_why() {
    let mut run = run(20, |_| (100, 100));
    run.outcomes.push(outcome("a", 1, OutcomeState::Skipped, "no shell"));
    run.outcomes.push(outcome("b", 1, OutcomeState::Failed, "no space"));
    let comparison = compared(run);
    let cells = &comparison.rows[1].cells;
    assert!(matches!(&cells[0], Cell::Skipped(why) if why.what == "no shell"), "{cells:?}");
    assert!(matches!(&cells[1], Cell::Failed(why) if why.what == "no space"), "{cells:?}");
    assert_eq!(comparison.areas[0].rows, 2);
    assert!(comparison.areas[0].ratios[1].is_some(), "the row that was measured");
    assert_eq!(comparison.areas[0].counts, [0, 1], "how many that is");
}

pub(super) fn outcome(env: &str, case: usize, state: OutcomeState, reason: &str) -> Outcome {
    Outcome { env: env.into(), case, state, why: reason.into() }
}

#[test]
fn what_the_budget_did_not_reach_is_not_skipped() {
    let said = |reason: Option<EndReason>| {
        let mut run = run(20, |_| (100, 100));
        run.end = reason.map(|reason| End { reason, elapsed_s: 1.0 });
        let comparison = compared(run);
        let few = comparison.remarks.into_iter().find(|it| it.kind == RemarkKind::FewRounds);
        match &comparison.rows[1].cells[1] {
            Cell::NotReached { reason } => (reason.clone(), few.unwrap().text.to_string()),
            cell => panic!("{cell:?}"),
        }
    };
    let (reason, few) = said(Some(EndReason::Budget));
    assert_eq!(reason, "the budget ended before its first round");
    assert!(few.starts_with("the budget ended before 15 rounds in 1 of 2 cases"), "{few}");
    for reason in [Some(EndReason::Interrupted), None] {
        let (reason, few) = said(reason);
        assert_eq!(reason, "the run ended before its first round");
        assert!(few.starts_with("the run ended before 15 rounds in 1 of 2 cases"), "{few}");
        assert!(!few.contains("budget"), "{few}");
    }
}

#[test]
fn cases_that_have_a_reason_of_their_own_did_not_lack_rounds() {
    let mut run = run(20, |_| (100, 100));
    run.outcomes.push(outcome("a", 1, OutcomeState::Skipped, "no shell"));
    run.outcomes.push(outcome("b", 1, OutcomeState::Failed, "no space"));
    let few = |it: &Remark| it.kind == RemarkKind::FewRounds;
    assert!(!compared(run).remarks.iter().any(few));
}

#[test]
fn a_reference_that_failed_is_no_base() {
    let mut run = run(20, |_| (100, 200));
    run.outcomes.push(outcome("a", 0, OutcomeState::Failed, "no space"));
    let comparison = compared(run);
    assert!(matches!(&comparison.rows[0].cells[0], Cell::Failed { .. }));
    let Cell::Measured(b) = &comparison.rows[0].cells[1] else { panic!() };
    assert!(b.tax.is_none() && (b.cost - 20.0).abs() < 1e-9, "{b:?}");
}

#[test]
fn few_rounds_are_marked_and_very_few_have_no_verdict() {
    let told = |rounds: u32| {
        let comparison = compared(run(rounds, |round| (100_000, jitter(200_000, round))));
        let Cell::Measured(b) = &comparison.rows[0].cells[1] else { panic!() };
        let tax = b.tax.as_ref().unwrap();
        assert!(tax.interval.is_some());
        (tax.verdict, b.flags.contains(&Flag::FewRounds))
    };
    assert_eq!(told(4), (Verdict::Descriptive, true));
    assert_eq!(told(5), (Verdict::Slower, true));
    assert_eq!(told(14), (Verdict::Slower, true));
    assert_eq!(told(15), (Verdict::Slower, false));
}

#[test]
fn a_clock_that_takes_its_share_is_marked() {
    let marked = |cost: f64| {
        let mut run = run(20, |_| (100_000, 1000));
        run.environments.iter_mut().for_each(|it| it.clock.cost_ns = cost);
        let marked = |cell: &Cell| match cell {
            Cell::Measured(measured) => measured.flags.contains(&Flag::ClockShare),
            _ => panic!(),
        };
        compared(run).rows[0].cells.iter().map(marked).collect::<Vec<_>>()
    };
    assert_eq!(marked(10.0), [false, false], "one per cent of the shorter sample");
    assert_eq!(marked(11.0), [false, true]);
    assert_eq!(marked(1001.0), [true, true]);
}

#[test]
fn zeroes_of_a_system_that_does_not_count_are_no_other_work() {
    let marked = |set: fn(&mut Block)| {
        let mut run = run(20, |_| (100, 100));
        run.blocks.iter_mut().filter(|block| block.env == "b").for_each(|block| {
            block.set.usage.minor_faults = 400;
            block.set.usage.voluntary_switches = 400;
        });
        run.blocks.iter_mut().filter(|block| block.env == "a").for_each(set);
        let comparison = compared(run);
        let Cell::Measured(b) = &comparison.rows[0].cells[1] else { panic!() };
        b.flags.contains(&Flag::DifferentWork)
    };
    assert!(!marked(|_| ()), "nothing is counted at all");
    assert!(marked(|block| block.set.usage.user_ns = 1), "switches are counted, and are none");
    // As gVisor does: CPU time and voluntary switches, and nothing else.
    assert!(!marked(|block| block.set.usage.voluntary_switches = 400));
    let counts_all = |block: &mut Block| {
        block.set.usage.voluntary_switches = 400;
        block.set.usage.involuntary_switches = u64::from(block.round == 3);
    };
    assert!(marked(counts_all), "faults are counted, and are none");
}

#[test]
fn rows_of_an_area_stand_together_whatever_the_files_have() {
    let mut one = run(20, |_| (100, 100));
    let mut two = one.clone();
    one.header.plan.cases = vec![planned("x.one"), planned("y.one")];
    two.header.plan.cases = vec![planned("x.two"), planned("y.two"), planned("x.one")];
    let files = [("one".to_string(), one, None), ("two".to_string(), two, None)];
    let comparison = compare(&sides(&files, None).unwrap(), &Margins::general(0.03)).unwrap();
    let rows: Vec<String> = comparison.rows.iter().map(Row::name).collect();
    assert_eq!(rows, ["x.one", "x.two", "y.one", "y.two"]);
    let areas: Vec<(&str, usize)> =
        comparison.areas.iter().map(|area| (area.area.as_str(), area.rows)).collect();
    assert_eq!(areas, [("x", 2), ("y", 2)]);
    let missing = &comparison.rows[3].cells[0];
    let said = "this run was not to measure it";
    assert!(matches!(missing, Cell::NotReached { reason } if reason == said), "{missing:?}");
}

#[test]
fn environments_of_one_shared_file_are_pairs() {
    // Rounds differ by a factor, which only pairs are free of.
    let file = std::rc::Rc::new(run(20, |round| {
        let noise = 1 + u64::from(round % 7);
        (100_000 * noise, jitter(150_000, round) * noise)
    }));
    let source = |env: &str| ("r.jsonl".to_string(), file.clone(), Some(env.to_string()));
    let sources = [source("a"), source("b")];
    let comparison = compare(&sides(&sources, None).unwrap(), &Margins::general(0.03)).unwrap();
    assert_eq!(comparison.columns, ["r.jsonl:a", "r.jsonl:b"]);
    assert_eq!(tax(&comparison, 0).verdict, Verdict::Slower);
    let kinds: Vec<RemarkKind> = comparison.remarks.iter().map(|remark| remark.kind).collect();
    let once = [RemarkKind::FewRounds, RemarkKind::OneLaunch];
    assert_eq!(kinds, once, "once for the file, and no other session");
}

#[test]
fn a_session_counts_once() {
    let pool = |names: [&str; 3], seeds: [u64; 3]| {
        let files: Vec<_> = names
            .into_iter()
            .zip(seeds)
            .map(|(name, seed)| (name.to_string(), seeded(session(100_000), seed), None))
            .collect();
        pooled("before", &files).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(pool(["a", "b", "c"], [1, 2, 3]), Ok(()));
    let twice = pool(["a", "b", "a"], [1, 2, 1]).unwrap_err();
    assert_eq!(twice, "`a` is given twice; a session counts once");
    let copy = pool(["a", "b", "c"], [1, 2, 2]).unwrap_err();
    assert_eq!(copy, "`c` is a copy of `b`; a session counts once");
}

fn facts(pairs: &[(&str, &str)]) -> Facts {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[test]
fn what_differs_between_the_environments_is_said_in_the_order_of_its_weight() {
    let mut run = run(20, |_| (100, 100));
    run.environments[0].facts = facts(&[
        ("zeal", "1"),
        ("kernel", "6.1"),
        ("seccomp", "0"),
        ("uptime_s", "1"),
        ("memory", "1000 kB"),
        ("options", "what no directory is asked for"),
    ]);
    run.environments[1].facts = facts(&[
        ("zeal", "2"),
        ("kernel", "6.1"),
        ("seccomp", "2"),
        ("uptime_s", "2"),
        ("memory", "1009 kB"),
        ("libc", "musl"),
    ]);
    let options = [("ext4", "rw,nodev,a"), ("overlay", "rw,a,b")];
    for (environment, (kind, options)) in run.environments.iter_mut().zip(options) {
        let own = facts(&[("filesystem", kind), ("options", options), ("source", kind)]);
        environment.dirs.insert("tmp".into(), own);
    }
    run.environments[0].dirs.insert("only".into(), facts(&[("filesystem", "xfs")]));
    let comparison = compared(run);
    let names: Vec<String> = comparison.differences.iter().map(Difference::name).collect();
    let expected = ["seccomp", "libc", "options", "zeal", "filesystem of tmp", "options of tmp"];
    assert_eq!(names, expected);
    let [seccomp, libc, unknown, .., options] = comparison.differences.as_slice() else { panic!() };
    assert!(seccomp.is_other(1) && libc.is_other(1) && !libc.is_unknown(1));
    assert_eq!(libc.values, [Some(vec![]), Some(vec!["musl".to_owned()])]);
    assert!(unknown.is_unknown(1) && !unknown.is_other(1));
    let change = Change { added: vec!["b".into()], removed: vec!["nodev".into()] };
    assert_eq!(options.changes, [None, Some(change)]);
    let remarks = &comparison.remarks;
    let of_facts = |it: &&Remark| it.kind == RemarkKind::FactsDiffer;
    let remarks: Vec<&Remark> = remarks.iter().filter(of_facts).collect();
    let [remark] = remarks.as_slice() else { panic!("{remarks:?}") };
    assert_eq!(remark.column.as_deref(), Some("b"));
    let said = "`b` differs from a in: seccomp, libc, zeal, filesystem of tmp, options of tmp";
    assert_eq!(remark.text.to_string(), said);
}

/// Files of two boots: what changed on the machine meanwhile.
#[test]
fn sessions_of_a_side_say_all_their_values() {
    let session = |kernel: &str, envtax: &str| {
        let mut run = run(20, |_| (100, 100));
        run.environments[0].facts = facts(&[("kernel", kernel)]);
        run.header.envtax = envtax.into();
        run
    };
    let seeded = |run, seed| [("r".to_string(), seeded(run, seed), None)];
    let before = [seeded(session("6.1", "1"), 1), seeded(session("6.1", "1"), 2)].concat();
    let after = [seeded(session("6.2", "1"), 3), seeded(session("6.3", "2"), 4)].concat();
    let sides = [pooled("before", &before).unwrap(), pooled("after", &after).unwrap()];
    let found = compare(&sides, &Margins::general(0.03)).unwrap().differences;
    let of = |at: usize| (found[at].fact.as_str(), found[at].values[1].clone().unwrap());
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(of(0), ("kernel", vec!["6.2".to_owned(), "6.3".to_owned()]));
    assert_eq!(of(1), ("envtax", vec!["1".to_owned(), "2".to_owned()]));
}

#[test]
fn an_environment_that_did_not_start_differs_in_nothing() {
    let mut run = run(20, |_| (100, 100));
    run.environments[0].facts.insert("kernel".into(), "6.1".into());
    run.environments[1].error = Some("no such file".into());
    let remarks = compared(run).remarks;
    assert!(remarks.iter().all(|remark| remark.kind != RemarkKind::FactsDiffer), "{remarks:?}");
}

pub(super) fn session(a: u64) -> RunFile {
    run(20, move |round| (jitter(a, round), 1))
}

pub(super) fn seeded(mut run: RunFile, seed: u64) -> RunFile {
    run.header.plan.seed = seed;
    run
}

#[test]
fn two_sessions_have_a_ratio_and_no_verdict() {
    let files = [
        ("one".to_string(), session(100_000), Some("a".to_string())),
        ("two".to_string(), session(120_000), Some("a".to_string())),
    ];
    let comparison = compare(&sides(&files, None).unwrap(), &Margins::general(0.03)).unwrap();
    assert_eq!(comparison.columns, ["one:a", "two:a"]);
    let tax = tax(&comparison, 0);
    assert!((tax.ratio - 1.2).abs() < 0.01);
    assert_eq!((tax.interval, tax.verdict), (None, Verdict::Descriptive));
    assert!(comparison.remarks.iter().any(|remark| remark.kind == RemarkKind::Sessions));
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

/// A command whose runs read this number of bytes in each environment; none if the environment does
/// not tell.
fn reads(bytes: impl Fn(usize, u32) -> Option<u64>) -> Comparison {
    let mut case = planned("command");
    case.work = Work::Command(Default::default());
    case.phases = vec![Phase::timed("wall"), Phase::figure("read", Quantity::Bytes)];
    let run = run_of(vec![case], 20, |_, column, round| {
        let read = bytes(column, round);
        let mut set = set_of(vec![1000]);
        set.iterations = 1;
        set.samples.push(vec![read.unwrap_or(0)]);
        set.extras.hidden.extend(read.is_none().then(|| "read".to_owned()));
        Some(set)
    });
    let files = [("run".to_owned(), run, None)];
    compare(&sides(&files, None).unwrap(), &Margins::general(0.03)).unwrap()
}

#[test]
fn what_a_command_did_not_use_is_zero_and_not_unknown() {
    let costs = |comparison: &Comparison| -> Vec<Option<f64>> {
        let cost = |cell: &Cell| match cell {
            Cell::Measured(measured) => Some(measured.cost.round()),
            _ => None,
        };
        comparison.rows[1].cells.iter().map(cost).collect()
    };
    let comparison = reads(|column, _| (column == 0).then_some(0));
    assert_eq!(costs(&comparison), [Some(0.0), None]);
    // Now and then something is read: then means are compared, and nothing is claimed of them.
    let comparison = reads(|column, round| Some(u64::from(column == 0 || round % 2 == 0) * 4096));
    assert_eq!(costs(&comparison), [Some(4096.0), Some(2048.0)]);
    let tax = tax_of(&comparison.rows[1].cells[1]).unwrap();
    assert!((tax.ratio - 0.5).abs() < 1e-9 && tax.interval.is_none(), "{tax:?}");
    assert_eq!(tax.verdict, Verdict::Descriptive);
    let comparison = reads(|column, _| Some(column as u64));
    assert_eq!(costs(&comparison), [Some(0.0), Some(1.0)]);
    assert!(tax_of(&comparison.rows[1].cells[1]).is_none(), "nothing is a multiple of zero");
}
