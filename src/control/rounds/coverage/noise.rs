//! How the rounds of simulated runs scatter.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Random numbers from a fixed seed.
pub struct Random(Pcg64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Pcg64::seed_from_u64(seed))
    }

    /// Uniform between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Standard normal (G. E. P. Box and M. E. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Student's t with 2.5 degrees of freedom: a normal value over the root of a gamma value (G.
    /// Marsaglia and W. W. Tsang, 2000).
    pub fn student(&mut self) -> f64 {
        const SHAPE: f64 = 1.25 - 1.0 / 3.0;
        let gamma = loop {
            let normal = self.normal();
            let cube = (1.0 + normal / (9.0 * SHAPE).sqrt()).powi(3);
            let bound = 0.5 * normal * normal + SHAPE * (1.0 - cube + cube.max(1e-300).ln());
            if cube > 0.0 && self.uniform().ln() < bound {
                break SHAPE * cube;
            }
        };
        self.normal() / (2.0 * gamma / 2.5).sqrt()
    }
}

/// How the log-ratios of rounds scatter about their centre.
#[derive(Clone, Copy, PartialEq)]
pub enum Noise {
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Student's t with 2.5 degrees of freedom, times 5 %.
    HeavyTails,
    /// Normal 3 %; one round in ten is normal 50 % instead.
    Outliers,
    /// Normal 3 % and an exponential one of 8 %.
    OneSided,
    /// Normal 3 %; one round in ten is up to 100 % higher.
    OneSidedOutliers,
    /// Normal 3 %; both columns are 40 % higher in three rounds of ten, each in its own.
    Levels,
    /// First-order autoregressive with this coefficient, 8 %.
    Autocorrelated(f64),
    /// Normal 3 %, and 0.06 % more with every lap.
    Drift,
}

pub const NOISES: [(&str, Noise); 11] = [
    ("normal 1 %", Noise::Normal(0.01)),
    ("normal 3 %", Noise::Normal(0.03)),
    ("normal 8 %", Noise::Normal(0.08)),
    ("Student's t, 2.5 degrees, 5 %", Noise::HeavyTails),
    ("10 % outliers", Noise::Outliers),
    ("one-sided, exponential 8 %", Noise::OneSided),
    ("one-sided outliers", Noise::OneSidedOutliers),
    ("levels in both columns", Noise::Levels),
    ("autocorrelation 0.3", Noise::Autocorrelated(0.3)),
    ("autocorrelation 0.6", Noise::Autocorrelated(0.6)),
    ("drift", Noise::Drift),
];

/// The laps of one simulated run.
pub struct Laps {
    noise: Noise,
    state: f64,
    lap: u32,
}

impl Laps {
    pub fn new(noise: Noise, random: &mut Random) -> Laps {
        Laps { noise, state: random.normal(), lap: 0 }
    }

    /// What the next lap adds to the centre, by chance and by drift.
    pub fn next(&mut self, random: &mut Random) -> (f64, f64) {
        self.lap += 1;
        let quiet = 0.03 * random.normal();
        let value = match self.noise {
            Noise::Normal(deviation) => deviation * random.normal(),
            Noise::HeavyTails => 0.05 * random.student(),
            Noise::Outliers if random.happens(0.1) => 0.5 * random.normal(),
            Noise::Outliers | Noise::Drift => quiet,
            Noise::OneSided => quiet + 0.08 * random.exponential(),
            Noise::OneSidedOutliers if random.happens(0.1) => quiet + random.uniform(),
            Noise::OneSidedOutliers => quiet,
            Noise::Levels => {
                let [own, base] = [0, 1].map(|_| random.happens(0.3));
                quiet + 1.4_f64.ln() * (f64::from(u8::from(own)) - f64::from(u8::from(base)))
            }
            Noise::Autocorrelated(coefficient) => {
                let fresh = (1.0 - coefficient * coefficient).sqrt();
                self.state = coefficient * self.state + fresh * random.normal();
                0.08 * self.state
            }
        };
        let drift = if self.noise == Noise::Drift { 6e-4 * f64::from(self.lap) } else { 0.0 };
        (value, drift)
    }
}

/// How the mean costs of blocks scatter: own and base, whose floors are the same.
#[derive(Clone, Copy, PartialEq)]
pub enum Tail {
    /// Both log-normal 3 %.
    Quiet,
    /// Beside that, one block in five takes 25 % more on average, in both columns.
    Load,
    /// One own block in four is stalled for 0 to 88 % of its time.
    Stall,
    /// A stall beside load.
    StallAndLoad,
    /// A Pareto tail with index 2.5 in both columns.
    Pareto,
    /// 12 % of the own blocks take ten times longer.
    TenTimes,
    /// 12 % of both columns' blocks do.
    TenTimesBoth,
    /// 1 % of the own blocks takes eleven times longer.
    Rare,
}

pub const TAILS: [(&str, Tail); 8] = [
    ("quiet", Tail::Quiet),
    ("load, both columns", Tail::Load),
    ("Pareto tail 2.5, both", Tail::Pareto),
    ("12 % take 10 times, both", Tail::TenTimesBoth),
    ("stall of 11 %", Tail::Stall),
    ("stall of 11 % and load", Tail::StallAndLoad),
    ("12 % take 10 times", Tail::TenTimes),
    ("1 % takes 11 times", Tail::Rare),
];

impl Tail {
    /// The ratio of the two columns' expected means.
    pub fn truth(self) -> f64 {
        match self {
            Tail::Stall => 1.11,
            Tail::StallAndLoad => (1.0 + 0.05 + 0.11) / 1.05,
            Tail::TenTimes => 2.08,
            Tail::Rare => 1.1,
            _ => 1.0,
        }
    }

    /// The mean cost of one block.
    pub fn block(self, own: bool, random: &mut Random) -> f64 {
        let base = (0.03 * random.normal()).exp();
        let mut more = 0.0;
        if matches!(self, Tail::Load | Tail::StallAndLoad) && random.happens(0.2) {
            more += 0.25 * random.exponential();
        }
        if own && matches!(self, Tail::Stall | Tail::StallAndLoad) && random.happens(0.25) {
            more += 0.88 * random.uniform();
        }
        if self == Tail::Pareto {
            more += 0.15 * ((1.0 - random.uniform()).powf(-0.4) - 1.0);
        }
        let slow = self == Tail::TenTimesBoth || own && self == Tail::TenTimes;
        if slow && random.happens(0.12) {
            more += 9.0;
        }
        if own && self == Tail::Rare && random.happens(0.01) {
            more += 10.0;
        }
        base * (1.0 + more)
    }
}
