//! Times operations one by one, for the distribution of their latencies.

use anyhow::Result;

use crate::measure::Latencies;
use crate::model::Extras;
use crate::sys;

/// Shortest operation that is timed alone, in readings of the clock.
const CLOCK_READINGS: f64 = 20.0;
/// Time of the pass, which is that of a block, and most operations in it.
const PASS_NS: u64 = 10_000_000;
const MOST: u64 = 10_000;
/// Time for finding out how long one operation takes.
const TRIAL_NS: u64 = 200_000;

/// Adds the latencies of `operation`, or a note that says why there are none. The histogram is made
/// before the first reading. One reading of the clock ends an operation and begins the next.
pub fn one_by_one(
    extras: &mut Extras,
    name: &str,
    mut operation: impl FnMut() -> Result<()>,
) -> Result<()> {
    let clock_ns = clock_ns();
    let each_ns = time_of_each(&mut operation)?;
    if each_ns - clock_ns < CLOCK_READINGS * clock_ns {
        let note = "no latencies of single operations: one is shorter than 20 clock readings";
        extras.notes.push(note.into());
        return Ok(());
    }
    let mut latencies = Latencies::new();
    let start = sys::now_ns();
    let mut last = start;
    while last.saturating_sub(start) < PASS_NS && latencies.count() < MOST {
        operation()?;
        let now = sys::now_ns();
        latencies.record(now.saturating_sub(last));
        last = now;
    }
    extras.latencies.insert(name.into(), latencies.buckets());
    Ok(())
}

/// Ns of one reading of the clock.
fn clock_ns() -> f64 {
    const READINGS: u32 = 100;
    let start = sys::now_ns();
    let mut last = start;
    for _ in 0..READINGS {
        last = sys::now_ns();
    }
    last.saturating_sub(start) as f64 / f64::from(READINGS)
}

/// Ns of one operation and the reading of the clock after it.
fn time_of_each(operation: &mut impl FnMut() -> Result<()>) -> Result<f64> {
    let start = sys::now_ns();
    let mut done = 0;
    loop {
        operation()?;
        done += 1;
        let taken = sys::now_ns().saturating_sub(start);
        if taken >= TRIAL_NS {
            return Ok(taken as f64 / f64::from(done));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_operations_have_latencies_and_quick_ones_a_note() {
        let mut extras = Extras::default();
        one_by_one(&mut extras, "nothing", || Ok(())).unwrap();
        assert!(extras.latencies.is_empty() && extras.notes.len() == 1, "{extras:?}");
        let spin = || {
            let start = sys::now_ns();
            while sys::now_ns() - start < 100_000 {}
            Ok(())
        };
        one_by_one(&mut extras, "spin", spin).unwrap();
        let buckets = &extras.latencies["spin"];
        assert!(buckets.iter().all(|(ns, _)| *ns >= 99_000), "{buckets:?}");
        assert!((2..=100).contains(&buckets.iter().map(|(_, count)| count).sum::<u64>()));
    }
}
