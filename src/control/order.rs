//! Everything that is random in a run: the order of cases and environments, and the CPUs, from the
//! seed. Pure.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Draws orders and CPUs. At every moment, the draws so far are as balanced as possible.
pub struct Order {
    random: Pcg64,
    cpus: Vec<usize>,
    rows: Vec<Vec<usize>>,
    /// For each case, the CPUs and rows that are still to be drawn before all are available again.
    bags: Vec<Bag>,
}

#[derive(Clone, Default)]
struct Bag {
    cpus: Vec<usize>,
    rows: Vec<Vec<usize>>,
}

/// What is drawn for one round.
#[derive(Debug, PartialEq, Eq)]
pub struct Draw {
    /// Indices of the environments, in the order in which they measure.
    pub environments: Vec<usize>,
    pub cpu: Option<usize>,
    pub other_cpu: Option<usize>,
}

impl Order {
    /// `cpus` are the CPUs that every environment allows.
    pub fn new(seed: u64, environments: usize, cases: usize, cpus: &[usize]) -> Order {
        Order {
            random: Pcg64::seed_from_u64(seed),
            cpus: cpus.to_vec(),
            rows: williams(environments),
            bags: vec![Bag::default(); cases],
        }
    }

    /// The cases in the order of the next lap.
    pub fn lap(&mut self, active: &[usize]) -> Vec<usize> {
        let mut cases = active.to_vec();
        cases.shuffle(&mut self.random);
        cases
    }

    /// A draw for tuning, which leaves the balance of the rounds unchanged.
    pub fn for_tuning(&self) -> Draw {
        let cpu = |index: usize| self.cpus.get(index).copied();
        Draw { environments: Vec::new(), cpu: cpu(0), other_cpu: cpu(1) }
    }

    /// The order of environments and the CPU of a case's next round.
    pub fn round(&mut self, case: usize) -> Draw {
        let bag = &mut self.bags[case];
        if bag.cpus.is_empty() {
            bag.cpus = self.cpus.clone();
            bag.cpus.shuffle(&mut self.random);
        }
        if bag.rows.is_empty() {
            bag.rows = self.rows.clone();
            bag.rows.shuffle(&mut self.random);
            let mut names: Vec<usize> = (0..bag.rows[0].len()).collect();
            names.shuffle(&mut self.random);
            for place in bag.rows.iter_mut().flatten() {
                *place = names[*place];
            }
        }
        let cpu = bag.cpus.pop();
        let others: Vec<usize> = self.cpus.iter().copied().filter(|c| Some(*c) != cpu).collect();
        let other_cpu = match others.len() {
            0 => None,
            n => Some(others[self.random.random_range(0..n)]),
        };
        Draw { environments: bag.rows.pop().unwrap_or_default(), cpu, other_cpu }
    }
}

/// Rows of a Williams design: over all of them, every environment stands in every place equally
/// often and directly follows every other equally often (E. J. Williams, 1949). There are `n` rows
/// for an even number of environments and twice as many for an odd one.
fn williams(n: usize) -> Vec<Vec<usize>> {
    // 0, n-1, 1, n-2, 2, ...: each difference between neighbours occurs once.
    let first: Vec<usize> =
        (0..n).map(|i| if i % 2 == 0 { i / 2 } else { n - 1 - i / 2 }).collect();
    let shifted = |by: usize| first.iter().map(|place| (place + by) % n).collect::<Vec<_>>();
    let mut rows: Vec<Vec<usize>> = (0..n).map(shifted).collect();
    if n % 2 == 1 && n > 1 {
        let mirrored: Vec<Vec<usize>> =
            rows.iter().map(|row| row.iter().rev().copied().collect()).collect();
        rows.extend(mirrored);
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn williams_rows_balance_places_and_neighbours() {
        for n in 1..=7 {
            let rows = williams(n);
            let mut places = HashMap::new();
            let mut pairs = HashMap::new();
            for row in &rows {
                for (place, environment) in row.iter().enumerate() {
                    *places.entry((place, *environment)).or_insert(0) += 1;
                }
                for pair in row.windows(2) {
                    *pairs.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            assert_eq!(places.len(), n * n, "{n}: every place");
            assert_eq!(pairs.len(), n * (n - 1), "{n}: every neighbour");
            let even = |counts: Vec<&i32>| counts.iter().all(|count| *count == counts[0]);
            assert!(even(places.values().collect()), "{n}: places {rows:?}");
            assert!(even(pairs.values().collect()), "{n}: neighbours {rows:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let draws = |seed: u64| {
            let mut order = Order::new(seed, 3, 2, &[0, 1]);
            (0..20).map(|i| (order.lap(&[0, 1]), order.round(i % 2))).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn cpus_are_drawn_equally_often_and_the_other_is_another() {
        let mut order = Order::new(3, 2, 1, &[4, 7]);
        let mut counts = HashMap::new();
        for _ in 0..40 {
            let draw = order.round(0);
            assert_ne!(draw.cpu, draw.other_cpu);
            *counts.entry(draw.cpu).or_insert(0) += 1;
        }
        assert_eq!(counts[&Some(4)], 20);
        let mut one = Order::new(3, 2, 1, &[5]);
        assert_eq!(one.round(0).other_cpu, None);
        assert_eq!(Order::new(3, 2, 1, &[]).round(0).cpu, None);
    }
}
