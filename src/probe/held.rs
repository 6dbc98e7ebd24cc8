//! What `process.hold` and `thread.hold` share: the time to create many processes or threads that
//! all wait, and the memory that each of them takes.

use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};

use super::{CannotMeasure, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Extras, Phase, Quantity};
use crate::sys::{self, Footprint, Held};
use crate::units;

/// The phases: `create` is timed; the others are bytes of one process or thread.
pub const PHASES: &[Phase] = &[
    Phase::timed("create"),
    Phase::figure("memory", Quantity::Bytes),
    Phase::figure("pss", Quantity::Bytes),
    Phase::figure("tables", Quantity::Bytes),
    Phase::figure("kernel", Quantity::Bytes),
    Phase::figure("available", Quantity::Bytes),
    Phase::figure("crude", Quantity::Bytes),
];

/// Levels at which the memory is read while processes or threads are ended step by step.
const STEPS: u64 = 4;

/// Smallest number held from which the memory of one can be told.
const FEWEST: u64 = 10;

/// One operation of `process.hold` or `thread.hold`.
struct Hold {
    held: Box<dyn Held>,
    /// More memory of this process; unmapped when the block is done.
    _ballast: Vec<sys::Ballast>,
    wanted: u64,
    possible: Possible,
    /// Readings of the memory: with nothing held, with all, and with fewer and fewer.
    levels: Vec<(u64, Footprint)>,
    iterations: u64,
}

/// Prepares to hold as many as `n` says, or as many as limits allow.
///
/// `bytes` is the most memory that one takes; it decides whether there is enough. `ballast` is more
/// memory of this process, for as long as it holds.
pub fn prepare(
    setup: &Setup<'_>,
    held: Box<dyn Held>,
    bytes: u64,
    ballast: Vec<sys::Ballast>,
) -> Result<Box<dyn Workload>> {
    let wanted = setup.count("n")?;
    let processes = sys::process_room();
    let memory = sys::memory_room();
    let possible = possible(wanted, bytes, processes.as_ref(), memory.as_ref());
    if possible.count < wanted.min(FEWEST) {
        let Possible { count, limit, .. } = possible;
        let reason = format!("only {count} of {wanted} could be held: {limit}; raise that limit");
        return Err(CannotMeasure(reason).into());
    }
    let levels = Vec::with_capacity(STEPS as usize + 1);
    Ok(Box::new(Hold { held, _ballast: ballast, wanted, possible, levels, iterations: 0 }))
}

/// How many can be held.
#[derive(Debug, PartialEq)]
pub struct Possible {
    /// How many can be held when a reserve is left to others; at most as many as are wanted.
    pub count: u64,
    /// How many could be held without the reserve.
    most: u64,
    /// The limit that does not allow more.
    pub limit: String,
}

/// The tightest of these rooms, for things that take `bytes` each.
pub fn possible(
    wanted: u64,
    bytes: u64,
    processes: Option<&sys::Room>,
    memory: Option<&sys::Room>,
) -> Possible {
    let by_number = processes.map(|room| Possible {
        count: room.left - room.left / 10,
        most: room.left,
        limit: room.limit.clone(),
    });
    let by_memory = memory.map(|room| Possible {
        count: beside_reserve(room.left) / bytes,
        most: room.left / bytes,
        limit: format!("too little memory ({})", room.limit),
    });
    let free = Possible { count: u64::MAX, most: u64::MAX, limit: String::new() };
    let limits = [by_number, by_memory].into_iter().flatten();
    let tightest = limits.min_by_key(|possible| possible.count).unwrap_or(free);
    Possible { count: tightest.count.min(wanted), ..tightest }
}

/// The part of `bytes` that may be used. A tenth, and 256 MiB if that is at most half, are left to
/// others, so that the system has to kill no process.
fn beside_reserve(bytes: u64) -> u64 {
    bytes - (bytes / 10).max((bytes / 2).min(256 << 20))
}

