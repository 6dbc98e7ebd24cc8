//! Tests of the tables and remarks beside the rows, on run files whose truth is known.

use super::remark::RemarkKind;
use super::tests::{compared, jitter, outcome, planned, run_of, set_of};
use super::*;
use crate::model::{
    CommandCase, CommandRules, Extras, Failure, Params, Phase, PlannedCase, Quantity, SampleSet,
    Work,
};
use crate::runfile::OutcomeState;

pub(super) fn case(probe: &str, params: &str) -> PlannedCase {
    let mut planned = planned(probe);
    planned.case.params = Params::new(params);
    planned
}

fn with(set: SampleSet, extras: Extras) -> Option<SampleSet> {
    Some(SampleSet { extras, ..set })
}

fn counters(pairs: &[(&str, u64)]) -> Extras {
    let counters = pairs.iter().map(|(name, count)| (name.to_string(), *count)).collect();
    Extras { counters, ..Extras::default() }
}

const SIZES: [u64; 4] = [512, 4096, 65_536, 1 << 20];

/// Calls of each of these sizes, at 100 ns a call and 50 ns a KiB. `b` pays 20 times for a call and
/// twice for a byte.
fn ladder_run(bend: f64) -> crate::runfile::RunFile {
    let cases = SIZES.map(|size| case("file.scan", &format!("size={size}B cache=warm")));
    run_of(cases.to_vec(), 20, |case, column, round| {
        let kib = SIZES[case] as f64 / 1024.0;
        let (call, byte) = if column == 0 { (100.0, 50.0) } else { (2000.0, 100.0) };
        let bent = if case == 1 { bend } else { 1.0 };
        let ns = 10.0 * (call + byte * kib) * 1e3 * bent;
        Some(set_of(vec![jitter(ns as u64, round); 20]))
    })
}

#[test]
fn a_ladder_is_split_into_calls_and_bytes() {
    let comparison = compared(ladder_run(1.0));
    let [ladder] = comparison.ladders.as_slice() else { panic!("{:?}", comparison.ladders) };
    assert_eq!((ladder.name.as_str(), &ladder.sizes[..]), ("file.scan cache=warm", &SIZES[..]));
    let split = ladder.columns[1].as_ref().unwrap();
    assert!(split.fits && split.residual < 0.03, "{split:?}");
    for (cost, truth) in [(&split.call, 2e6), (&split.kib, 1e5)] {
        let (low, high) = cost.interval.unwrap();
        assert!(low < truth && truth < high && high < low * 1.1, "{cost:?}");
    }
    assert!((split.call_tax.unwrap().value - 20.0).abs() < 0.5, "{split:?}");
    assert!((split.kib_tax.unwrap().value - 2.0).abs() < 0.1, "{split:?}");
    assert!(split.call_share > 0.95, "512 bytes are nearly all call: {split:?}");
}

#[test]
fn an_environment_that_never_started_takes_nothing_from_the_others() {
    let mut run = ladder_run(1.0);
    run.blocks.retain(|block| block.env == "a");
    let why = "`b` did not start: ended";
    let details = Failure::new("").printed(["no image"]).or_remedy("pull it").details;
    run.environments[1].error = Some(why.into());
    run.environments[1].details = details.clone();
    run.outcomes =
        (0..SIZES.len()).map(|case| outcome("b", case, OutcomeState::Failed, why)).collect();
    let comparison = compared(run);
    assert!(comparison.is_absent(1) && !comparison.is_absent(0));
    assert!(
        comparison.ladders[0].columns[0].is_some() && comparison.ladders[0].columns[1].is_none()
    );
    let remark = &comparison.remarks[0];
    assert_eq!((remark.kind, remark.column.as_deref()), (RemarkKind::NotStarted, Some("b")));
    assert_eq!((remark.text.to_string(), &remark.details), (why.to_owned(), &details));
}

#[test]
fn a_ladder_that_is_no_line_says_so() {
    let split = compared(ladder_run(3.0)).ladders[0].columns[0].clone().unwrap();
    assert!(!split.fits && split.residual > 0.15, "{split:?}");
}

#[test]
fn two_sizes_are_no_ladder() {
    let mut run = ladder_run(1.0);
    run.header.plan.cases.truncate(2);
    run.blocks.retain(|block| block.case < 2);
    assert!(compared(run).ladders.is_empty());
}

