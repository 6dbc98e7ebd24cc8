//! `envtax doctor`: what can be started and measured here, how noisy it is, and why not.

use std::cell::Cell;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cli::DoctorArgs;
use crate::control::{Guard, Session, SessionSettings, Trouble};
use crate::exit::Exit;
use crate::launch::{self, LAUNCHERS};
use crate::model::{Availability, EnvSpec};
use crate::protocol::{Answer, Ask};
use crate::{facts, measure, stage, stats, sys, units};

/// How long the noise of the machine is looked at.
const NOISE_TIME: Duration = Duration::from_millis(1500);
/// Work that is timed again and again: long enough to meet what a block of samples meets.
const LOOP_NS: u64 = 5_000_000;
/// Steps by which the speed of the loop is found.
const RATE_STEPS: u64 = 100_000;
/// Excess of the slowest tenth below which a machine counts as quiet.
const QUIET: f64 = 0.05;

pub fn run(args: &DoctorArgs) -> Result<Exit> {
    let envtax = std::env::current_exe().context("finding the path of envtax itself")?;
    let guard = Guard::start(&envtax)?;
    let settings = SessionSettings {
        agent: envtax,
        guard: &guard,
        answer_limit: args.answer_timeout,
        interrupted: &|| false,
        token: super::run::fresh_token(),
        launches: Cell::new(0),
    };
    if args.clean {
        return clean(args, &settings);
    }
    let mut text = machine();
    text.push_str("\nenvironments\n");
    if args.environments.is_empty() {
        for launcher in LAUNCHERS {
            let info = launcher.info();
            match info.example {
                None => text.push_str(&entry(info.usage, "?", "name a command, then ask again")),
                Some(example) => {
                    text.push_str(&try_start(&launch::parse_spec(example)?, &settings))
                }
            }
        }
    }
    for environment in &args.environments {
        text.push_str(&try_start(&launch::parse_spec(environment)?, &settings));
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Has an agent in each environment remove what killed runs left there.
fn clean(args: &DoctorArgs, settings: &SessionSettings<'_>) -> Result<Exit> {
    let native = [String::from("native")];
    let environments = if args.environments.is_empty() { &native[..] } else { &args.environments };
    let mut exit = Exit::Done;
    let mut text = String::new();
    let undone = stage::undo_dead();
    if !undone.is_empty() {
        text.push_str(&entry("launches", "", &format!("undone\n{}", undone.join("\n"))));
    }
    for environment in environments {
        let spec = launch::parse_spec(environment)?;
        // The token is of no run: nothing is measured under it.
        let ask = Ask::Dirs { paths: args.dirs.clone(), token: "00000000".into() };
        let answer = Session::start(&spec, &[], settings).and_then(|mut it| it.ask(ask, settings));
        let name = spec.spec();
        match answer {
            Ok(Answer::Dirs { dirs, removed }) => {
                let errors: Vec<String> = dirs.into_iter().filter_map(|dir| dir.error).collect();
                let found = match removed.is_empty() {
                    true => "nothing was left by killed runs".to_owned(),
                    false => format!("removed\n{}", removed.join("\n")),
                };
                if !errors.is_empty() {
                    exit = Exit::Partial;
                }
                text.push_str(&entry(&name, "", &[errors, vec![found]].concat().join("\n")));
            }
            other => {
                exit = Exit::Partial;
                let why = match other {
                    Err(Trouble::Dead(error) | Trouble::TimedOut(error)) => format!("{error:#}"),
                    _ => "the agent did not answer".into(),
                };
                text.push_str(&entry(&name, "no", &why));
            }
        }
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(exit)
}

/// What the machine says of itself, and how evenly it works.
fn machine() -> String {
    let facts = facts::environment();
    let mut text = String::from("this machine\n");
    let mut put = |name: &str, value: &str| text.push_str(&format!("  {name:<14} {value}\n"));
    for name in ["kernel", "distribution", "cpu", "hypervisor", "governor", "huge_pages"] {
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

/// Times the same work again and again, and says how unequal the times are.
fn noise() -> String {
    let rate = (0..5).map(|_| timed(RATE_STEPS)).min().unwrap_or(1).max(1);
    let steps = (LOOP_NS as u128 * u128::from(RATE_STEPS) / u128::from(rate)) as u64;
    let before = facts::cpu_ticks();
    let until = Instant::now() + NOISE_TIME;
    let mut times = Vec::new();
    while Instant::now() < until {
        times.push(timed(steps) as f64);
    }
    let steal = before.zip(facts::cpu_ticks()).map(|((steal, total), (later, later_total))| {
        later.saturating_sub(steal) as f64 / later_total.saturating_sub(total).max(1) as f64
    });
    let usual = stats::quantile(&times, 0.25).unwrap_or(1.0);
    let excess = stats::quantile(&times, 0.9).unwrap_or(usual) / usual - 1.0;
    reading(excess, steal)
}

/// By how much the slowest tenth exceeds the 25 % quantile, which costs are read at, in words.
fn reading(excess: f64, steal: Option<f64>) -> String {
    let steal = steal.map_or("unknown".into(), units::percent);
    let word = if excess < QUIET { "quiet (<" } else { "noisy (>" };
    let (excess, quiet) = (units::percent(excess), units::percent(QUIET));
    format!("slowest tenth of 5 ms loops +{excess}, {word} {quiet}), steal {steal}")
}

/// Time of so many steps of integer work, in ns.
fn timed(steps: u64) -> u64 {
    let start = Instant::now();
    let mut value = 1_u64;
    for step in 0..steps {
        value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
    }
    black_box(value);
    start.elapsed().as_nanos() as u64
}

/// Starts the environment for real and says how that went.
fn try_start(spec: &EnvSpec, settings: &SessionSettings<'_>) -> String {
    let name = spec.spec();
    let launcher = match launch::find(&spec.kind) {
        Ok(launcher) => launcher,
        Err(error) => return entry(&name, "no", &format!("{error:#}")),
    };
    if let Availability::Unavailable { reason, remedy } = launcher.detect() {
        return entry(&name, "no", &format!("{reason}\nremedy: {remedy}"));
    }
    match Session::start(spec, &[], settings) {
        Ok(session) => {
            let mut text =
                format!("starts in {}", units::time(session.started_in.as_nanos() as f64));
            for case in &session.hello.unavailable {
                let (probe, params) = (&case.probe, case.params.as_str());
                let (reason, remedy) = (&case.reason, &case.remedy);
                text.push_str(&format!("\nwithout {probe} {params}: {reason}; {remedy}"));
            }
            entry(&name, "yes", &text)
        }
        Err(Trouble::Interrupted) => entry(&name, "no", "interrupted"),
        Err(Trouble::Dead(error) | Trouble::TimedOut(error)) => {
            entry(&name, "no", &format!("{error:#}\nremedy: {}", launcher.info().remedy))
        }
    }
}

fn entry(name: &str, state: &str, text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut entry = format!("  {name:<16} {state:<4} {first}\n");
    for line in lines {
        entry.push_str(&format!("  {:<21} {}\n", "", line.trim_start()));
    }
    entry
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
