//! The cost of one cell by rounds, and how it is located: pairing, estimate, interval, bounds.
//!
//! A [`Series`] is what one cell measured: one value a round. A [`Contrast`] is a series of
//! logarithms, or of one cell's logarithms less another's in the same round. [`Contrast::effect`]
//! says where it lies. Who decides something by an interval asks this type, so that a run stops
//! on the interval that the report prints.

use std::collections::BTreeMap;

use serde::Serialize;

use super::estimate::mean;
use super::levels::{self, Level};
use super::{
    Estimate, autocorrelation, block_floor, block_mean, by_launch, groups, plain_mean, quantile,
    two_means, yuen,
};

/// Launches count as different when chance alone would make them so in fewer cases than this.
const LEVEL: f64 = 0.01;

/// What one round of a cell measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Number of the environment's launch.
    pub launch: u32,
    /// ln of the block's floor, or of any other positive value.
    pub ln_floor: f64,
    /// Mean cost of the block, in the unit of the floor.
    pub mean: f64,
}

impl Round {
    /// The round of a block with these samples; each sample is `iterations` long.
    pub fn of_block(samples: &[u64], iterations: u64, launch: u32) -> Round {
        let ln_floor = block_floor(samples, iterations).ln();
        Round { launch, ln_floor, mean: block_mean(samples, iterations) }
    }
}

/// The rounds of one cell in one session, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    rounds: BTreeMap<u32, Round>,
}

impl Series {
    /// Adds a round; one of the same number is replaced.
    pub fn insert(&mut self, number: u32, round: Round) {
        self.rounds.insert(number, round);
    }

    pub fn get(&self, number: u32) -> Option<&Round> {
        self.rounds.get(&number)
    }

    /// The rounds with their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Round)> {
        self.rounds.iter().map(|(number, round)| (*number, round))
    }

    pub fn len(&self) -> usize {
        self.rounds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }
}

impl FromIterator<(u32, Round)> for Series {
    fn from_iter<I: IntoIterator<Item = (u32, Round)>>(rounds: I) -> Series {
        Series { rounds: rounds.into_iter().collect() }
    }
}

/// One round of a contrast.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    launch: u32,
    /// ln cost, or ln ratio, of the floors.
    floor: f64,
    /// Mean cost, and that of the other cell; 1 where there is none.
    mean: f64,
    base_mean: f64,
}

/// Logarithms of costs, or of cost ratios, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    points: Vec<Point>,
    /// Sessions that the rounds are of. Rounds of several sessions are no sample of one
    /// population: they have a centre and no interval.
    sessions: usize,
}

impl Contrast {
    /// ln costs of one cell, over its sessions.
    pub fn alone(own: &[Series]) -> Contrast {
        let point = |(_, own): (u32, &Round)| Point {
            launch: own.launch,
            floor: own.ln_floor,
            mean: own.mean,
            base_mean: 1.0,
        };
        Contrast {
            points: own.iter().flat_map(Series::iter).map(point).collect(),
            sessions: own.len(),
        }
    }

    /// ln ratios of one cell to another, over the rounds that both have. Both have the same
    /// sessions in the same order; a cell of another file cannot be paired.
    pub fn against(own: &[Series], base: &[Series]) -> Contrast {
        let sessions = own.iter().zip(base);
        let points = sessions.flat_map(|(own, base)| {
            own.iter().filter_map(|(number, own)| {
                let base = base.get(number)?;
                Some(Point {
                    launch: own.launch,
                    floor: own.ln_floor - base.ln_floor,
                    mean: own.mean,
                    base_mean: base.mean,
                })
            })
        });
        Contrast { points: points.collect(), sessions: own.len() }
    }

    /// Values of any sign, as they are, with their launches, of one session or of several.
    pub fn of_values(values: &[f64], launches: &[u32], sessions: usize) -> Contrast {
        let point = |(value, launch): (&f64, &u32)| Point {
            launch: *launch,
            floor: *value,
            mean: f64::NAN,
            base_mean: 1.0,
        };
        Contrast { points: values.iter().zip(launches).map(point).collect(), sessions }
    }

