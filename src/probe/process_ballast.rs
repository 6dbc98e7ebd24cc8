//! Forking a process that has much memory.

use anyhow::{Context, Result};

use super::process_fork::ProcessFork;
use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, held};
use crate::measure::{Stopwatch, Workload};
use crate::model::Phase;
use crate::sys;
use crate::units::bytes_exact;

pub struct ProcessBallast;

static INFO: ProbeInfo = ProbeInfo {
    id: "process.ballast",
    summary: "fork a parent with much memory, and reap the child",
    timed: "As process.fork, with anonymous memory in the parent: `kind=mapped` only mapped, \
            `kind=written` with every page written. `create` contains the copy of the parent's \
            page tables, `reap` their release. `pages=small`: base pages, huge ones kept out by \
            advice; `pages=huge`: transparent huge pages, by advice.",
    excluded: "Mapping and writing the memory, once a block. Neither parent nor child touches it \
             afterwards, so no page is copied. process.fork is the same without this memory. The \
             worker has other memory too, so that `create` of process.fork costs a sixth more \
             and `reap` a third more than in a bare C program.",
    unit: "process",
    source: "\"A rough comparison of the performance of WSL and guest and native Ubuntu\" \
             (2017): fork with 256 MB untouched and written; lmbench lat_proc fork",
    phases: &[Phase::timed("create"), Phase::timed("reap")],
    params: &[
        Param::one_of("kind", &["mapped", "written"]),
        Param::bytes("amount", 0..=1 << 30),
        Param::one_of("pages", &["small", "huge"]),
    ],
    cases: &[
        "kind=mapped amount=256MiB pages=small",
        "kind=written amount=256MiB pages=small",
        "kind=written amount=64MiB pages=huge",
    ],
    on_files: false,
};

struct Fork {
    /// Unmapped when the block is done.
    _ballast: sys::Ballast,
}

impl Probe for ProcessBallast {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let amount = setup.bytes("amount")?;
        let page = match setup.param("pages")? {
            "huge" => Some(sys::huge_page_size().ok_or_else(|| {
                CannotMeasure("this system has no transparent huge pages".into())
            })?),
            _ => None,
        };
        if let Some(page) = page {
            let page = page as u64;
            let text = bytes_exact(page);
            if amount % page != 0 {
                let reason = format!("`amount` must be a multiple of {text} in huge pages");
                return Err(CannotMeasure(reason).into());
            }
        }
        let written = setup.param("kind")? == "written";
        if written {
            room_for(amount, sys::memory_room().as_ref())?;
        }
        let mut ballast = sys::Ballast::map(amount as usize, page)
            .with_context(|| format!("mapping {}", bytes_exact(amount)))?;
        if written {
            ballast.write();
        }
        if written && page.is_some() {
            all_huge(&ballast, amount)?;
        }
        Ok(Box::new(Fork { _ballast: ballast }))
    }
}

/// An error where there is too little memory. The amount is not lowered, because it defines the
/// operation.
fn room_for(amount: u64, room: Option<&sys::Room>) -> Result<()> {
    let Some(room) = room else {
        let reason = format!("whether {} are free is not to be seen here", bytes_exact(amount));
        return Err(CannotMeasure(reason).into());
    };
    held::fits_in(amount, room, "ask for a smaller `amount`")
}

fn all_huge(ballast: &sys::Ballast, amount: u64) -> Result<()> {
    let huge = ballast.huge_bytes().context("looking for huge pages in /proc/self/smaps")?;
    if huge >= amount {
        return Ok(());
    }
    let (wanted, huge) = (bytes_exact(amount), huge >> 20);
    Err(CannotMeasure(format!(
        "only {huge} MiB of {wanted} became huge pages; is \
         /sys/kernel/mm/transparent_hugepage/enabled `never`, or memory fragmented?"
    ))
    .into())
}

impl Workload for Fork {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        ProcessFork.run(iterations, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Params;
    use crate::probe::Scratch;

    fn prepared(params: &str) -> Result<Box<dyn Workload>> {
        let scratch = Scratch::at("unused".into());
        let params = &Params::new(params);
        let allowed_cpus = &[];
        let setup = Setup { params, scratch: &scratch, cpu: None, other_cpu: None, allowed_cpus };
        ProcessBallast.prepare(&setup)
    }

    #[test]
    fn too_much_memory_is_told_with_figures() {
        let room = sys::Room { left: 300 << 20, limit: "memory.max of the cgroup is 9".into() };
        let error = room_for(256 << 20, Some(&room)).unwrap_err();
        assert!(error.is::<CannotMeasure>());
        let text = error.to_string();
        assert!(text.starts_with("256MiB of memory are too much: 300 MiB are left ("), "{text}");
        assert!(room_for(150 << 20, Some(&room)).is_ok());
        assert!(room_for(0, None).is_err());
    }

    #[test]
    fn any_amount_can_be_asked_for() {
        assert!(prepared("kind=written amount=0B pages=small").is_ok());
        assert!(prepared("kind=mapped amount=1GiB pages=small").is_ok());
        let odd = prepared("kind=written amount=5MiB pages=huge").err().unwrap();
        assert!(odd.is::<CannotMeasure>() || odd.to_string().contains("multiple of"), "{odd}");
    }
}
