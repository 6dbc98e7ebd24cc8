//! Boots a kernel with a program that ends at once. This control shows whether a failure is the
//! agent's or the kernel cannot run any program on this machine.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::archive::Archive;
use crate::cleanup::child;
use crate::sys;

/// Path of the program in the guest.
pub(in crate::launch) const INIT: &str = "/init";
/// How long the boot may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// What Linux prints when its first process ends with status 0.
const RAN: &str = "Attempted to kill init! exitcode=0x00000000";
/// How many lines from the beginning of the kernel's output are quoted.
const LINES: usize = 8;

/// What the control boot showed.
pub(in crate::launch) struct ControlBoot {
    /// The program was started and has ended.
    pub(in crate::launch) ran: bool,
    /// The kernel's first lines.
    pub(in crate::launch) printed: Vec<String>,
}

impl ControlBoot {
    /// Makes the archive with the program.
    pub(in crate::launch) fn make_archive(path: &Path) -> Result<()> {
        let mut archive = Archive::create(path)?;
        archive.add(INIT, sys::TINY_EXECUTABLE)?;
        archive.finish()
    }

    /// Runs the command that boots the kernel with the archive. Its output goes to `log`.
    pub(in crate::launch) fn run(words: &[String], log: &Path) -> Result<ControlBoot> {
        let (program, arguments) = words.split_first().context("an empty command")?;
        let output = File::create(log).with_context(|| format!("creating `{}`", log.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        sys::new_session(&mut command);
        let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
        let ended = child::ended_within(&mut child, TIME_LIMIT, &|| false);
        sys::end_group(child.id());
        let _ = child.kill();
        child.wait()?;
        ended?;
        let bytes = fs::read(log).with_context(|| format!("reading `{}`", log.display()))?;
        Ok(ControlBoot::of(&String::from_utf8_lossy(&bytes)))
    }

    fn of(output: &str) -> ControlBoot {
        let lines = output.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let printed = lines.take(LINES).map(|line| line.chars().take(300).collect()).collect();
        ControlBoot { ran: output.contains(RAN), printed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panic_after_the_program_ended_shows_that_it_ran() {
        let ran = "[    0.3] Kernel panic - not syncing: Attempted to kill init! \
                   exitcode=0x00000000\n";
        assert!(ControlBoot::of(ran).ran);
        let killed = ran.replace("00000000", "0000000b");
        let control = ControlBoot::of(&killed);
        assert!(!control.ran && control.printed.len() == 1, "a signal ended it");
    }
}
