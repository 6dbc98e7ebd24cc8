//! The limits of a run file. envtax writes nothing near these limits. Larger values are damage, and
//! reading them would cost time and memory.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::{Block, End, Environment, Header, Host, Launch, Record, Tuned};
use crate::model::{Extras, Facts, SampleSet, Stop};

/// Bytes of a file.
pub(super) const FILE: u64 = 1 << 30;
/// Counts, sizes, and times in ns, which is 104 days: floating point holds each, and hundreds of
/// them can be added up.
const NUMBER: u64 = 1 << 53;
/// Readings of a clock in ns, which may have begun when the machine did, or in 1970.
const READING: u64 = 1 << 62;
/// Times in ms or in s.
const TIME: f64 = 1e10;
/// Environments and target directories.
const ENVIRONMENTS: usize = 1_000;
const CASES: usize = 5_000;
/// Phases of one case.
const PHASES: usize = 100;
/// Bytes of a name: of an environment, a directory, or a probe with its parameters.
const NAME: usize = 4_096;
/// Bytes of a fact.
const FACT: usize = 1 << 20;
/// Facts of one environment or directory.
const FACTS: usize = 1_000;
/// Notes, counters and distributions of one block.
const EXTRAS: usize = 100;
/// Bytes of a note.
const NOTE: usize = 4_096;
/// Starts of an environment.
const LAUNCHES: u32 = 1_000_000;

/// Whether a record is within the limits; what is not.
pub(super) fn check(record: &Record) -> Result<()> {
    match record {
        Record::Header(header) => check_header(header),
        Record::Environment(environment) => check_environment(environment),
        Record::Launch(launch) => check_launch(launch),
        Record::Tuned(Tuned { iterations, each_ns, .. }) => {
            number("iterations", *iterations)?;
            time("each_ns", *each_ns * 1e-6)
        }
        Record::Block(block) => check_block(block),
        Record::Host(host) => check_host(host),
        Record::End(End { elapsed_s, .. }) => time("elapsed_s", *elapsed_s),
        Record::Inspected(inspected) => {
            inspected.programs.values().chain(inspected.files.values()).try_for_each(check_facts)
        }
        Record::Outcome(_) => Ok(()),
    }
}

fn check_header(header: &Header) -> Result<()> {
    let plan = &header.plan;
    check_facts(&header.host)?;
    at_most("environments", plan.environments.len(), ENVIRONMENTS)?;
    at_most("dirs", plan.dirs.len(), ENVIRONMENTS)?;
    at_most("cases", plan.cases.len(), CASES)?;
    let names = plan.environments.iter().map(|spec| &spec.name);
    names.chain(plan.dirs.iter().map(|dir| &dir.name)).try_for_each(|text| name(text))?;
    for planned in &plan.cases {
        name(&planned.case.to_string())?;
        name(&planned.unit)?;
        at_most("phases", planned.phases.len(), PHASES)?;
        planned.phases.iter().try_for_each(|phase| name(&phase.name))?;
    }
    match plan.stop {
        Stop::Precise { half_width, budget_s, .. } => {
            time("precision", half_width)?;
            time("budget_s", budget_s)
        }
        Stop::Budget { budget_s, .. } => time("budget_s", budget_s),
        Stop::Rounds { budget_s, .. } => time("budget_s", budget_s.unwrap_or(0.0)),
    }
}

/// Whether what an environment says of itself is within the limits.
pub fn check_environment(environment: &Environment) -> Result<()> {
    name(&environment.name)?;
    check_facts(&environment.facts)?;
    at_most("dirs", environment.dirs.len(), ENVIRONMENTS)?;
    environment.dirs.values().try_for_each(check_facts)?;
    time("started_in_ms", environment.started_in_ms)?;
    let clock = &environment.clock;
    time("cost_ns", clock.cost_ns * 1e-6)?;
    for (what, value) in [
        ("granularity_ns", clock.granularity_ns),
        ("backward_steps", clock.backward_steps),
        ("readings", clock.readings),
    ] {
        number(what, value)?;
    }
    Ok(())
}

fn check_facts(facts: &Facts) -> Result<()> {
    at_most("facts", facts.len(), FACTS)?;
    facts.keys().try_for_each(|text| name(text))?;
    facts.values().try_for_each(|text| at_most("bytes of a fact", text.len(), FACT))
}

fn check_launch(launch: &Launch) -> Result<()> {
    launch_number(launch.launch)?;
    time("started_in_ms", launch.started_in_ms)?;
    let outside = &launch.outside;
    number("processes", outside.processes.unwrap_or(0) as u64)?;
    number("memory_bytes", outside.memory_bytes.unwrap_or(0))?;
    number("cpu_ns", outside.cpu_ns.unwrap_or(0))
}

fn check_host(host: &Host) -> Result<()> {
    number("at_ns", host.at_ns)?;
    number("steal_ticks", host.steal_ticks.unwrap_or(0))?;
    number("busy_ticks", host.busy_ticks.unwrap_or(0))?;
    number("total_ticks", host.total_ticks.unwrap_or(0))?;
    time("load_1min", host.load_1min.unwrap_or(0.0))
}

fn check_block(block: &Block) -> Result<()> {
    launch_number(block.launch)?;
    number("asked_ns", block.asked_ns)?;
    number("outer_ns", block.outer_ns)?;
    number("outside_cpu_ns", block.outside_cpu_ns.unwrap_or(0))?;
    check_set(&block.set)
}

