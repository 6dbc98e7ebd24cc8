//! A fresh process that measures one block, or tunes one case, and exits.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::measure::{self, BlockSettings};
use crate::model::{Availability, Failure};
use crate::probe::{self, Scratch, Setup};
use crate::protocol::{Answer, BlockSize, Tuning, WorkerOrder};
use crate::sys::{self, Copies};

/// Reads one order from standard input, carries it out and prints one answer.
pub fn run() -> Result<()> {
    sys::die_with_parent();
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("reading the order")?;
    let order: WorkerOrder = serde_json::from_str(&text).context("the line is not an order")?;
    let answer = match carry_out(&order) {
        Ok(answer) => answer,
        Err(error) if probe::cannot_measure(&error) => Answer::CannotMeasure(Failure::from(error)),
        Err(error) => Answer::Failed(Failure::from(error)),
    };
    let mut line = serde_json::to_string(&answer)?;
    line.push('\n');
    io::stdout().write_all(line.as_bytes()).context("answering the agent")
}

fn carry_out(order: &WorkerOrder) -> Result<Answer> {
    stays_inside(order)?;
    let params = &order.task.case.params;
    let copies = match params.get("copies") {
        Some(text) => text.parse().with_context(|| format!("`copies={text}` is no number"))?,
        None => 1,
    };
    let scratch = Scratch::at(PathBuf::from(&order.scratch));
    match order.size {
        // Tuning finds the shape of a block. How long a block takes beside others shows in the
        // blocks.
        Some(size) if copies > 1 => in_copies(order, size, copies, &scratch),
        _ => measure_here(order, 0, &scratch, None),
    }
}

/// An error if an emulator started this worker but does not run it: it would measure the machine.
fn stays_inside(order: &WorkerOrder) -> Result<()> {
    let name = |it: &Option<PathBuf>| {
        it.as_ref().map_or("no emulator".to_owned(), |path| format!("`{}`", path.display()))
    };
    let (own, agents) = (sys::emulator(), &order.emulator);
    ensure!(
        own == *agents,
        "the agent runs in {} and its worker in {}: use the environment kind `qemu-user`, which \
         starts workers by the emulator too",
        name(agents),
        name(&own)
    );
    Ok(())
}

/// Several processes do the block at the same time. The scratch folders of the others are in the
/// leader's, so that they are removed with it even if all processes are killed.
fn in_copies(order: &WorkerOrder, size: BlockSize, copies: usize, own: &Scratch) -> Result<Answer> {
    let phases = probe::find(&order.task.case.probe)?.info().phases.len();
    let folder = own.folder()?;
    let mut copies = Copies::start(copies, phases * size.samples).context("starting the copies")?;
    let scratch = Scratch::at(folder.join(format!("copy{}", copies.index())));
    let answer = measure_here(order, copies.index(), &scratch, Some(&copies));
    let reason = match &answer {
        Ok(Answer::Block(_)) => None,
        Ok(Answer::CannotMeasure(why)) => Some(why.what.clone()),
        Ok(_) => Some("it gave an unexpected answer".to_owned()),
        Err(error) => Some(format!("{error:#}")),
    };
    if let Some(reason) = &reason {
        copies.explain(reason);
        copies.give_up();
    }
    if copies.index() > 0 {
        drop(scratch);
        copies.exit(reason.is_none());
    }
    let finished = copies.finish();
    match (answer, copies.explanation(), finished) {
        (Err(_), Some(others), _) => bail!(others),
        (Err(error), None, Err(other)) => Err(error.context(other.to_string())),
        (answer, _, finished) if reason.is_none() => finished.map_err(Into::into).and(answer),
        (answer, ..) => answer,
    }
}

/// The work of the copy with that number; the number decides on its CPUs.
fn measure_here(
    order: &WorkerOrder,
    index: usize,
    scratch: &Scratch,
    copies: Option<&Copies>,
) -> Result<Answer> {
    let task = &order.task;
    let probe = probe::find(&task.case.probe)?;
    // Checked before this process is pinned, because it then sees one CPU only.
    if let Availability::Unavailable { reason, remedy } = probe.availability(&task.case.params) {
        return Ok(Answer::CannotMeasure(Failure::new(reason).or_remedy(remedy)));
    }
    let allowed_cpus = sys::allowed_cpus().unwrap_or_default();
    let nth = |cpu: usize| {
        let first = allowed_cpus.iter().position(|allowed| *allowed == cpu)?;
        allowed_cpus.get((first + index) % allowed_cpus.len()).copied()
    };
    let cpu = task.cpu.and_then(nth);
    let pinned = cpu.is_some_and(|cpu| sys::pin_to(&[cpu]).is_ok());
    let setup = Setup {
        params: &task.case.params,
        scratch,
        cpu: cpu.filter(|_| pinned),
        other_cpu: task.other_cpu.and_then(nth),
        allowed_cpus: &allowed_cpus,
    };
    let mut workload = match probe.prepare(&setup) {
        Ok(workload) => workload,
        Err(error) if probe::cannot_measure(&error) => {
            return Ok(Answer::CannotMeasure(Failure::from(error)));
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
    let mut block = measure::run_block(workload.as_mut(), &settings, copies)?;
    block.pinned = pinned;
    Ok(Answer::Block(Box::new(block)))
}