/// An error where the bytes exceed the memory that may be used, as far as the system tells.
pub fn fits_in_memory(bytes: u64, remedy: &str) -> Result<()> {
    sys::memory_room().map_or(Ok(()), |room| fits_in(bytes, &room, remedy))
}

/// An error where the bytes exceed what may be used of that room.
pub fn fits_in(bytes: u64, room: &sys::Room, remedy: &str) -> Result<()> {
    if bytes <= beside_reserve(room.left) {
        return Ok(());
    }
    let (wanted, left) = (units::bytes_exact(bytes), units::bytes(room.left as f64));
    Err(CannotMeasure(format!(
        "{wanted} of memory are too much: {left} are left ({}), of which a tenth, or 256 MiB, is \
         not taken; {remedy}",
        room.limit
    ))
    .into())
}

impl Workload for Hold {
    fn before_sample(&mut self, iterations: u64) -> Result<()> {
        let Possible { most, limit, .. } = &self.possible;
        ensure!(iterations <= *most, "only {most} of {iterations} can be held now: {limit}");
        self.iterations = iterations;
        self.held.make_room(iterations as usize)?;
        self.levels.clear();
        self.levels.push((0, self.held.footprint()));
        Ok(())
    }

    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        for made in 0..iterations {
            self.held.add().with_context(|| {
                format!("only {made} of {iterations} could be held; ask for fewer (`n`)")
            })?;
        }
        watch.lap(0);
        for step in (1..=STEPS).rev() {
            let count = iterations * step / STEPS;
            self.held.keep(count as usize)?;
            self.held.all_wait()?;
            self.levels.push((count, self.held.footprint()));
        }
        for (phase, figure) in figures(&self.levels).into_iter().enumerate() {
            watch.put(phase + 1, figure.unwrap_or(0.0));
        }
        watch.skip();
        Ok(iterations)
    }

    fn after_sample(&mut self) -> Result<()> {
        Ok(self.held.keep(0)?)
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.possible.count..=self.possible.count
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut notes = Vec::new();
        if self.iterations < self.wanted {
            let (wanted, held) = (self.wanted, self.iterations);
            notes.push(format!("n lowered from {wanted} to {held}: {}", self.possible.limit));
        }
        if let Some((_, footprint)) = self.levels.first() {
            notes.extend(unknown(footprint));
        }
        let mut extras = Extras { notes, ..Extras::default() };
        if let [(_, before), (count, all), ..] = self.levels[..] {
            let each = |all: Option<u64>, before: Option<u64>| {
                Some(all?.saturating_sub(before.unwrap_or(0)) / count.max(1))
            };
            let working_set = each(all.working_set, before.working_set);
            let handles = each(all.handles, before.handles);
            let found = [("working_set_bytes", working_set), ("handles", handles)];
            let found = found.into_iter().filter_map(|(name, each)| Some((name.into(), each?)));
            extras.counters.extend(found);
        }
        Ok(extras)
    }
}

/// A note that names the figures that are unknown, with the reason.
fn unknown(footprint: &Footprint) -> Option<String> {
    let sources = [
        (footprint.pss, "`pss` (no smaps_rollup)"),
        (footprint.tables, "`tables` (no VmPTE)"),
        (footprint.kernel, "`kernel` (no KernelStack)"),
        (footprint.available, "`available` (no MemAvailable)"),
        (footprint.used, "`crude` (no MemFree)"),
    ];
    let missing = sources.iter().filter(|(bytes, _)| bytes.is_none());
    let missing: Vec<&str> = missing.map(|(_, text)| *text).collect();
    let sum = footprint.pss.and(footprint.tables).and(footprint.kernel).is_none();
    let sum = if sum { "; and `memory`, their sum, is not either" } else { "" };
    (!missing.is_empty()).then(|| format!("not shown here: {}{sum}", missing.join(", ")))
}

