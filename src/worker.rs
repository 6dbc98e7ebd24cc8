//! A fresh process that measures one block, or tunes one case, and exits.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::measure::{self, BlockSettings};
use crate::model::Availability;
use crate::probe::{self, CannotMeasure, Scratch, Setup};
use crate::protocol::{Answer, Tuning, WorkerOrder};
use crate::sys;

/// Reads one order from standard input, carries it out and prints one answer.
pub fn run() -> Result<()> {
    sys::die_with_parent();
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("reading the order")?;
    let order: WorkerOrder = serde_json::from_str(&text).context("the order is not one")?;
    let answer = match carry_out(&order) {
        Ok(answer) => answer,
        Err(error) => Answer::Failed { error: format!("{error:#}") },
    };
    let mut line = serde_json::to_string(&answer)?;
    line.push('\n');
    io::stdout().write_all(line.as_bytes()).context("answering the agent")
}

fn carry_out(order: &WorkerOrder) -> Result<Answer> {
    let task = &order.task;
    let probe = probe::find(&task.case.probe)?;
    let allowed_cpus = sys::allowed_cpus().unwrap_or_default();
    let pinned = task.cpu.is_some_and(|cpu| sys::pin_to(&[cpu]).is_ok());
    let scratch = Scratch::at(PathBuf::from(&order.scratch));
    let setup = Setup {
        params: &task.case.params,
        scratch: &scratch,
        cpu: task.cpu.filter(|_| pinned),
        other_cpu: task.other_cpu,
        allowed_cpus: &allowed_cpus,
    };
    if let Availability::Unavailable { reason, remedy } = probe.availability(&task.case.params) {
        return Ok(Answer::CannotMeasure { reason: format!("{reason}; {remedy}") });
    }
    let mut workload = match probe.prepare(&setup) {
        Ok(workload) => workload,
        Err(error) if error.is::<CannotMeasure>() => {
            return Ok(Answer::CannotMeasure { reason: format!("{error:#}") });
        }
        Err(error) => return Err(error),
    };
    let phases = probe.info().phases;
    let Some(size) = order.size else {
        let size = measure::tune(workload.as_mut(), phases, order.sample_ns)?;
        let (iterations, each_ns, most) = (size.iterations, size.each_ns, size.most);
        return Ok(Answer::Tuned(Tuning { iterations, each_ns, most }));
    };
    let settings = BlockSettings {
        iterations: size.iterations,
        samples: size.samples,
        discard: size.discard,
        limit_ns: size.limit_ns,
        extra_work: order.extra_work,
        ..BlockSettings::of(phases)
    };
    let mut block = measure::run_block(workload.as_mut(), &settings)?;
    block.pinned = pinned;
    Ok(Answer::Block(block))
}