#[test]
fn copies_are_set_against_one() {
    let cases = vec![case("x.one", ""), case("x.one", "copies=2")];
    // Two copies cost `a` nothing more each, and `b` twice as much.
    let run = run_of(cases, 20, |case, column, round| {
        let ns = 100_000 << (case * column);
        Some(set_of(vec![jitter(ns, round); 20]))
    });
    let comparison = compared(run);
    let [scaling] = comparison.scalings.as_slice() else { panic!("{:?}", comparison.scalings) };
    assert_eq!((scaling.name.as_str(), scaling.copies), ("x.one", 2));
    let speedup = |column: usize| scaling.columns[column].unwrap().value;
    assert!((speedup(0) - 2.0).abs() < 0.01 && (speedup(1) - 1.0).abs() < 0.01, "{scaling:?}");
}

#[test]
fn one_directory_is_no_comparison_of_directories() {
    assert!(compared(ladder_run(1.0)).directories.is_none());
}

#[test]
fn distributions_are_merged_and_thin_tails_not_quoted() {
    let run = run_of(vec![case("x.one", "")], 10, |_, _, round| {
        let buckets = vec![(100, 90), (1000, 9), (50_000 + u64::from(round), 1)];
        let latencies = [("read".to_string(), buckets)].into();
        with(set_of(vec![1000; 20]), Extras { latencies, ..Extras::default() })
    });
    let comparison = compared(run);
    let [row] = comparison.latencies.as_slice() else { panic!("{:?}", comparison.latencies) };
    assert_eq!(row.name, "x.one read");
    let quantiles = row.columns[0].as_ref().unwrap();
    // Ten rounds count, the warm-up does not.
    assert_eq!((quantiles.count, quantiles.max), (1000, 50_010));
    assert_eq!((quantiles.p50, quantiles.p90, quantiles.p99), (Some(100), Some(100), Some(1000)));
    assert_eq!(quantiles.p999, None, "one operation lies beyond it");
}

fn kinds(comparison: &Comparison) -> Vec<(RemarkKind, Option<&str>)> {
    comparison.remarks.iter().map(|it| (it.kind, it.column.as_deref())).collect()
}

