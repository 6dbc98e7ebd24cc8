//! The load of `--load N`: busy processes that run as long as the run. They are not pinned, so the
//! system places them like other programs.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::settings::SessionSettings;
use crate::cleanup::guard::Watch;
use crate::sys;

/// Busy processes. They end when this value is dropped.
pub(super) struct BusyProcesses {
    children: Vec<(Child, Watch)>,
}

impl BusyProcesses {
    pub(super) fn start(count: u32, settings: &SessionSettings<'_>) -> Result<BusyProcesses> {
        // If one does not start, dropping the value ends those that did.
        let mut busy = BusyProcesses { children: Vec::new() };
        for _ in 0..count {
            let mut command = Command::new(&settings.agent);
            // The process ends when its input closes, so it ends with the controller in any case.
            command.arg("busy").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            sys::new_session(&mut command);
            let child = command.spawn().context("starting a busy process for `--load`")?;
            let watch = settings.guard.watch(child.id());
            busy.children.push((child, watch));
        }
        Ok(busy)
    }
}

impl Drop for BusyProcesses {
    fn drop(&mut self) {
        for (child, _) in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
