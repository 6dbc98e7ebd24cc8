//! `envtax doctor`: what can be started and measured here, how noisy it is, and why not.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::DoctorArgs;
use crate::control::{Guard, Session, SessionSettings, Trouble};
use crate::exit::Exit;
use crate::launch::{self, LAUNCHERS};
use crate::model::{Availability, EnvSpec};
use crate::{facts, measure, units};

pub fn run(args: &DoctorArgs) -> Result<Exit> {
    let envtax = std::env::current_exe().context("finding the path of envtax itself")?;
    let guard = Guard::start(&envtax)?;
    let settings = SessionSettings {
        agent: envtax,
        guard: &guard,
        answer_limit: args.answer_timeout,
        interrupted: &|| false,
    };
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

fn machine() -> String {
    let facts = facts::environment();
    let mut text = String::from("this machine\n");
    for name in ["kernel", "distribution", "cpu", "hypervisor", "clock_source", "governor"] {
        if let Some(value) = facts.get(name) {
            text.push_str(&format!("  {name:<14} {value}\n"));
        }
    }
    let clock = measure::calibrate_clock();
    text.push_str(&format!("  {:<14} {} a reading\n", "clock", units::time(clock.cost_ns)));
    if let Some(load) = facts.get("load_1min") {
        text.push_str(&format!("  {:<14} {load} ({})\n", "load", busy()));
    }
    text
}

/// How much of a second of work other programs would have taken.
fn busy() -> String {
    let before = facts::cpu_ticks();
    std::thread::sleep(Duration::from_millis(500));
    let steal = before.zip(facts::cpu_ticks()).map(|((steal, total), (later, later_total))| {
        let total = later_total.saturating_sub(total).max(1) as f64;
        later.saturating_sub(steal) as f64 / total
    });
    match steal {
        Some(share) => format!("steal {}", units::percent(share)),
        None => "steal unknown".into(),
    }
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
    match Session::start(spec, settings) {
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
