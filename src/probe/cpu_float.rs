//! Double-precision arithmetic and functions: Whetstone.

use std::hint::black_box;

use anyhow::{Result, ensure};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};

pub struct CpuFloat;

static INFO: ProbeInfo = ProbeInfo {
    id: "cpu.float",
    summary: "a million Whetstone instructions, double precision",
    timed: "One pass of the eight modules that have a weight (2, 3, 4, 6, 7, 8, 9 and 11), as \
            published, with factor 10: a million Whetstone instructions, so MWIPS are 1e9 \
            divided by the ns.",
    excluded: "Checking the published results after every sample. It makes no system call. \
               UnixBench's figure differs: its third procedure is a later one, in which each \
               call waits for the one before; its compiler puts the procedures into their \
               callers and leaves module 6 out. Together its MWIPS are some 5 % lower. Its \
               functions are glibc's, these are musl's: below 1 % of the whole.",
    unit: "million instructions",
    source: "Curnow and Wichmann, A synthetic benchmark (1976); UnixBench whetstone-double",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

/// The published factor I: 10 makes one pass a million Whetstone instructions.
const FACTOR: usize = 10;
/// Weights of the modules; those of 1, 5 and 10 are zero.
const N2: usize = 12 * FACTOR;
const N3: usize = 14 * FACTOR;
const N4: usize = 345 * FACTOR;
const N6: usize = 210 * FACTOR;
const N7: usize = 32 * FACTOR;
const N8: usize = 899 * FACTOR;
const N9: usize = 616 * FACTOR;
const N11: usize = 93 * FACTOR;

/// The numbers that the modules compute with; the compiler does not know them.
#[derive(Clone, Copy)]
struct Constants {
    t: f64,
    t1: f64,
    t2: f64,
}

const CONSTANTS: Constants = Constants { t: 0.499975, t1: 0.50025, t2: 2.0 };

/// The results of the modules.
#[derive(Clone, Copy, Debug, Default)]
struct Results {
    elements: [f64; 4],
    parameter: [f64; 4],
    jumps: i64,
    integers: [f64; 2],
    trigonometry: [f64; 2],
    calls: f64,
    references: [f64; 3],
    functions: f64,
}

/// The published procedures, called through pointers that the compiler cannot see through.
/// Otherwise it would make a call only once whose result never changes.
#[derive(Clone, Copy)]
struct Procedures {
    pa: fn(&mut [f64; 4], Constants),
    p0: fn(&mut [f64; 4], [usize; 3]),
    p3: fn(&f64, &f64, &mut f64, Constants),
}

struct Whetstone {
    procedures: Procedures,
    results: Results,
}

impl Probe for CpuFloat {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Whetstone::new()))
    }
}

impl Whetstone {
    fn new() -> Whetstone {
        Whetstone { procedures: black_box(Procedures { pa, p0, p3 }), results: Results::default() }
    }

    fn pass(&mut self) {
        let constants = black_box(CONSTANTS);
        let Procedures { pa, p0, p3 } = self.procedures;
        let mut e = black_box([1.0, -1.0, -1.0, -1.0]);
        for _ in 0..N2 {
            mix(&mut e, constants.t, |sum| sum * constants.t);
        }
        self.results.elements = e;
        for _ in 0..N3 {
            pa(&mut e, constants);
        }
        self.results.parameter = e;
        self.results.jumps = conditional_jumps(black_box(1));
        self.results.integers = integers(&mut e, black_box([1, 2, 3]));
        self.results.trigonometry = trigonometry(black_box([0.5, 0.5]), constants);
        let (x, y, mut z) = (1.0, 1.0, 1.0);
        for _ in 0..N8 {
            p3(&x, &y, &mut z, constants);
        }
        self.results.calls = z;
        [e[0], e[1], e[2]] = [1.0, 2.0, 3.0];
        for _ in 0..N9 {
            p0(&mut e, [0, 1, 2]);
        }
        self.results.references = [e[0], e[1], e[2]];
        let mut x = black_box(0.75_f64);
        for _ in 0..N11 {
            x = (x.ln() / constants.t1).exp().sqrt();
        }
        self.results.functions = x;
    }

    /// Compares with the results that the benchmark's listing prints for this factor, to its four
    /// digits.
    fn check(&self) -> Result<()> {
        let found = &self.results;
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 5.1e-5);
        let right = near(&found.elements, &[-0.0683, -0.4626, -0.7297, -1.1240])
            && near(&found.parameter, &[-0.0553, -0.4474, -0.7110, -1.1031])
            && found.jumps == 1
            && near(&found.integers, &[6.0, 6.0])
            && near(&found.trigonometry, &[0.4904, 0.4904])
            && near(&[found.calls], &[0.9999])
            && near(&found.references, &[3.0, 2.0, 3.0])
            && near(&[found.functions], &[0.8347]);
        ensure!(right, "the results are not the published ones: {found:?}");
        Ok(())
    }
}

impl Workload for Whetstone {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.pass();
        }
        Ok(iterations)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.check()
    }
}

/// The four statements of modules 2 and 3, which differ in the last one's end.
#[inline(always)]
fn mix(e: &mut [f64; 4], t: f64, last: impl Fn(f64) -> f64) {
    e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
    e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
    e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
    e[3] = last(-e[0] + e[1] + e[2] + e[3]);
}

/// Module 3's procedure.
fn pa(e: &mut [f64; 4], constants: Constants) {
    for _ in 0..6 {
        mix(e, constants.t, |sum| sum / constants.t2);
    }
}

/// Module 4.
fn conditional_jumps(mut j: i64) -> i64 {
    for _ in 0..N4 {
        j = if j == 1 { 2 } else { 3 };
        j = if j > 2 { 0 } else { 1 };
        j = if j < 1 { 1 } else { 0 };
    }
    j
}

/// Module 6.
fn integers(e: &mut [f64; 4], [mut j, mut k, mut l]: [i64; 3]) -> [f64; 2] {
    for _ in 0..N6 {
        j = j * (k - j) * (l - k);
        k = l * k - (l - j) * k;
        l = (l - k) * (k + j);
        e[(l - 2) as usize] = (j + k + l) as f64;
        e[(k - 2) as usize] = (j * k * l) as f64;
    }
    [e[0], e[1]]
}

/// Module 7.
fn trigonometry([mut x, mut y]: [f64; 2], Constants { t, t2, .. }: Constants) -> [f64; 2] {
    for _ in 0..N7 {
        let below = (x + y).cos() + (x - y).cos() - 1.0;
        x = t * (t2 * x.sin() * x.cos() / below).atan();
        let below = (x + y).cos() + (x - y).cos() - 1.0;
        y = t * (t2 * y.sin() * y.cos() / below).atan();
    }
    [x, y]
}

/// Module 8's procedure.
fn p3(x: &f64, y: &f64, z: &mut f64, Constants { t, t2, .. }: Constants) {
    let x = t * (x + y);
    let y = t * (x + y);
    *z = (x + y) / t2;
}

/// Module 9's procedure.
fn p0(e: &mut [f64; 4], [j, k, l]: [usize; 3]) {
    e[j] = e[k];
    e[k] = e[l];
    e[l] = e[j];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_in_the_published_results() {
        let mut benchmark = Whetstone::new();
        assert!(benchmark.check().is_err(), "nothing was done yet");
        benchmark.run(2, &mut Stopwatch::default()).unwrap();
        println!("{:?}", benchmark.results);
        benchmark.check().unwrap();
    }
}
