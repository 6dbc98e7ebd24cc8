//! Page faults that stand-in processes have of their own, before and beside what a script tells
//! them to touch. They are counted on this machine, as they depend on how envtax was built.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{PROGRAM, SCRIPT, TREE};
use crate::recording::script::{Instruction, Script, code};
use crate::sys::{self, CommandOrder};

/// Each script is carried out that often, and the least number of faults counts.
const RUNS: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);
/// A report is small.
const OUTPUT_LIMIT: u64 = 1 << 24;

/// Page faults of a stand-in process itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnFaults {
    /// Of a program that was executed, from its beginning to its end.
    pub program: u32,
    /// Of a child and of its parent after a fork.
    pub child: u32,
}

impl OwnFaults {
    /// Counts them in a folder that has the program and the tree.
    pub fn count(folder: &Path) -> Result<OwnFaults> {
        let plain = |code: u8, first: u32| Instruction { code, first, ..Instruction::default() };
        let end = plain(code::EXIT, 0);
        let alone = faults(folder, vec![vec![end]])?;
        let executed = faults(folder, vec![vec![plain(code::EXEC, 0), end]])?;
        let child = vec![plain(code::FORK, 1), plain(code::WAIT, 1), end];
        let forked = faults(folder, vec![child, vec![end]])?;
        let beyond = |count: u64| count.saturating_sub(alone) as u32;
        Ok(OwnFaults { program: beyond(executed), child: beyond(forked) })
    }
}

/// Page faults of all processes of that script together.
fn faults(folder: &Path, streams: Vec<Vec<Instruction>>) -> Result<u64> {
    let (script, report) = (folder.join(SCRIPT), folder.join("faults"));
    fs::write(&script, Script { streams, texts: vec![0] }.to_bytes())?;
    let text = |path: &Path| path.display().to_string();
    let (program, tree) = (folder.join(PROGRAM), folder.join(TREE));
    let words = [text(&program), "reenact".into(), text(&script), text(&tree), text(&report)];
    let never = sys::no_input().context("a pipe")?;
    let order = CommandOrder {
        words: &words,
        stdin: None,
        stdout: None,
        stderr: None,
        limit_ns: LIMIT.as_nanos() as u64,
        output_limit: OUTPUT_LIMIT,
    };
    let mut least = u64::MAX;
    for _ in 0..RUNS {
        let end = sys::run_command(&order, &never).context("trying a stand-in process")?;
        ensure!(end.status.success(), "a stand-in process that does nothing ended with {}", {
            end.status
        });
        least = least.min(end.usage.minor_faults);
        fs::remove_file(&report)?;
    }
    fs::remove_file(&script)?;
    Ok(least)
}
