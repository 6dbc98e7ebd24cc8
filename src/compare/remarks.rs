//! What a reader must know of whole environments and files: clocks, hypervisors, cut-off runs.

use super::{Session, Side};
use crate::model::EnvSpec;
use crate::runfile::{Block, EndReason, RunFile};
use crate::units;

/// Share by which an environment's clock may run differently from the controller's.
const CLOCK_RATE: f64 = 0.005;
/// Shortest time over which a clock's rate is judged, in ns.
const CLOCK_SPAN_NS: f64 = 1e9;
/// Share of CPU time taken by the hypervisor from which it is mentioned.
const STEAL: f64 = 0.02;

/// All remarks on these sides, each file's and each environment's once.
pub fn remarks(sides: &[Side<'_>]) -> Vec<String> {
    let sessions: Vec<(&str, &Session)> = sides
        .iter()
        .flat_map(|side| side.sessions.iter().map(|session| (side.label.as_str(), session)))
        .collect();
    let mut remarks = Vec::new();
    for (label, session) in &sessions {
        remarks.extend(not_started(label, session));
        remarks.extend(clock(label, session));
    }
    let mut seen: Vec<*const RunFile> = Vec::new();
    for (label, session) in &sessions {
        let run = std::ptr::from_ref(session.run);
        if !seen.contains(&run) {
            seen.push(run);
            remarks.extend(of_file(label, session.run));
        }
    }
    if seen.len() > 1 {
        remarks.push(
            "the files are different sessions, not interleaved: between sessions the same machine \
             differs by several per cent by itself. Three sessions a side are needed for a \
             verdict, five are advisable (`--versus`)"
                .into(),
        );
    }
    remarks
}

/// A file that ends before its environments were started has no reason in any row.
fn not_started(label: &str, session: &Session<'_>) -> Option<String> {
    let mut environments = session.run.environments.iter();
    let known = environments.any(|environment| environment.name == session.env);
    (!known).then(|| format!("`{label}`: the file ends before this environment was started"))
}

fn clock(label: &str, session: &Session<'_>) -> Vec<String> {
    let blocks: Vec<&Block> =
        session.run.blocks.iter().filter(|block| block.env == session.env).collect();
    let mut remarks = Vec::new();
    if let Some(rate) = clock_rate(&blocks) {
        let (more, less) = ("fast", "slow");
        let direction = if rate > 0.0 { more } else { less };
        remarks.push(format!(
            "`{label}`: its clock runs {} {direction} against the controller's; every cost of it \
             is wrong by as much",
            units::percent(rate.abs())
        ));
    }
    let longer = blocks.iter().filter(|block| {
        let inner = block.set.end_ns.saturating_sub(block.set.start_ns) as f64;
        inner > block.outer_ns as f64 * (1.0 + CLOCK_RATE)
    });
    let longer = longer.count();
    if longer > 0 {
        remarks.push(format!(
            "`{label}`: {longer} of {} blocks took longer by its own clock than the controller \
             waited for them: its clock jumps",
            blocks.len()
        ));
    }
    let environment = session.run.environments.iter().find(|env| env.name == session.env);
    let backward = environment.map_or(0, |environment| environment.clock.backward_steps);
    if backward > 0 {
        remarks.push(format!("`{label}`: its monotonic clock went backwards {backward} times"));
    }
    remarks
}

/// How much faster than the controller's the environment's clock ran between its first and last
/// block, if that is more than what is allowed and more than what the waits leave uncertain.
fn clock_rate(blocks: &[&Block]) -> Option<f64> {
    let (first, last) = (blocks.first()?, blocks.last()?);
    let answered = |block: &Block| block.asked_ns as f64 + block.outer_ns as f64;
    let outer = answered(last) - answered(first);
    if outer < CLOCK_SPAN_NS {
        return None;
    }
    let inner = last.set.end_ns as f64 - first.set.end_ns as f64;
    // The block ended somewhere between asking and answering, less its own duration.
    let slack = |block: &Block| {
        block.outer_ns as f64 - block.set.end_ns.saturating_sub(block.set.start_ns) as f64
    };
    let uncertain = (slack(first).max(0.0) + slack(last).max(0.0)) / outer;
    let rate = inner / outer - 1.0;
    (rate.abs() > CLOCK_RATE + uncertain).then_some(rate)
}

fn of_file(label: &str, run: &RunFile) -> Vec<String> {
    let file = label.rsplit_once(':').map_or(String::new(), |(file, _)| format!("`{file}`: "));
    let mut remarks: Vec<String> =
        run.remarks.iter().map(|remark| format!("{file}{remark}")).collect();
    if run.end.as_ref().is_some_and(|end| end.reason == EndReason::Interrupted) {
        remarks.push(format!("{file}the run was interrupted by the user"));
    }
    if let Some(share) = steal(run).filter(|share| *share > STEAL) {
        remarks.push(format!(
            "{file}the hypervisor took {} of the CPU time for others (steal)",
            units::percent(share)
        ));
    }
    let few = few_rounds(run);
    if few > 0 {
        remarks.push(format!(
            "{file}the budget ended before {} rounds in {few} of {} cases: their intervals are \
             less reliable; give more time with `--budget`",
            run.header.plan.min_rounds,
            run.header.plan.cases.len()
        ));
    }
    remarks
}

/// Share of the machine's CPU time that the hypervisor kept, over the run.
fn steal(run: &RunFile) -> Option<f64> {
    let (first, last) = (run.hosts.first()?, run.hosts.last()?);
    let steal = last.steal_ticks?.checked_sub(first.steal_ticks?)?;
    let total = last.total_ticks?.checked_sub(first.total_ticks?)?;
    (total > 0).then(|| steal as f64 / total as f64)
}

/// Cases that some environment measured, but in fewer rounds than the plan asks for.
fn few_rounds(run: &RunFile) -> usize {
    let plan = &run.header.plan;
    let short = |case: usize, spec: &EnvSpec| {
        let own = run.blocks.iter().filter(|block| block.case == case && block.env == spec.name);
        let last = own.map(|block| block.round).max();
        last.is_some_and(|last| last < plan.min_rounds)
    };
    (0..plan.cases.len())
        .filter(|case| plan.environments.iter().any(|spec| short(*case, spec)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SampleSet;

    fn block(asked_ns: u64, start_ns: u64, end_ns: u64) -> Block {
        Block {
            env: "e".into(),
            case: 0,
            round: 1,
            place: 0,
            cpu: None,
            asked_ns,
            outer_ns: 12_000_000,
            set: SampleSet { start_ns, end_ns, ..SampleSet::default() },
        }
    }

    #[test]
    fn only_a_clock_that_is_surely_off_is_named() {
        let first = block(0, 1_000_000, 11_000_000);
        // Ten seconds later by the controller, and by this clock 10 s, 10.02 s and 10.7 s.
        let after = |ns: u64| block(10_000_000_000, ns + 1_000_000, ns + 11_000_000);
        assert_eq!(clock_rate(&[&first, &after(10_000_000_000)]), None);
        assert_eq!(clock_rate(&[&first, &after(10_020_000_000)]), None);
        let fast = clock_rate(&[&first, &after(10_700_000_000)]).unwrap();
        assert!((fast - 0.07).abs() < 0.001, "{fast}");
        let slow = clock_rate(&[&first, &after(9_300_000_000)]).unwrap();
        assert!((slow + 0.07).abs() < 0.001, "{slow}");
        assert_eq!(clock_rate(&[&first, &block(500_000_000, 0, 900_000_000)]), None, "too short");
    }
}