/// The figures of [`PHASES`] after the first, in bytes of one that is held.
fn figures(levels: &[(u64, Footprint)]) -> [Option<f64>; 6] {
    let pss = slope(levels, |footprint| footprint.pss);
    let tables = slope(levels, |footprint| footprint.tables);
    let kernel = slope(levels, |footprint| footprint.kernel);
    let available = slope(levels, |footprint| footprint.available).map(|bytes| -bytes);
    let memory = slope(levels, |f| Some(f.pss? + f.tables? + f.kernel?));
    [memory, pss, tables, kernel, available, crude(levels)]
}

/// Least-squares slope of a figure over the number held; none when the figure is unknown.
fn slope(levels: &[(u64, Footprint)], of: impl Fn(&Footprint) -> Option<u64>) -> Option<f64> {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    // Relative to the first level: differences of kilobytes would be lost beside gigabytes.
    let origin = of(&levels.first()?.1)? as f64;
    for (held, footprint) in levels {
        let (held, bytes) = (*held as f64, of(footprint)? as f64 - origin);
        (n, x, y) = (n + 1.0, x + held, y + bytes);
        (xx, xy) = (xx + held * held, xy + held * bytes);
    }
    let spread = n * xx - x * x;
    (spread > 0.0).then(|| (n * xy - x * y) / spread)
}

/// The difference of the used memory that `free` shows, before and while all live, by the number.
fn crude(levels: &[(u64, Footprint)]) -> Option<f64> {
    let [(_, none), (held, all), ..] = levels else { return None };
    Some((all.used? as f64 - none.used? as f64) / *held as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(left: u64, limit: &str) -> sys::Room {
        sys::Room { left, limit: limit.into() }
    }

    #[test]
    fn the_tightest_limit_lowers_the_number_and_is_named() {
        let (processes, memory) = (room(460, "pids.max of the cgroup is 500"), room(1 << 40, "m"));
        let lowered = possible(1000, 1 << 20, Some(&processes), Some(&memory));
        assert_eq!((lowered.count, lowered.most), (414, 460));
        assert_eq!(lowered.limit, "pids.max of the cgroup is 500");
        let memory = room(512 << 20, "memory.max of the cgroup is 600000000");
        let lowered = possible(1000, 1 << 20, Some(&processes), Some(&memory));
        assert_eq!((lowered.count, lowered.most), (256, 512), "half is left");
        assert!(lowered.limit.starts_with("too little memory (memory.max"), "{}", lowered.limit);
        assert_eq!(possible(1000, 1, None, None).count, 1000);
    }

    #[test]
    fn the_reserve_is_a_tenth_or_256_mib_and_never_more_than_half() {
        const MIB: u64 = 1 << 20;
        assert_eq!(beside_reserve(10_000 * MIB), 9_000 * MIB);
        assert_eq!(beside_reserve(1000 * MIB), 744 * MIB);
        assert_eq!(beside_reserve(100 * MIB), 50 * MIB);
    }

    fn level(held: u64, each: u64) -> (u64, Footprint) {
        let start = 1 << 30;
        let footprint = Footprint {
            pss: Some(start + held * each),
            tables: Some(held * 2),
            kernel: Some(start + held * 3),
            available: Some(start - held * 7),
            used: Some(start + held * 11),
            ..Footprint::default()
        };
        (held, footprint)
    }

    #[test]
    fn figures_are_slopes_over_the_number_held() {
        let mut levels = [0, 40, 30, 20, 10].map(|held| level(held, 5));
        assert_eq!(figures(&levels), [10.0, 5.0, 2.0, 3.0, 7.0, 11.0].map(Some));
        levels[2].1.tables = None;
        let unknown = figures(&levels);
        assert_eq!((unknown[0], unknown[1], unknown[2]), (None, Some(5.0), None));
        assert_eq!(slope(&levels[..1], |f| f.pss), None, "one level has no slope");
    }

    #[test]
    fn what_is_unknown_is_said_with_its_reason() {
        assert_eq!(unknown(&level(1, 1).1), None);
        let footprint = Footprint { tables: None, ..level(1, 1).1 };
        let note = unknown(&footprint).unwrap();
        assert_eq!(
            note,
            "not shown here: `tables` (no VmPTE); and `memory`, their sum, is not either"
        );
    }
}