    /// The quantile `q` (0 to 1) of the rounds' floors.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.floors(), q)
    }

    /// Where the mean cost lies, or the ratio of two mean costs, as logarithm: of arithmetic means,
    /// heavy tails included. There is no interval of too few rounds, nor of rounds of several
    /// sessions. None without a round.
    pub fn mean_cost(&self) -> Option<Effect> {
        let column = |of: fn(&Point) -> f64| self.points.iter().map(of).collect::<Vec<_>>();
        let (own, base) = (column(|point| point.mean), column(|point| point.base_mean));
        let value = (own.iter().sum::<f64>() / base.iter().sum::<f64>()).ln();
        let estimate = by_launch::ratio_of_means(&own, &base, &self.launches());
        let estimate = estimate.filter(|_| self.sessions == 1);
        (!own.is_empty()).then_some(Effect { value, estimate, between: None })
    }

    /// How far rounds resemble the ones before them, from -1 to 1. None of fewer than 15 rounds,
    /// and of several sessions.
    pub fn autocorrelation(&self) -> Option<f64> {
        autocorrelation::autocorrelation(&self.floors()).filter(|_| self.sessions == 1)
    }

    /// The levels between which the floors jump, in logarithms, ascending; one where they do not.
    pub fn levels(&self) -> Vec<Level> {
        levels::levels(&self.floors())
    }

    /// Where the floors lie. None without a round.
    pub fn effect(&self) -> Option<Effect> {
        let effect = locate(&self.points)?;
        Some(if self.sessions > 1 { effect.without_interval() } else { effect })
    }

    fn launches(&self) -> Vec<u32> {
        self.points.iter().map(|point| point.launch).collect()
    }

    fn floors(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.floor).collect()
    }
}

/// Where a contrast lies, and how surely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// In logarithms, or in the unit of the values.
    pub value: f64,
    /// None where the data cannot tell: of too few rounds, or of rounds of several sessions.
    pub estimate: Option<Estimate>,
    /// What launches add; none where there were too few to tell.
    pub between: Option<Between>,
}

impl Effect {
    /// The difference of sessions that were not measured side by side, each of which gives one
    /// logarithm; there the session is the unit. None where a side has no session.
    pub fn of_sessions(own: &[f64], base: &[f64]) -> Option<Effect> {
        let difference = centre(own)? - centre(base)?;
        let estimate = two_means(base, own);
        let value = estimate.map_or(difference, |estimate| estimate.value);
        Some(Effect { value, estimate, between: None })
    }

    /// The mean of several runs, each of which gives one logarithm: there the run is the unit. None
    /// without a run.
    pub fn of_runs(runs: &[f64]) -> Option<Effect> {
        let value = mean(runs);
        (!runs.is_empty()).then(|| Effect { value, estimate: plain_mean(runs), between: None })
    }

    /// Half-width of the two-sided interval of that confidence (0.95).
    pub fn half_width(&self, confidence: f64) -> Option<f64> {
        self.estimate.map(|estimate| estimate.half_width(confidence))
    }

    /// Ends of the two-sided interval of that confidence.
    pub fn bounds(&self, confidence: f64) -> Option<(f64, f64)> {
        let width = self.half_width(confidence)?;
        Some((self.value - width, self.value + width))
    }

    fn without_interval(self) -> Effect {
        Effect { estimate: None, between: None, ..self }
    }
}

/// How far the launches of a row disagree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Between {
    pub launches: usize,
    /// Standard deviation of the tax between launches, as a share, beyond that of their rounds.
    pub deviation: f64,
    /// It is more than the rounds explain.
    pub decides: bool,
}

/// Trimmed mean, or the plain mean of fewer than three values. None of nothing.
pub fn centre(values: &[f64]) -> Option<f64> {
    match yuen(values) {
        Some(estimate) => Some(estimate.value),
        None if values.is_empty() => None,
        None => Some(mean(values)),
    }
}

/// The estimator of every figure: the trimmed mean of the rounds, with the launch as the unit of
/// its interval (T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, 2013).
fn locate(points: &[Point]) -> Option<Effect> {
    let floors: Vec<f64> = points.iter().map(|point| point.floor).collect();
    let launches: Vec<u32> = points.iter().map(|point| point.launch).collect();
    let value = centre(&floors)?;
    let estimate = by_launch::trimmed_mean(&floors, &launches);
    Some(Effect { value, estimate, between: between(points, &floors) })
}

