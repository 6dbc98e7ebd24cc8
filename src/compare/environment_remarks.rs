//! What a reader must know of whole environments and files: clocks, hypervisors, cut-off runs.

use std::collections::{BTreeMap, BTreeSet};

use super::load;
use super::reach::{ADVISABLE_SESSIONS, MIN_SESSIONS};
use super::remark::{Remark, RemarkKind, in_file, named, when};
use super::sides::{Session, Side};
use crate::model::{Details, EnvSpec};
use crate::runfile::{Block, EndReason, RunFile};
use crate::units;
use crate::words::Message;

/// Share by which an environment's clock may run differently from the controller's.
const CLOCK_RATE: f64 = 0.005;
/// Shortest time over which a clock's rate is judged, in ns.
const CLOCK_SPAN_NS: f64 = 1e9;
/// Share of CPU time taken by the hypervisor from which it is mentioned.
pub(super) const STEAL: f64 = 0.02;

/// What is to be said of each environment.
pub(super) fn of_environments(sides: &[Side<'_>]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for side in sides {
        for session in &side.sessions {
            remarks.extend(not_started(&side.label, session));
            remarks.extend(clock(&side.label, session));
        }
    }
    remarks
}

/// What is to be said of each file, once, and of their being several.
pub(super) fn of_files(sides: &[Side<'_>]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut seen: Vec<*const RunFile> = Vec::new();
    for session in sides.iter().flat_map(|side| &side.sessions) {
        let run = std::ptr::from_ref(session.run);
        if !seen.contains(&run) {
            seen.push(run);
            remarks.extend(load::of_file(session));
            remarks.extend(of_file(session));
        }
    }
    // A single side is compared with nothing.
    if seen.len() > 1 && sides.len() > 1 && !are_runs(sides) {
        remarks.push(Remark::on_all(RemarkKind::Sessions, different_sessions(sides)));
    }
    remarks
}

/// Whether each side has the same files: several runs of the same environments.
fn are_runs(sides: &[Side<'_>]) -> bool {
    let files = |side: &Side<'_>| -> Vec<*const RunFile> {
        side.sessions.iter().map(|session| std::ptr::from_ref(session.run)).collect()
    };
    sides.len() > 1 && sides.iter().all(|side| files(side) == files(&sides[0]))
}

/// Whether there are several sessions a side, and all of one side began before all of the other.
fn one_after_the_other(sides: &[Side<'_>]) -> bool {
    let [before, after] = sides else { return false };
    let begins = |side: &Side<'_>| -> Vec<String> {
        side.sessions.iter().map(|session| session.run.header.started.clone()).collect()
    };
    let (before, after) = (begins(before), begins(after));
    let all_before = |a: &[String], b: &[String]| a.iter().max() < b.iter().min();
    before.len().min(after.len()) > 1
        && (all_before(&before, &after) || all_before(&after, &before))
}

fn different_sessions(sides: &[Side<'_>]) -> Message {
    let fewest = sides.iter().map(|side| side.sessions.len()).min().unwrap_or(0);
    let more = match fewest {
        few if few < MIN_SESSIONS => Message::new("sessions-are-few").with("needed", MIN_SESSIONS),
        some if some < ADVISABLE_SESSIONS => Message::new("sessions-are-some"),
        _ => Message::new("nothing"),
    };
    let alone = sides.iter().all(|side| side.sessions.len() < 2);
    Message::new("sessions-differ")
        .with("alone", when(alone, "sessions-alone"))
        .with("more", more.with("advisable", ADVISABLE_SESSIONS))
        .with("boots", when(one_boot(sides), "sessions-of-one-boot"))
        .with("turn", when(one_after_the_other(sides), "sessions-one-after-the-other"))
}

/// Whether there are several sessions a side, and all of some side ran on one boot of the machine.
fn one_boot(sides: &[Side<'_>]) -> bool {
    let boots = |side: &Side<'_>| -> BTreeSet<String> {
        let sessions = side.sessions.iter();
        sessions.filter_map(|it| it.run.header.host.get("boot").cloned()).collect()
    };
    sides.iter().any(|side| side.sessions.len() > 1 && boots(side).len() == 1)
}

/// Why there is nothing of this environment, in short: its rows have the whole reason, or none at
/// all where the file ends before.
fn not_started(column: &str, session: &Session<'_>) -> Option<Remark> {
    let mut environments = session.run.environments.iter();
    let (text, details) = match environments.find(|environment| environment.name == session.env) {
        None => {
            let text = named(session.name(), Message::new("file-ends-before-start"));
            (text, Details::default())
        }
        Some(environment) => {
            let what = environment.error.as_deref()?;
            (in_file(session, Message::verbatim(what)), environment.details.clone())
        }
    };
    Some(Remark { details, ..Remark::on_column(RemarkKind::NotStarted, column, text) })
}

fn clock(column: &str, session: &Session<'_>) -> Vec<Remark> {
    let blocks: Vec<&Block> =
        session.run.blocks.iter().filter(|block| block.env == session.env).collect();
    let name = session.name();
    let mut remarks = Vec::new();
    let mut remark = |kind, text| remarks.push(Remark::on_column(kind, column, named(&name, text)));
    // A guest's clock starts anew with each launch: the longest one is judged.
    let mut launches: BTreeMap<u32, Vec<&Block>> = BTreeMap::new();
    for block in &blocks {
        launches.entry(block.launch).or_default().push(block);
    }
    let longest = launches.into_values().max_by_key(Vec::len).unwrap_or_default();
    if let Some(rate) = clock_rate(&longest) {
        let text = Message::new(if rate > 0.0 { "clock-fast" } else { "clock-slow" });
        remark(RemarkKind::ClockRate, text.with("rate", units::percent(rate.abs())));
    }
    let longer = blocks.iter().filter(|block| {
        let inner = block.set.end_ns.saturating_sub(block.set.start_ns) as f64;
        inner > block.outer_ns as f64 * (1.0 + CLOCK_RATE)
    });
    let longer = longer.count();
    if longer > 0 {
        let text = Message::new("clock-jumps").with("longer", longer).with("all", blocks.len());
        remark(RemarkKind::ClockJump, text);
    }
    let environment = session.run.environments.iter().find(|env| env.name == session.env);
    let backward = environment.map_or(0, |environment| environment.clock.backward_steps);
    if backward > 0 {
        let text = Message::new("clock-backward").with("steps", backward as usize);
        remark(RemarkKind::ClockBackward, text);
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

fn of_file(session: &Session<'_>) -> Vec<Remark> {
    let run = session.run;
    let mut remarks = Vec::new();
    let mut remark =
        |kind, text: Message| remarks.push(Remark::on_all(kind, in_file(session, text)));
    let kind = if run.imported { RemarkKind::Imported } else { RemarkKind::CutOff };
    for text in &run.remarks {
        remark(kind, Message::verbatim(text));
    }
    let end = run.end.as_ref().map(|end| end.reason);
    if end == Some(EndReason::Interrupted) {
        remark(RemarkKind::Interrupted, Message::new("interrupted"));
    }
    if let Some(share) = load::steal_share(run).filter(|share| *share > STEAL) {
        remark(RemarkKind::Steal, Message::new("steal").with("share", units::percent(share)));
    }
    let few = few_rounds(run);
    if few > 0 {
        let of_budget = end == Some(EndReason::Budget);
        let id = if of_budget { "few-rounds-of-budget" } else { "few-rounds-of-run" };
        let text = Message::new(id)
            .with("rounds", run.header.plan.stop.min_rounds() as usize)
            .with("few", few)
            .with("all", run.header.plan.cases.len());
        remark(RemarkKind::FewRounds, text);
    }
    remarks
}

/// Cases that in some environment neither had the rounds that the plan asks for, maybe none at all,
/// nor a reason of their own, such as a failure.
fn few_rounds(run: &RunFile) -> usize {
    let plan = &run.header.plan;
    let short = |case: usize, spec: &EnvSpec| {
        let own = run.blocks.iter().filter(|block| block.case == case && block.env == spec.name);
        let last = own.map(|block| block.round).max().unwrap_or(0);
        let mut outcomes = run.outcomes.iter();
        let told = outcomes.any(|outcome| outcome.case == case && outcome.env == spec.name);
        !told && last < plan.stop.min_rounds()
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
            runnable: None,
            launch: 0,
            outside_cpu_ns: None,
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