fn flags_of(comparison: &Comparison, column: usize) -> Vec<Flag> {
    match &comparison.rows[0].cells[column] {
        Cell::Measured(measured) => measured.flags.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cpu_that_differs_makes_all_suspect() {
    let run = |slow: u64| {
        run_of(vec![case("cpu.integer", "")], 20, move |_, column, round| {
            Some(set_of(vec![jitter(100_000 + slow * column as u64, round); 20]))
        })
    };
    let differs = compared(run(30_000));
    assert!(kinds(&differs).contains(&(RemarkKind::Control, None)), "{:?}", differs.remarks);
    let same = compared(run(0));
    assert!(!kinds(&same).contains(&(RemarkKind::Control, None)), "{:?}", same.remarks);
}

#[test]
fn what_is_not_verified_to_be_cold_is_flagged() {
    let run = run_of(vec![case("file.scan", "cache=cold")], 20, |_, column, _| {
        let verified = if column == 0 { 3 } else { 0 };
        let extras = counters(&[("cold_checked", 3), ("cold_verified", verified)]);
        with(set_of(vec![1000; 20]), extras)
    });
    let comparison = compared(run);
    assert_eq!(flags_of(&comparison, 0), []);
    assert_eq!(flags_of(&comparison, 1), [Flag::NotCold]);
}

#[test]
fn durability_that_no_device_saw_is_named_with_its_evidence() {
    let run = run_of(vec![case("file.sync", "")], 20, |_, column, _| {
        let written = if column == 0 { 1 << 20 } else { 4096 };
        let extras = counters(&[("claimed_bytes", 1 << 20), ("device_bytes", written)]);
        with(set_of(vec![1000; 20]), extras)
    });
    let comparison = compared(run);
    assert_eq!(flags_of(&comparison, 0), []);
    assert_eq!(flags_of(&comparison, 1), [Flag::NotDurable]);
    let evidence = comparison.remarks.iter().find(|it| it.kind == RemarkKind::NotDurable).unwrap();
    assert_eq!(evidence.column.as_deref(), Some("b"));
    let text = evidence.text.to_string();
    assert!(text.contains("20.0 MiB") && text.contains("80.0 KiB"));
    // Without a device to ask, a time that none achieves is the evidence.
    let fast = run_of(vec![case("file.sync", "")], 20, |_, _, _| {
        let pairs = [("claimed_bytes", 4096), ("syncs", 10), ("durable_ns", 9000)];
        with(set_of(vec![1000; 20]), counters(&pairs))
    });
    assert_eq!(flags_of(&compared(fast), 0), [Flag::NotDurable]);
    // Where no device is below, that is said, once for all cases.
    let in_memory = ["mode=fsync", "mode=fdatasync"].map(|params| {
        let mut planned = case("file.sync", params);
        planned.case.dir = Some("mem".into());
        planned
    });
    let mut run = run_of(in_memory.to_vec(), 20, |case, _, _| {
        let time = 2000 + 500 * case as u64;
        let pairs = [("claimed_bytes", 4096), ("syncs", 10), ("durable_ns", time)];
        with(set_of(vec![1000; 20]), counters(&pairs))
    });
    run.environments[0].dirs =
        [("mem".to_owned(), [("filesystem".to_owned(), "tmpfs".to_owned())].into())].into();
    let comparison = compared(run);
    let is_durable = |it: &&Remark| it.kind == RemarkKind::NotDurable;
    let told: Vec<&Remark> = comparison.remarks.iter().filter(is_durable).collect();
    let [memory, other] = told[..] else { panic!("one for each column: {told:?}") };
    let words =
        "and 1 more: the files of a tmpfs are in memory: a sync there makes nothing durable";
    assert!(memory.text.to_string().ends_with(words), "{memory:?}");
    assert!(other.text.to_string().contains("in which no device stores anything"), "{other:?}");
}

/// A run that was killed early has recorded the files of some environments only.
#[test]
fn commands_without_recorded_files_are_compared_all_the_same() {
    let command = PlannedCase {
        work: Work::Command(CommandCase { input: Some("photo".into()), ..CommandCase::default() }),
        ..case("command", "input=photo")
    };
    let set = |_, _, round| Some(set_of(vec![jitter(100_000, round)]));
    let files = || {
        let facts = |hash: &str| Facts::from([("sha256".to_owned(), hash.to_owned())]);
        crate::runfile::Inspected {
            env: String::new(),
            programs: [("x".to_owned(), facts("1"))].into(),
            files: [("photo".to_owned(), facts("2"))].into(),
        }
    };
    for known in [&[][..], &["a"], &["b"], &["a", "b"]] {
        let mut run = run_of(vec![command.clone()], 20, set);
        run.header.plan.commands = Some(CommandRules::default());
        let mut named = run.header.plan.environments.iter_mut();
        named.by_ref().for_each(|spec| spec.command = ["x".into(), "{}".into()].to_vec());
        let own = |env: &&str| crate::runfile::Inspected { env: env.to_string(), ..files() };
        run.inspected = known.iter().map(own).collect();
        let comparison = compared(run);
        for column in [0, 1] {
            let cell = &comparison.rows[0].cells[column];
            assert!(matches!(cell, Cell::Measured(_)), "{known:?}: {cell:?}");
        }
    }
}

#[test]
fn conditions_are_told_once_a_column() {
    let cases = vec![case("process.hold", "n=300"), case("process.hold", "n=1000")];
    let run = run_of(cases, 20, |_, column, _| {
        let notes = if column == 1 { vec!["n lowered to 100".into()] } else { Vec::new() };
        with(set_of(vec![1000; 20]), Extras { notes, ..Extras::default() })
    });
    let comparison = compared(run);
    let told: Vec<&Remark> =
        comparison.remarks.iter().filter(|it| it.kind == RemarkKind::Condition).collect();
    let [one] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(one.text.to_string(), "`b`: process.hold n=300 and 1 more: n lowered to 100");
}

#[test]
fn a_figure_that_is_not_shown_is_skipped_with_the_reason() {
    let mut planned = case("process.hold", "n=100");
    planned.phases.push(Phase::figure("memory", Quantity::Bytes));
    let run = run_of(vec![planned], 20, |_, column, round| {
        let memory = if column == 0 { jitter(1_000_000, round) } else { 0 };
        let samples = vec![vec![1000; 3], vec![memory; 3]];
        let notes = if column == 0 { Vec::new() } else { vec!["no smaps_rollup".into()] };
        let extras = Extras { notes, ..Extras::default() };
        Some(SampleSet { iterations: 10, samples, extras, ..SampleSet::default() })
    });
    let comparison = compared(run);
    let row = &comparison.rows[1];
    assert_eq!((row.phase.as_str(), row.quantity), ("memory", Quantity::Bytes));
    assert!(matches!(&row.cells[0], Cell::Measured(it) if (it.cost - 1e5).abs() < 2e3));
    assert!(matches!(&row.cells[1], Cell::Skipped(why) if why.what == "no smaps_rollup"));
}

/// Runs of a whole command, with these wall times in ns by column and round.
fn command_run(rounds: u32, wall: impl Fn(usize, u32) -> u64) -> crate::runfile::RunFile {
    let planned = PlannedCase {
        phases: vec![Phase::timed("wall")],
        work: Work::Command(CommandCase::default()),
        ..case("command", "")
    };
    let mut run = run_of(vec![planned], rounds, |_, column, round| {
        Some(SampleSet {
            iterations: 1,
            samples: vec![vec![wall(column, round)]],
            ..set_of(vec![])
        })
    });
    run.header.plan.commands = Some(CommandRules::default());
    run
}

#[test]
fn a_command_that_does_not_come_to_rest_says_so() {
    // `b` gets one per cent faster from run to run, and its first run is twice as long.
    let comparison = compared(command_run(20, |column, round| {
        let steps = if column == 1 { round as i32 } else { 0 };
        let first = if column == 1 && round == 0 { 2 } else { 1 };
        jitter(10_000_000, round) * first * (0.99f64.powi(steps) * 1000.0) as u64
    }));
    let drifts: Vec<_> =
        comparison.remarks.iter().filter(|remark| remark.kind == RemarkKind::Drift).collect();
    let [drift] = drifts.as_slice() else { panic!("{drifts:?}") };
    assert_eq!(drift.column.as_deref(), Some("b"));
    assert!(drift.text.to_string().contains("less than the one before"), "{}", drift.text);
    let [first] = comparison.first_runs.as_slice() else { panic!() };
    let ratio = |column: usize| {
        let run = first.columns[column].as_ref().unwrap();
        run.first.value / run.later_ns
    };
    assert!((ratio(0) - 1.0).abs() < 0.05 && ratio(1) > 2.0, "{first:?}");
}

#[test]
fn sessions_show_no_more_than_their_spread_allows() {
    let session = |wall: u64, seed: u64| {
        let mut run = command_run(10, |_, round| jitter(wall, round));
        run.header.plan.seed = seed;
        run
    };
    let side =
        |walls: &[u64], seed: u64| -> Vec<(String, crate::runfile::RunFile, Option<String>)> {
            let named = |(at, wall): (usize, &u64)| {
                (format!("{seed}-{at}.jsonl"), session(*wall, seed + at as u64), None)
            };
            walls.iter().enumerate().map(named).collect()
        };
    let compared = |before: &[u64], after: &[u64]| {
        let (before, after) = (side(before, 10), side(after, 20));
        let sides = [pooled("old", &before).unwrap(), pooled("new", &after).unwrap()];
        compare(&sides, &Margins::general(0.03)).unwrap()
    };
    let million = 1_000_000;
    let alone = compared(&[100 * million], &[150 * million]);
    let tax = tax_of(&alone.rows[0].cells[1]).unwrap();
    assert!(tax.verdict == Verdict::Descriptive && tax.sessions.is_none(), "{tax:?}");
    let said = |comparison: &Comparison, words: &str| {
        comparison.remarks.iter().any(|remark| remark.text.to_string().contains(words))
    };
    assert!(said(&alone, "nothing is known of how far they differ"));
    let loose = [95 * million, 100 * million, 105 * million];
    let few = compared(&loose, &loose);
    let reach = tax_of(&few.rows[0].cells[1]).unwrap().sessions.clone().unwrap();
    assert!((reach.deviation - 0.05).abs() < 0.005, "{reach:?}");
    // (2.776 + 0.941) * 0.05 * sqrt(2 / 3) as a logarithm.
    assert!((reach.detectable - 0.165).abs() < 0.01, "{reach:?}");
    assert!(reach.needed.is_some_and(|needed| (40..50).contains(&needed)), "{reach:?}");
    assert!(said(&few, "more sessions a side are needed"));
    let tight = [100 * million, 100 * million + 1000, 100 * million - 1000];
    assert!(said(&compared(&tight, &tight), "that is enough to see 3"));
}

/// Costs of `b` as multiples of those of `a`, by round.
fn of_ratios(ratio: impl Fn(u32) -> f64) -> Comparison {
    compared(run_of(vec![case("x.one", "")], 40, move |_, column, round| {
        let factor = if column == 0 { 1.0 } else { ratio(round) };
        Some(set_of(vec![(jitter(100_000, round) as f64 * factor) as u64; 20]))
    }))
}

#[test]
fn levels_are_told_and_withhold_only_what_hangs_on_them() {
    let of = |low: f64, high: f64| {
        let comparison = of_ratios(move |round| if round % 3 == 0 { high } else { low });
        (tax_of(&comparison.rows[0].cells[1]).unwrap().clone(), flags_of(&comparison, 1))
    };
    let (tax, flags) = of(8.0, 38.0);
    assert_eq!((tax.verdict, flags), (Verdict::Slower, vec![Flag::Modes]), "at both levels");
    let [low, high] = tax.levels.as_slice() else { panic!("{tax:?}") };
    assert!((low.value - 8.0).abs() < 0.1 && (high.value - 38.0).abs() < 0.5, "{tax:?}");
    assert!((low.share - 27.0 / 40.0).abs() < 1e-9, "{tax:?}");
    let (tax, flags) = of(1.0, 3.0);
    assert!(matches!(tax.verdict, Verdict::Inconclusive { .. }), "{tax:?}");
    assert_eq!(flags, [Flag::Modes]);
    let (tax, flags) = of(1.2, 1.2);
    assert_eq!((tax.verdict, flags), (Verdict::Slower, vec![]));
    assert!(tax.levels.is_empty(), "{tax:?}");
}

/// One run in eight takes ten times as long: the ratio of the means is 2.1.
#[test]
fn a_heavy_tail_is_in_the_mean_and_not_in_the_floor() {
    let comparison = of_ratios(|round| if round % 8 == 3 { 10.0 } else { 1.0 });
    let tax = tax_of(&comparison.rows[0].cells[1]).unwrap();
    assert!((tax.ratio - 1.0).abs() < 0.01, "{tax:?}");
    assert!((tax.all_in_ratio - 2.125).abs() < 0.05, "{tax:?}");
    let (low, high) = tax.all_in_interval.unwrap();
    assert!(1.1 < low && low < 2.1 && 2.2 < high, "{tax:?}");
    assert_eq!(flags_of(&comparison, 1), [Flag::HeavyTail]);
    let Cell::Measured(b) = &comparison.rows[0].cells[1] else { panic!() };
    let Cell::Measured(a) = &comparison.rows[0].cells[0] else { panic!() };
    assert!((b.all_in / a.all_in - tax.all_in_ratio).abs() < 1e-9, "costs and tax agree");
}

/// Every third sample is a stall: of a share of time, the lower quarter would show none of it.
#[test]
fn figures_that_are_no_floors_are_means() {
    let mut planned = case("bystander.latency", "");
    planned.phases.push(Phase::figure("blocked", Quantity::Share));
    let run = run_of(vec![planned], 20, |_, _, round| {
        let shares = (0..9).map(|at| if at % 3 == 0 { jitter(900_000, round) } else { 1 });
        let samples = vec![vec![1000; 9], shares.collect()];
        Some(SampleSet { iterations: 1, samples, ..SampleSet::default() })
    });
    let Cell::Measured(blocked) = &compared(run).rows[1].cells[0] else { panic!() };
    assert!((blocked.cost - 300_000.0).abs() < 3_000.0, "{blocked:?}");
    assert_eq!(blocked.cost, blocked.all_in);
}

/// The cost of a call is little beside that of the bytes, and one round's line starts below zero.
#[test]
fn a_round_below_zero_does_not_lose_the_tax_of_a_call() {
    let mut run = ladder_run(1.0);
    let dear = |block: &crate::runfile::Block| block.case == 0 && block.round == 7;
    for block in run.blocks.iter_mut().filter(|block| dear(block)) {
        block.set.samples[0].iter_mut().for_each(|ns| *ns /= 1000);
    }
    let split = compared(run).ladders[0].columns[1].clone().unwrap();
    let tax = split.call_tax.unwrap();
    assert!((tax.value - 20.0).abs() < 1.0, "{tax:?}");
    let (low, high) = tax.interval.unwrap();
    assert!(low < 20.01 && 19.99 < high && high < 1.2 * low, "{tax:?}");
}

#[test]
fn rows_of_one_start_are_remarked() {
    let of = |launches: u32| {
        let mut run = run_of(vec![case("x.one", "")], 20, |_, _, round| {
            Some(set_of(vec![jitter(100_000, round); 20]))
        });
        run.blocks.iter_mut().for_each(|block| block.launch = block.round * launches / 21);
        compared(run)
    };
    let once = of(1);
    let remark = once.remarks.iter().find(|it| it.kind == RemarkKind::OneLaunch).unwrap();
    assert!(remark.text.to_string().starts_with("started once: all rows"), "{remark:?}");
    assert!(!kinds(&of(5)).contains(&(RemarkKind::OneLaunch, None)));
}

/// Between environments of which a start may decide something, a start or two give a word only
/// where no start could change it.
#[test]
fn few_starts_give_a_word_to_large_differences_only() {
    let of = |shift: f64, launches: u32, kind: &str| {
        let mut run = run_of(vec![case("x.one", "")], 20, |_, column, round| {
            let ns = 100_000.0 * if column == 1 { shift } else { 1.0 };
            Some(set_of(vec![jitter(ns as u64, round); 20]))
        });
        run.blocks.iter_mut().for_each(|block| block.launch = block.round * launches / 21);
        run.header.plan.environments.iter_mut().for_each(|spec| spec.kind = "native".into());
        run.header.plan.environments[1].kind = kind.into();
        tax_of(&compared(run).rows[0].cells[1]).unwrap().verdict
    };
    let withheld =
        Verdict::Inconclusive { more_rounds: None, more_s: None, why: Open::FewLaunches };
    for launches in [1, 2] {
        assert_eq!(of(1.3, launches, "vm"), withheld);
        assert_eq!(of(1.0, launches, "vm"), withheld);
        assert_eq!(of(1.3, launches, "planted"), Verdict::Slower);
        assert_eq!(of(1.0, launches, "planted"), Verdict::Same);
    }
    assert_eq!(of(2.0, 1, "vm"), Verdict::Slower);
    assert_eq!(of(0.5, 1, "vm"), Verdict::Faster);
    assert_eq!((of(1.3, 5, "vm"), of(1.0, 5, "vm")), (Verdict::Slower, Verdict::Same));
}

#[test]
fn where_another_process_serves_the_calls_the_mean_is_what_is_paid() {
    let mut run = ladder_run(1.0);
    run.environments[1].facts.insert("environment".into(), "vm(kvm) > ptrace(proot)".into());
    let remarks = compared(run).remarks;
    let found: Vec<_> = remarks.iter().filter(|it| it.kind == RemarkKind::MeanIsPaid).collect();
    assert_eq!(found.len(), 1, "{remarks:?}");
    assert_eq!(found[0].column.as_deref(), Some("b"));
}

/// Each of forty rows is beyond the margin and excludes 1 by itself, as one in twenty does by
/// chance.
#[test]
fn many_rows_ask_more_of_each_of_them() {
    let of = |rows: usize| {
        let names: Vec<String> = (0..rows).map(|at| format!("x.n{at}")).collect();
        let cases = names.iter().map(|name| case(name, "")).collect();
        let comparison = compared(run_of(cases, 20, |_, column, round| {
            let noise = if column == 1 { (round * 7 % 20) as f64 * 0.015 - 0.1425 } else { 0.0 };
            let shift = if column == 1 { 1.09 } else { 1.0 };
            Some(set_of(vec![(100_000.0 * shift * noise.exp()) as u64; 20]))
        }));
        tax_of(&comparison.rows[0].cells[1]).unwrap().verdict
    };
    assert_eq!(of(1), Verdict::Slower);
    let Verdict::Inconclusive { more_rounds: Some(rounds), more_s: Some(seconds), why } = of(40)
    else {
        panic!("{:?}", of(40))
    };
    assert_eq!(why, Open::ManyRows);
    assert!((5..100).contains(&rounds) && seconds > 0.0, "{rounds} rounds, {seconds} s");
}
