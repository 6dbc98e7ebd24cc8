//! The cost of starting an environment.

use serde::Serialize;

use super::row::Cost;
use super::sides::Side;
use crate::runfile::{Block, Launch};
use crate::stats;

/// What is seen from outside must be at least this share of what the environment counts itself:
/// otherwise what runs is elsewhere (behind a daemon, on another machine).
const SEEN: f64 = 0.8;

/// How an environment started, over all its launches.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartUp {
    /// Label of the column.
    pub column: String,
    pub launches: usize,
    /// The first start of the run, in ns: with whatever the machine had in its caches.
    pub first_ns: f64,
    /// The starts after it, in ns: median, and the shortest and longest.
    pub again: Option<Cost>,
    /// The starts after emptying the page caches, in the same way.
    pub cold: Option<Cost>,
    /// What its processes on this side had taken by the greeting: medians, and the mean CPU time.
    pub processes: Option<f64>,
    pub memory_bytes: Option<f64>,
    pub cpu_ns: Option<f64>,
    /// CPUs that its processes on this side kept busy while it measured, on average.
    pub busy: Option<f64>,
}

/// How every column started; nothing of runs whose files do not tell.
pub(super) fn start_ups(sides: &[Side<'_>]) -> Vec<StartUp> {
    sides.iter().filter_map(start_up).collect()
}

fn start_up(side: &Side<'_>) -> Option<StartUp> {
    let mut launches: Vec<&Launch> = Vec::new();
    let mut blocks: Vec<&Block> = Vec::new();
    for session in &side.sessions {
        launches.extend(session.run.launches.iter().filter(|it| it.env == session.env));
        blocks.extend(session.run.blocks.iter().filter(|it| it.env == session.env));
    }
    let first = launches.iter().find(|launch| launch.launch == 0)?;
    let times = |cold: bool| {
        let wanted = launches.iter().filter(|it| it.launch > 0 && it.cold == cold);
        range(&wanted.map(|it| it.started_in_ms * 1e6).collect::<Vec<_>>())
    };
    let busy = outside(&blocks).map(|cpu| {
        let waited: f64 = blocks.iter().map(|block| block.outer_ns as f64).sum();
        cpu / waited.max(1.0)
    });
    // Where what runs is not seen, neither is what it takes.
    let seen = |value: fn(&Launch) -> Option<f64>| {
        let values: Vec<f64> = launches.iter().filter_map(|launch| value(launch)).collect();
        stats::quantile(&values, 0.5).filter(|_| busy.is_some())
    };
    Some(StartUp {
        column: side.label.clone(),
        launches: launches.len(),
        first_ns: first.started_in_ms * 1e6,
        again: times(false),
        cold: times(true),
        processes: seen(|it| it.outside.processes.map(|count| count as f64)),
        memory_bytes: seen(|it| it.outside.memory_bytes.map(|bytes| bytes as f64)),
        // Partly counted in ticks: only a mean sees what is shorter than one.
        cpu_ns: mean(&launches).filter(|_| busy.is_some()),
        busy,
    })
}

fn mean(launches: &[&Launch]) -> Option<f64> {
    let times: Vec<f64> =
        launches.iter().filter_map(|it| Some(it.outside.cpu_ns? as f64)).collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

fn range(values: &[f64]) -> Option<Cost> {
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|q| stats::quantile(values, q));
    Some(Cost { value: middle?, interval: low.zip(high) })
}

/// CPU time in ns that these blocks took outside; none where it is not seen in all of them, or is
/// less than what the environment itself counted.
fn outside(blocks: &[&Block]) -> Option<f64> {
    let known = blocks.iter().map(|block| Some(block.outside_cpu_ns? as f64));
    let sum = known.sum::<Option<f64>>()?;
    let inside: f64 =
        blocks.iter().map(|it| (it.set.usage.user_ns + it.set.usage.system_ns) as f64).sum();
    (sum > 0.0 && sum >= SEEN * inside).then_some(sum)
}

/// CPU time in ns that one unit of these blocks took outside.
pub(super) fn outside_cpu_ns(blocks: &[&Block]) -> Option<f64> {
    let units = |block: &&Block| {
        let samples = block.set.samples.first().map_or(0, Vec::len);
        samples as f64 * block.set.iterations as f64
    };
    let done: f64 = blocks.iter().map(units).sum();
    outside(blocks).map(|sum| sum / done.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_from_outside_is_unknown() {
        let block = |outside_cpu_ns, user_ns| Block {
            env: "e".into(),
            case: 0,
            round: 1,
            place: 0,
            cpu: None,
            asked_ns: 0,
            outer_ns: 100,
            runnable: None,
            launch: 0,
            outside_cpu_ns,
            set: crate::model::SampleSet {
                iterations: 5,
                samples: vec![vec![1; 4]],
                usage: crate::model::Usage { user_ns, ..Default::default() },
                ..Default::default()
            },
        };
        let seen = |blocks: &[Block]| outside_cpu_ns(&blocks.iter().collect::<Vec<_>>());
        assert_eq!(seen(&[block(Some(100), 90), block(Some(300), 90)]), Some(10.0));
        assert_eq!(seen(&[block(Some(10), 90)]), None, "it runs elsewhere");
        assert_eq!(seen(&[block(Some(100), 90), block(None, 0)]), None);
    }
}