/// Whether the figures of a block are within the limits.
pub(super) fn check_set(set: &SampleSet) -> Result<()> {
    number("iterations", set.iterations)?;
    set.samples.iter().flatten().try_for_each(|sample| number("samples", *sample))?;
    let usage = &set.usage;
    for (what, value) in [
        ("user_ns", usage.user_ns),
        ("system_ns", usage.system_ns),
        ("minor_faults", usage.minor_faults),
        ("major_faults", usage.major_faults),
        ("voluntary_switches", usage.voluntary_switches),
        ("involuntary_switches", usage.involuntary_switches),
        ("run_queue_wait_ns", usage.run_queue_wait_ns.unwrap_or(0)),
    ] {
        number(what, value)?;
    }
    for (what, value) in [("start_ns", set.start_ns), ("end_ns", set.end_ns)] {
        ensure!(value <= READING, "`{what}` is {value}, and at most {READING}");
    }
    check_extras(&set.extras)
}

fn check_extras(extras: &Extras) -> Result<()> {
    at_most("notes", extras.notes.len(), EXTRAS)?;
    at_most("counters", extras.counters.len(), EXTRAS)?;
    at_most("latencies", extras.latencies.len(), EXTRAS)?;
    at_most("hidden", extras.hidden.len(), EXTRAS)?;
    extras.notes.iter().try_for_each(|note| at_most("bytes of a note", note.len(), NOTE))?;
    names(&extras.counters)?;
    names(&extras.latencies)?;
    extras.counters.values().try_for_each(|value| number("counters", *value))?;
    let buckets = extras.latencies.values().flatten();
    buckets
        .flat_map(|(ns, count)| [ns, count])
        .try_for_each(|value| number("latencies", *value))?;
    number("floor_bytes", extras.floor_bytes.unwrap_or(0))
}

fn names<T>(map: &BTreeMap<String, T>) -> Result<()> {
    map.keys().try_for_each(|text| name(text))
}

fn launch_number(launch: u32) -> Result<()> {
    ensure!(launch <= LAUNCHES, "`launch` is {launch}, and at most {LAUNCHES}");
    Ok(())
}

fn number(what: &str, value: u64) -> Result<()> {
    ensure!(value <= NUMBER, "`{what}` is {value}, and at most {NUMBER}");
    Ok(())
}

fn time(what: &str, value: f64) -> Result<()> {
    ensure!((0.0..=TIME).contains(&value), "`{what}` is {value}, which is no time");
    Ok(())
}

fn name(text: &str) -> Result<()> {
    at_most("bytes of a name", text.len(), NAME)
}

fn at_most(what: &str, count: usize, most: usize) -> Result<()> {
    ensure!(count <= most, "has {count} {what}, and at most {most} are read");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with the record.
    fn wrong(line: &str) -> String {
        let record: Record = serde_json::from_str(line).unwrap();
        check(&record).map_or_else(|error| format!("{error:#}"), |()| String::new())
    }

    fn block(field: &str) -> String {
        format!(
            r#"{{"record":"block","env":"a","case":0,"round":1,"place":0,"asked_ns":1,"outer_ns":1,
               "iterations":1,"samples":[[1]],"start_ns":1,"end_ns":2,"pinned":true,
               "usage":{{"user_ns":0,"system_ns":0,"minor_faults":0,"major_faults":0,
               "voluntary_switches":0,"involuntary_switches":0}}{field}}}"#
        )
    }

    #[test]
    fn what_envtax_writes_is_within_the_limits() {
        assert_eq!(wrong(&block("")), "");
        assert_eq!(wrong(r#"{"record":"end","reason":"budget","elapsed_s":1e6}"#), "");
    }

    #[test]
    fn numbers_that_cannot_be_are_named() {
        let launch = |value: &str| {
            format!(r#"{{"record":"launch","env":"a","launch":0,"started_in_ms":{value}}}"#)
        };
        for value in ["-1", "1e300", "-1e-9"] {
            assert!(wrong(&launch(value)).contains("`started_in_ms`"), "{value}");
        }
        let huge = u64::MAX;
        for (field, name) in [
            (format!(r#","launch":{}"#, u32::MAX), "`launch`"),
            (format!(r#","outside_cpu_ns":{huge}"#), "`outside_cpu_ns`"),
            (format!(r#","extras":{{"counters":{{"a":{huge}}}}}"#), "`counters`"),
            (format!(r#","extras":{{"latencies":{{"a":[[1,{huge}]]}}}}"#), "`latencies`"),
            (format!(r#","extras":{{"floor_bytes":{huge}}}"#), "`floor_bytes`"),
        ] {
            assert!(wrong(&block(&field)).contains(name), "{field}: {}", wrong(&block(&field)));
        }
        let sample = block("").replace("[[1]]", &format!("[[{huge}]]"));
        assert!(wrong(&sample).contains("`samples`"));
        let faults = block("").replace("\"minor_faults\":0", &format!("\"minor_faults\":{huge}"));
        assert!(wrong(&faults).contains("`minor_faults`"));
        let clock = block("").replace("\"end_ns\":2", &format!("\"end_ns\":{huge}"));
        assert!(wrong(&clock).contains("`end_ns`"));
        assert!(wrong(r#"{"record":"end","reason":"budget","elapsed_s":-1}"#).contains("elapsed"));
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let notes = vec!["x"; EXTRAS + 1];
        let text = block(&format!(r#","extras":{{"notes":{}}}"#, serde_json::json!(notes)));
        assert!(wrong(&text).contains("has 101 notes, and at most 100"), "{}", wrong(&text));
        let long = "x".repeat(NAME + 1);
        let text = format!(r#"{{"record":"environment","name":"{long}"}}"#);
        assert!(wrong(&text).contains("bytes of a name"));
        let facts: BTreeMap<String, String> =
            (0..=FACTS).map(|at| (at.to_string(), String::new())).collect();
        let facts = serde_json::json!(facts);
        let text = format!(r#"{{"record":"environment","name":"a","facts":{facts}}}"#);
        assert!(wrong(&text).contains("facts"));
    }
}
