//! The part of `doctor` about the machine itself: its facts, and how noisy it is.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::{facts, measure, stats, sys, units};

/// Time for which the noise of the machine is measured.
const NOISE_TIME: Duration = Duration::from_millis(1500);
/// Time of one loop of work, in ns: as long as a block of samples, so that it meets the same noise.
const LOOP_NS: u64 = 5_000_000;
/// Number of steps that measure the speed of the loop.
const RATE_STEPS: u64 = 100_000;
/// A machine counts as quiet if the excess of the slowest tenth is below this.
const QUIET: f64 = 0.05;

/// The facts of the machine, and its noise.
pub(super) fn text(width: usize) -> String {
    let facts = facts::environment();
    let mut text = String::from("this machine\n");
    let mut put = |name: &str, value: &str| {
        let lines = units::wrapped(value, width.saturating_sub(17)).join(&format!("\n{:17}", ""));
        text.push_str(&format!("  {name:<14} {lines}\n"));
    };
    let names = ["environment", "kernel", "distribution", "cpu", "governor", "huge_pages"];
    for name in names {
        if let Some(value) = facts.get(name) {
            put(name, value);
        }
    }
    if let Ok(cpus) = sys::allowed_cpus() {
        put("cpus", &format!("{} allowed", cpus.len()));
    }
    let source = facts.get("clock_source").map_or("", String::as_str);
    let clock = measure::calibrate_clock();
    put("clock_source", format!("{source} {} a reading", units::time(clock.cost_ns)).trim_start());
    let folder = std::env::temp_dir();
    let filesystem = facts::filesystem(&folder);
    let kind = filesystem.get("filesystem").map_or("an unknown filesystem", String::as_str);
    put("scratch", &format!("{} on {kind}", folder.display()));
    if let Some(load) = facts.get("load_1min") {
        put("load", load);
    }
    put("noise", &noise());
    text
}

/// Times the same work again and again, and describes how much the times differ.
fn noise() -> String {
    let rate = (0..5).map(|_| timed(RATE_STEPS)).min().unwrap_or(1).max(1);
    let steps = (LOOP_NS as u128 * u128::from(RATE_STEPS) / u128::from(rate)) as u64;
    let before = facts::load().ticks;
    let until = Instant::now() + NOISE_TIME;
    let mut times = Vec::new();
    while Instant::now() < until {
        times.push(timed(steps) as f64);
    }
    let steal = before.zip(facts::load().ticks).map(|(before, after)| {
        let total = after.total.saturating_sub(before.total).max(1);
        after.steal.saturating_sub(before.steal) as f64 / total as f64
    });
    let usual = stats::quantile(&times, 0.25).unwrap_or(1.0);
    let excess = stats::quantile(&times, 0.9).unwrap_or(usual) / usual - 1.0;
    reading(excess, steal)
}

/// Describes the excess of the slowest tenth over the 25 % quantile, which is the quantile of
/// costs.
fn reading(excess: f64, steal: Option<f64>) -> String {
    let steal = steal.map_or("unknown".into(), units::percent);
    let word = if excess < QUIET { "quiet (<" } else { "noisy (>" };
    let (excess, quiet) = (units::percent(excess), units::percent(QUIET));
    format!("slowest tenth of 5 ms loops +{excess}, {word} {quiet}), steal {steal}")
}

/// Time of `steps` steps of integer work, in ns.
fn timed(steps: u64) -> u64 {
    let start = Instant::now();
    let mut value = 1_u64;
    for step in 0..steps {
        value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
    }
    black_box(value);
    start.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_told_in_numbers_and_a_word() {
        let quiet = reading(0.012, Some(0.0));
        assert!(quiet.contains("+1.2\u{a0}%") && quiet.contains("quiet"), "{quiet}");
        let noisy = reading(0.3, None);
        assert!(noisy.contains("steal unknown") && noisy.contains("noisy"), "{noisy}");
    }
}
