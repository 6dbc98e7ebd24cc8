//! Screens of comparisons whose verdicts are known, because they are made here.

use super::*;
use crate::compare::{Area, Measured, Next, Open, Tax, Verdict};
use crate::model::Quantity;
use crate::report::Detail;
use crate::report::chart::CHARTS;
use crate::units::columns;
use crate::words::{LANGUAGES, Words};

const AREAS: [&str; 9] =
    ["syscall", "process", "thread", "file", "pipe", "memory", "socket", "signal", "futex"];

fn open(why: Open) -> Verdict {
    Verdict::Inconclusive { more_rounds: Some(8546), more_s: Some(60.0), why }
}

/// A tax that suits the verdict of that number.
fn tax(number: usize) -> Tax {
    let verdicts = [
        (Verdict::Slower, 1.5 + number as f64),
        (Verdict::Same, 1.001),
        (open(Open::Width), 1.2),
        (Verdict::Faster, 1.0 / (2.0 + number as f64)),
        (open(Open::Levels), 6.4),
        (Verdict::Descriptive, 1.1),
        (open(Open::ManyRows), 1.4),
        (open(Open::FewLaunches), 1.3),
    ];
    let (verdict, ratio) = verdicts[number % verdicts.len()];
    Tax {
        ratio,
        interval: Some((ratio * 0.9, ratio * 1.1)),
        corrected_interval: None,
        all_in_ratio: ratio,
        all_in_interval: None,
        difference: ratio - 1.0,
        spread: None,
        range: None,
        levels: Vec::new(),
        autocorrelation: None,
        launches: None,
        sessions: None,
        runs: None,
        verdict,
    }
}

fn measured(tax: Option<Tax>) -> Cell {
    Cell::Measured(Measured {
        cost: 1234.5,
        cost_interval: None,
        range: None,
        first_rounds: Vec::new(),
        all_in: 1300.0,
        all_in_interval: None,
        levels: Vec::new(),
        p90: None,
        outside_cpu_ns: None,
        rounds: 9,
        tax,
        flags: vec![Flag::Contended, Flag::HeavyTail, Flag::FewRounds],
    })
}

/// So many environments and rows, with every verdict in every area. `pick` gives the number of a
/// cell's verdict from its row and column.
fn comparison(
    environments: usize,
    rows: usize,
    pick: impl Fn(usize, usize) -> usize,
) -> Comparison {
    let of_row = |at: usize| {
        let cell = |column: usize| measured((column > 0).then(|| tax(pick(at, column))));
        Row {
            probe: format!("{}.operation{at}", AREAS[at % AREAS.len()]),
            params: "size=64KiB cache=warm".into(),
            dir: None,
            phase: String::new(),
            quantity: Quantity::Time,
            unit: "call".into(),
            cells: (0..environments).map(cell).collect(),
        }
    };
    let area = |name: &&str| Area {
        area: name.to_string(),
        rows: 2,
        ratios: vec![None; environments],
        all_in_ratios: vec![None; environments],
        counts: vec![0; environments],
    };
    let name = |at: usize| match at {
        0 => "native".to_owned(),
        at if at % 2 == 0 => format!("環境-{at}"),
        at => format!("an-environment-with-a-very-long-name-{at}"),
    };
    let words = ["envtax", "run", "--env", "native", "--env", "box=bwrap:--ro-bind / /"];
    let words = words.map(str::to_owned).into_iter();
    let probes = (0..5).flat_map(|at| ["--probe".to_owned(), format!("file.read size={at}KiB")]);
    Comparison {
        reference: name(0),
        columns: (0..environments).map(name).collect(),
        specs: vec![Default::default(); environments],
        margin: 0.03,
        rows: (0..rows).map(of_row).collect(),
        time_lines: Vec::new(),
        areas: AREAS[..rows.min(AREAS.len())].iter().map(area).collect(),
        ladders: Vec::new(),
        directories: None,
        scalings: Vec::new(),
        weights: Vec::new(),
        first_runs: Vec::new(),
        start_ups: Vec::new(),
        latencies: Vec::new(),
        differences: Vec::new(),
        quanta: vec![None; environments],
        over_inputs: Vec::new(),
        remarks: Vec::new(),
        conditions: Conditions {
            others: Some((3.0, 9.0)),
            cpus: Some(2),
            steal: None,
            rounds: Some((9, 9)),
            wanted_rounds: 15,
        },
        gate: None,
        loads: Vec::new(),
        next: Some(Next { words: words.chain(probes).collect(), rows: 5, open: 9 }),
    }
}

fn style(colour: bool) -> Style {
    let again = ["envtax", "compare", "a run.jsonl"].map(str::to_owned).to_vec();
    let (words, chart) = (Words::of(LANGUAGES[0]), &CHARTS[0]);
    let probe = |_: &str, _: &Words| None;
    Style { colour, width: None, layout: None, detail: Detail::Screen, words, chart, probe, again }
}