/// What launches add to the differences of their rounds. None where there are too few to tell.
fn between(points: &[Point], floors: &[f64]) -> Option<Between> {
    let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    // A trimmed mean withstands single rounds; so must what launches are compared by.
    let (low, high) = (quantile(floors, 0.1)?, quantile(floors, 0.9)?);
    for point in points {
        launches.entry(point.launch).or_default().push(point.floor.clamp(low, high));
    }
    let groups = groups(&launches.into_values().collect::<Vec<_>>())?;
    let decides = groups.p_value < LEVEL;
    Some(Between { launches: groups.count, deviation: groups.deviation, decides })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(log: f64, launch: u32) -> Round {
        Round { launch, ln_floor: log, mean: log.exp() }
    }

    /// Logarithms by launch.
    fn series(launches: &[&[f64]]) -> Series {
        let of = |(launch, logs): (usize, &&[f64])| {
            let round = move |log: &f64| round(*log, launch as u32);
            logs.iter().map(round).collect::<Vec<_>>()
        };
        let rounds = launches.iter().enumerate().flat_map(of);
        rounds.enumerate().map(|(at, round)| (at as u32 + 1, round)).collect()
    }

    fn effect(launches: &[&[f64]]) -> Effect {
        Contrast::alone(&[series(launches)]).effect().unwrap()
    }

    #[test]
    fn launches_that_differ_are_the_unit() {
        let apart = effect(&[&[0.0, 0.01, 0.02], &[0.3, 0.31, 0.32], &[0.1, 0.11, 0.12]]);
        let between = apart.between.unwrap();
        assert!(between.decides && between.launches == 3, "{between:?}");
        assert!(between.deviation > 0.1, "{between:?}");
        let width = apart.half_width(0.95).unwrap();
        assert!(width > 0.3, "two degrees of freedom: {width}");
        let alike = effect(&[&[0.0, 0.01, 0.02], &[0.01, 0.0, 0.02], &[0.02, 0.0, 0.01]]);
        assert!(!alike.between.unwrap().decides);
        let width = alike.half_width(0.95).unwrap();
        assert!(0.0 < width && width < 0.03, "half of the rounds' own error at least: {width}");
        assert_eq!(effect(&[&[0.0, 0.1, 0.2]]).between, None);
    }

    #[test]
    fn pairs_are_of_the_rounds_that_both_have() {
        let mut own = series(&[&[0.5, 0.6, 0.7, 0.8]]);
        let base = series(&[&[0.1, 0.2, 0.3]]);
        own.insert(9, round(1.0, 0));
        let pairs = Contrast::against(&[own.clone()], &[base]);
        assert_eq!(pairs.points.len(), 3);
        let found = pairs.effect().unwrap();
        assert!((found.value - 0.4).abs() < 1e-12 && found.estimate.is_some(), "{found:?}");
        assert!((pairs.mean_cost().unwrap().value - 0.4).abs() < 1e-12);
        assert_eq!(Contrast::against(&[own], &[Series::default()]).effect(), None);
    }

    #[test]
    fn means_levels_and_autocorrelation_are_those_of_the_rounds() {
        let logs: Vec<f64> = (0..20).map(|round| if round % 4 == 3 { 1.0 } else { 0.0 }).collect();
        let base = series(&[&[0.0; 10], &[0.0; 10]]);
        let own = series(&[&logs[..10], &logs[10..]]);
        let contrast = Contrast::against(std::slice::from_ref(&own), &[base]);
        let mean = contrast.mean_cost().unwrap();
        let truth = ((15.0 + 5.0 * 1.0_f64.exp()) / 20.0).ln();
        assert!((mean.value - truth).abs() < 1e-12, "{mean:?}");
        let estimate = mean.estimate.unwrap();
        assert_eq!((estimate.freedom, estimate.count), (1.0, 20));
        let levels = contrast.levels();
        assert_eq!((levels.len(), levels[1].share), (2, 0.25));
        assert!(contrast.autocorrelation().unwrap() < -0.2);
        let sessions = Contrast::alone(&[own.clone(), own]);
        assert_eq!(sessions.mean_cost().unwrap().estimate, None);
        assert_eq!(sessions.autocorrelation(), None);
    }

    #[test]
    fn rounds_of_several_sessions_have_no_interval() {
        let sessions = [series(&[&[0.0, 0.1, 0.2]]), series(&[&[0.4, 0.5, 0.6]])];
        let found = Contrast::alone(&sessions).effect().unwrap();
        assert!((found.value - 0.3).abs() < 1e-12, "{found:?}");
        assert_eq!((found.estimate, found.bounds(0.95)), (None, None));
        let apart = Effect::of_sessions(&[0.4, 0.5, 0.6], &[0.0, 0.1, 0.2]).unwrap();
        assert!((apart.value - 0.4).abs() < 1e-12 && apart.estimate.is_some(), "{apart:?}");
        assert_eq!(Effect::of_sessions(&[0.4], &[0.0]).unwrap().estimate, None);
        assert_eq!(Effect::of_sessions(&[], &[0.0]), None);
    }

    #[test]
    fn bounds_are_about_the_value() {
        let found = Contrast::of_values(&[-1.0, 0.0, 1.0, 2.0], &[0; 4], 1).effect().unwrap();
        let (low, high) = found.bounds(0.95).unwrap();
        assert!((found.value - 0.5).abs() < 1e-12 && low < -0.5 && high > 1.5, "{found:?}");
    }
}
