//! Simulated runs: launches of four rounds after a warm-up, until the budget ends, as the driver
//! schedules them where starting costs little. They use the program's own estimates and stopping
//! rule.

use super::super::precision::{Interval, LOOKS};
use super::noise::{Laps, Noise, Random, Tail};
use crate::model::Stop;
use crate::stats::{Contrast, Effect, Estimate, Round, Series};

/// Counted rounds of a launch.
const ROUNDS: u32 = 4;
/// Launches before a case counts as known.
const LAUNCHES: u32 = 5;
/// The budget, in rounds.
pub const MOST: u32 = 200;

const STOP: Stop = Stop::Precise { half_width: 0.02, min_rounds: 15, budget_s: 60.0 };

/// What ends a simulated run.
#[derive(Clone, Copy)]
pub enum Until {
    /// A fixed number of counted rounds.
    Rounds(u32),
    /// The program's rule with `--precision 0.02`, at most 200 rounds.
    Precise,
    /// The rule of earlier versions: a look at Yuen's interval every five rounds from 15 on, and
    /// five launches of four rounds at the beginning.
    PreciseByRounds,
}

/// The result of a run.
pub struct Found {
    pub effect: Effect,
    pub autocorrelation: Option<f64>,
    pub levels: usize,
    pub rounds: u32,
    /// Number of laps with warm-ups, which is the length of the run.
    pub laps: u32,
    /// The true centre.
    pub truth: f64,
}

impl Found {
    pub fn holds(&self) -> bool {
        self.effect.bounds(0.95).is_some_and(|(low, high)| (low..=high).contains(&self.truth))
    }
}

/// Simulates one run over rounds whose log-ratios have this centre.
pub fn run(
    noise: Noise,
    launch_effect: f64,
    centre: f64,
    until: Until,
    random: &mut Random,
) -> Found {
    let mut laps = Laps::new(noise, random);
    let (mut own, mut base) = (Series::default(), Series::default());
    let (mut launch, mut effect, mut all, mut narrow, mut drifts) = (0, 0.0, 0, 0, 0.0);
    for round in 1..=MOST {
        let old = matches!(until, Until::PreciseByRounds);
        if (round - 1) % ROUNDS == 0 && (launch < LAUNCHES || !old) {
            launch += 1;
            effect = launch_effect * random.normal();
            laps.next(random);
            all += 1;
        }
        let (value, drift) = laps.next(random);
        all += 1;
        drifts += drift;
        let log = centre + effect + value + drift;
        // Earlier versions had no launches, so each round is a unit of its own.
        let launch = if old { 0 } else { launch };
        // All means are equal, so that only the floors decide.
        own.insert(round, Round { launch, ln_floor: log, mean: 1.0 });
        base.insert(round, Round { launch, ln_floor: 0.0, mean: 1.0 });
        let look = match until {
            Until::Rounds(rounds) => round == rounds,
            Until::Precise => round % ROUNDS == 0,
            Until::PreciseByRounds => round >= 15 && round % 5 == 0,
        };
        if !look && round < MOST {
            continue;
        }
        let one = std::slice::from_ref;
        let contrast = Contrast::against(one(&own), one(&base));
        let effect = contrast.effect().expect("there are rounds");
        narrow = if is_narrow(&contrast) { narrow + 1 } else { 0 };
        let known = match until {
            Until::Rounds(_) => true,
            Until::Precise => narrow >= LOOKS && launch >= LAUNCHES && round >= 15,
            Until::PreciseByRounds => narrow > 0,
        };
        if known || round == MOST {
            let levels = contrast.levels().len();
            let truth = centre + drifts / f64::from(round);
            let autocorrelation = contrast.autocorrelation();
            return Found { effect, autocorrelation, levels, rounds: round, laps: all, truth };
        }
    }
    unreachable!("the last round ends it")
}

fn is_narrow(contrast: &Contrast) -> bool {
    Interval::of(0, contrast).is_some_and(|interval| interval.is_narrow(&STOP))
}

/// Simulates one run over blocks whose means have this tail and whose floors are all the same.
/// Returns ln of the ratio of the means and the number of rounds.
pub fn means(tail: Tail, launch_effect: f64, until: Until, random: &mut Random) -> (Estimate, u32) {
    let (mut own, mut base) = (Series::default(), Series::default());
    let (mut effect, mut narrow) = (0.0, 0);
    for round in 0..MOST {
        if round % ROUNDS == 0 {
            effect = launch_effect * random.normal();
        }
        let launch = round / ROUNDS;
        let mut block = |is_own| tail.block(is_own, random);
        let (mean, base_mean) = (block(true) * f64::exp(effect), block(false));
        own.insert(round, Round { launch, ln_floor: 0.0, mean });
        base.insert(round, Round { launch, ln_floor: 0.0, mean: base_mean });
        let done = round + 1;
        let look = match until {
            Until::Rounds(rounds) => done == rounds,
            _ => done % ROUNDS == 0 && done >= 15,
        };
        if !look && done < MOST {
            continue;
        }
        let one = std::slice::from_ref;
        let contrast = Contrast::against(one(&own), one(&base));
        narrow = if is_narrow(&contrast) { narrow + 1 } else { 0 };
        let known = narrow >= LOOKS && launch + 1 >= LAUNCHES;
        if matches!(until, Until::Rounds(_)) || known || done == MOST {
            let found = contrast.mean_cost().and_then(|mean| mean.estimate);
            return (found.expect("there are rounds"), done);
        }
    }
    unreachable!("the last round ends it")
}