#[test]
fn every_screen_has_forty_lines_at_most_and_fits_the_width() {
    for environments in [1, 2, 3, 8, 16] {
        for rows in [1, 2, 8, 45] {
            for width in [80, 120] {
                let comparison = comparison(environments, rows, |row, column| row + column);
                let text = render(&comparison, width, &style(false));
                let what = format!("{environments} environments, {rows} rows:\n{text}");
                assert!(text.lines().count() <= MOST_LINES, "{what}");
                assert!(text.lines().all(|line| columns(line) <= width), "{what}");
                assert!(text.contains("NOISY: 3 other tasks"), "{what}");
                assert!(text.contains("rows: envtax compare 'a run.jsonl' --long"), "{what}");
                assert!(!text.contains("8546"), "{what}");
            }
        }
    }
}

#[test]
fn the_screen_in_colour_is_the_same_text() {
    for (environments, rows) in [(2, 8), (3, 1), (3, 8), (16, 45)] {
        let comparison = comparison(environments, rows, |row, column| row * 3 + column - 1);
        let coloured = render(&comparison, 80, &style(true));
        let mut text = coloured.clone();
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
            text = text.replace(code, "");
        }
        assert!(coloured.contains("\x1b[31m"), "{coloured}");
        assert_eq!(text, render(&comparison, 80, &style(false)));
    }
}

/// The verdicts are counted here once more, from the cells.
#[test]
fn sentences_say_what_the_verdicts_say() {
    for (rows, shift) in (1..9).flat_map(|rows| (0..8).map(move |shift| (rows, shift))) {
        // One row, or rows of which all have the verdict of the first, or each another one.
        let comparison = comparison(3, rows, |row, column| shift + row * (column - 1));
        for column in [1, 2] {
            let name = &comparison.columns[column];
            let all = sentences::sentences(&comparison, &Words::english(), 6);
            let sentence = all.iter().find(|text| text.contains(name)).unwrap();
            let taxes = comparison.rows.iter().filter_map(|row| match &row.cells[column] {
                Cell::Measured(measured) => measured.tax.as_ref(),
                _ => None,
            });
            let taxes: Vec<&Tax> = taxes.collect();
            let differs = |tax: &&&Tax| matches!(tax.verdict, Verdict::Slower | Verdict::Faster);
            let decided: Vec<&&Tax> = taxes.iter().filter(differs).collect();
            assert_eq!(sentence.contains('×'), !decided.is_empty(), "{sentence}");
            let far = |tax: &&&&Tax| (tax.ratio.ln().abs() * 1e6) as u64;
            if let Some(worst) = decided.iter().max_by_key(far) {
                let figure = format!("{}× (", units::factor(worst.ratio));
                assert!(sentence.contains(&figure), "{figure}: {sentence}");
            }
            let count =
                |of: &dyn Fn(Verdict) -> bool| taxes.iter().filter(|tax| of(tax.verdict)).count();
            let wide = count(&|it| [open(Open::Width), open(Open::ManyRows)].contains(&it));
            for (number, words) in [
                (count(&|it| it == Verdict::Same), "the same within 3\u{a0}%"),
                (wide, "no difference shown"),
                (count(&|it| it == open(Open::Levels)), "jumps between levels"),
                (count(&|it| it == Verdict::Descriptive), "no verdict"),
                (count(&|it| it == open(Open::FewLaunches)), "too few starts to tell"),
            ] {
                assert_eq!(sentence.contains(words), number > 0, "{number} {words}: {sentence}");
            }
        }
    }
}

#[test]
fn of_many_environments_the_worst_are_told_and_the_others_summed_up() {
    let comparison = comparison(16, 1, |_, column| 8 * column);
    let sentences = sentences::sentences(&comparison, &Words::english(), 6);
    assert_eq!(sentences.len(), 6);
    assert!(sentences[4].contains("name-15: system calls 122×"), "{sentences:#?}");
    assert!(sentences[5].starts_with("the 10 others: up to 81.5× ("), "{sentences:#?}");
}

#[test]
fn what_is_the_same_of_several_environments_is_said_once() {
    let comparison = comparison(8, 1, |_, column| if column == 5 { 16 } else { 1 });
    let sentences = sentences::sentences(&comparison, &Words::english(), 6);
    assert_eq!(sentences.len(), 2, "{sentences:#?}");
    let ending = " and 3 others: system calls the same within 3\u{a0}%";
    assert!(sentences[0].ends_with(ending), "{sentences:#?}");
    assert!(sentences[1].contains("name-5: system calls 17.5×"), "{sentences:#?}");
}

#[test]
fn a_command_is_broken_before_its_options_so_that_it_can_be_pasted() {
    let words = ["envtax", "run", "--env", "a b", "--probe", "file.read size=4KiB", "--load", "2"];
    let lines = command("next: ", &words.map(str::to_owned), 42);
    assert_eq!(
        lines,
        [
            "next: envtax run --env 'a b' \\",
            "      --probe 'file.read size=4KiB' \\",
            "      --load 2"
        ]
    );
    let pasted = lines.join("\n").replace("next: ", "").replace("\\\n", "");
    assert_eq!(shell_words::split(&pasted).unwrap(), words);
}
