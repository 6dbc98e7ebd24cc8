//! Simulated coverage: how often intervals contain the truth, and how often verdicts are false, by
//! noise, launch effect, ratio and rounds. `bench/coverage` runs these unit tests and prints the
//! tables of docs/METHODOLOGY.md. Seeds are fixed.
//!
//! May use `stats` and the stopping rule of `control/rounds`. Must not have estimates or rules of
//! its own: it tests those of the program.

mod noise;
mod simulated_runs;

use crate::stats::{Estimate, FAMILY_LEVEL, holm, is_autocorrelated, levels, prediction, yuen};
use noise::{Laps, NOISES, Noise, Random, TAILS};
use simulated_runs::{Found, Until, means, run};

/// Standard deviations between launches.
const EFFECTS: [f64; 4] = [0.0, 0.01, 0.02, 0.03];

/// Simulated runs of a cell.
fn runs() -> usize {
    let asked = std::env::var("COVERAGE_RUNS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(1000)
}

/// The centre of a noise's trimmed mean, launches included. It is zero if both sides are alike.
fn centre(noise: Noise, effect: f64) -> f64 {
    if !matches!(noise, Noise::OneSided | Noise::OneSidedOutliers) {
        return 0.0;
    }
    let mut random = Random::new(99);
    let mut laps = Laps::new(noise, &mut random);
    let mut value = || laps.next(&mut random).0 + effect * random.normal();
    let values: Vec<f64> = (0..200_000).map(|_| value()).collect();
    yuen(&values).expect("there are values").value
}

/// Simulates `count` runs of one cell. The noise gives the true values.
fn cell(noise: Noise, effect: f64, ratio: f64, until: Until, count: usize) -> Vec<Found> {
    let own = centre(noise, effect);
    let mut random = Random::new(1);
    let found = (0..count).map(|_| {
        let found = run(noise, effect, ratio.ln(), until, &mut random);
        Found { truth: found.truth + own, ..found }
    });
    found.collect()
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

fn held(found: &[Found]) -> f64 {
    percent(found.iter().filter(|it| it.holds()).count(), found.len())
}

fn mean(found: &[Found], of: impl Fn(&Found) -> u32) -> f64 {
    found.iter().map(|it| f64::from(of(it))).sum::<f64>() / found.len() as f64
}

fn header(title: &str, columns: &[&str]) {
    println!("\n{title}\n\n| {} |\n|{}", columns.join(" | "), " --- |".repeat(columns.len()));
}

fn row(name: &str, cells: &[String]) {
    println!("| {name} | {} |", cells.join(" | "));
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn intervals_at_the_end_of_a_run() {
    header(
        "Coverage of the 95 % interval where the product's rule ends the run (mean rounds)",
        &["noise", "ratio", "launches alike", "1 %", "2 %", "3 %"],
    );
    for (name, noise) in NOISES {
        // Any ratio beyond the obvious one, 1.5, gives what 50 gives, and so does 0.5.
        for ratio in [1.0, 50.0] {
            let cells = EFFECTS.map(|effect| {
                let found = cell(noise, effect, ratio, Until::Precise, runs());
                format!("{:.1} ({:.0})", held(&found), mean(&found, |it| it.rounds))
            });
            row(&format!("{name} | {ratio}"), &cells);
        }
    }
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn intervals_of_so_many_rounds() {
    header(
        "Coverage of the 95 % interval after 15, 40 and 200 rounds",
        &["noise", "launches alike", "1 %", "2 %", "3 %"],
    );
    for (name, noise) in NOISES {
        let cells = EFFECTS.map(|effect| {
            let of = |rounds| held(&cell(noise, effect, 1.0, Until::Rounds(rounds), runs()));
            [15, 40, 200].map(|rounds| format!("{:.1}", of(rounds))).join(", ")
        });
        row(name, &cells);
    }
}

/// For comparison, the rule of earlier versions: rounds as the unit.
#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn cost_against_rounds_as_the_unit() {
    header(
        "Laps of a run at a ratio of 1, warm-ups included, and coverage",
        &["noise", "rounds as the unit", "with 3 % between launches", "now", "with 3 %"],
    );
    for (name, noise) in NOISES {
        let cells = [Until::PreciseByRounds, Until::Precise].map(|until| {
            let cells = [0.0, 0.03].map(|effect| {
                let found = cell(noise, effect, 1.0, until, runs());
                format!("{:.0} laps, {:.1}", mean(&found, |it| it.laps), held(&found))
            });
            cells.join(" | ")
        });
        row(name, &cells);
    }
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn words_in_families_of_null_rows() {
    header(
        "Families of 40 null rows with a word *slower* or *faster*, margin 3 % (words of all rows)",
        &["noise", "launches alike", "1 %", "2 %", "3 %"],
    );
    let families = (runs() / 4).max(1);
    for (name, noise) in NOISES {
        let cells = EFFECTS.map(|effect| {
            let rows = cell(noise, effect, 1.0, Until::Precise, families * 40);
            let words: Vec<usize> = rows.chunks(40).map(false_words).collect();
            let any = words.iter().filter(|words| **words > 0).count();
            let all: usize = words.iter().sum();
            format!("{:.1} ({:.2})", percent(any, families), percent(all, families * 40))
        });
        row(name, &cells);
    }
}

/// The number of rows with ratio 1 that a verdict would call different, with Holm's correction and
/// an estimate beyond the margin.
fn false_words(rows: &[Found]) -> usize {
    let about_zero = |row: &Found| {
        let value = row.effect.value - row.truth;
        row.effect.estimate.map(|estimate| Estimate { value, ..estimate })
    };
    let estimates: Vec<_> = rows.iter().filter_map(about_zero).collect();
    let p_values: Vec<f64> = estimates.iter().map(|it| it.p_value()).collect();
    let rejected = holm(&p_values, FAMILY_LEVEL);
    let margin = 1.03_f64.ln();
    let words = estimates.iter().zip(rejected);
    words.filter(|(it, different)| *different && it.value.abs() > margin).count()
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn intervals_of_mean_costs() {
    header(
        "Ratio of mean costs: coverage (share of runs that exclude 1) after so many rounds",
        &["means", "between launches", "16", "24", "40", "80", "200", "end of a run", "rounds"],
    );
    let untils = [16, 24, 40, 80, 200].map(Until::Rounds).into_iter().chain([Until::Precise]);
    for (name, tail) in TAILS {
        for effect in [0.0, 0.03] {
            let mut cells = Vec::new();
            let mut rounds = 0.0;
            for until in untils.clone() {
                let mut random = Random::new(1);
                let found = (0..runs()).map(|_| means(tail, effect, until, &mut random));
                let found: Vec<_> = found.collect();
                let within = |truth: f64| {
                    let near = found.iter().filter(|(mean, _)| {
                        (mean.value - truth.ln()).abs() <= mean.half_width(0.95)
                    });
                    percent(near.count(), found.len())
                };
                cells.push(format!("{:.1} ({:.0})", within(tail.truth()), 100.0 - within(1.0)));
                rounds = found.iter().map(|it| f64::from(it.1)).sum::<f64>() / found.len() as f64;
            }
            cells.push(format!("{rounds:.0}"));
            row(&format!("{name} | {:.0} %", 100.0 * effect), &cells);
        }
    }
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn flags_of_levels_and_autocorrelation() {
    header(
        "Runs with more than one level, and autocorrelated ones, after 16, 40 and 200 rounds",
        &["noise", "levels", "autocorrelated", "the same, 3 % between launches"],
    );
    for (name, noise) in NOISES {
        let rounds = [16, 40, 200];
        let found = |effect| rounds.map(|it| cell(noise, effect, 1.0, Until::Rounds(it), runs()));
        let (alike, apart) = (found(0.0), found(0.03));
        let share = |found: &[Vec<Found>; 3], is: fn(&Found) -> bool| {
            let share =
                |found: &Vec<Found>| percent(found.iter().filter(|it| is(it)).count(), found.len());
            found.each_ref().map(|it| format!("{:.1}", share(it))).join(", ")
        };
        let flagged: fn(&Found) -> bool = |it| {
            it.autocorrelation.is_some_and(|found| is_autocorrelated(found, it.rounds as usize))
        };
        let cells =
            [share(&alike, |it| it.levels > 1), share(&alike, flagged), share(&apart, flagged)];
        row(name, &cells);
    }
    header(
        "Levels found where there are two, after 16, 24, 40 and 80 rounds",
        &["factor", "share of the upper one", "noise 3 %", "8 %", "Student's t 5 %"],
    );
    let noises = [Noise::Normal(0.03), Noise::Normal(0.08), Noise::HeavyTails];
    for (factor, share) in [(2.0, 0.5), (2.0, 0.3), (2.0, 0.2), (4.0, 0.3), (1.4, 0.3)] {
        let cells = noises.map(|noise| {
            [16, 24, 40, 80].map(|rounds| two_levels(noise, factor, share, rounds)).join(", ")
        });
        row(&format!("{factor} | {share}"), &cells);
    }
}

/// Share of runs, in per cent, in which exactly two levels are found.
fn two_levels(noise: Noise, factor: f64, share: f64, rounds: usize) -> String {
    let mut random = Random::new(1);
    let found = (0..runs()).filter(|_| {
        let mut laps = Laps::new(noise, &mut random);
        let mut value = || {
            let upper = random.happens(share);
            laps.next(&mut random).0 + if upper { f64::ln(factor) } else { 0.0 }
        };
        let values: Vec<f64> = (0..rounds).map(|_| value()).collect();
        levels(&values).len() == 2
    });
    format!("{:.0}", percent(found.count(), runs()))
}

#[test]
#[ignore = "takes minutes; bench/coverage runs it"]
fn where_the_next_run_falls() {
    header(
        "Next runs that lie in the 95 % prediction interval of 3, 6 and 12 runs",
        &["runs differ", "share"],
    );
    type Draw = fn(&mut Random) -> f64;
    let populations: [(&str, Draw); 4] = [
        ("normal 5 %", |random| 0.05 * random.normal()),
        ("Student's t, 2.5 degrees, 5 %", |random| 0.05 * random.student()),
        ("two levels, 8 and 38, half of the runs each", |random| {
            let level: f64 = if random.happens(0.5) { 38.0 } else { 8.0 };
            level.ln() + 0.05 * random.normal()
        }),
        ("one run in five at twice the cost", |random| {
            let level: f64 = if random.happens(0.2) { 2.0 } else { 1.0 };
            level.ln() + 0.05 * random.normal()
        }),
    ];
    for (name, draw) in populations {
        let mut random = Random::new(1);
        let mut share = |count: usize| {
            let held = (0..20 * runs()).filter(|_| {
                let runs: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
                let found = prediction(&runs, 0.95).expect("there are three runs");
                (found.low..=found.high).contains(&draw(&mut random))
            });
            format!("{:.1}", percent(held.count(), 20 * runs()))
        };
        row(name, &[[3, 6, 12].map(&mut share).join(", ")]);
    }
}
