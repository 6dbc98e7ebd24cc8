//! The Windows side, from inside the Windows Subsystem for Linux.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::binaries::{self, WINDOWS};
use super::{Launch, Launcher, LauncherInfo, Site, no_argument};
use crate::model::Availability;

pub struct Windows;

static INFO: LauncherInfo = LauncherInfo {
    kind: "windows",
    usage: "windows",
    summary: "the Windows that this distribution of WSL runs on",
    notes: include_str!("windows.md"),
    remedy: "make `/mnt/c/Windows/System32/cmd.exe /c ver` work: interop is set in /etc/wsl.conf",
    boot_limit_s: 30,
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// The files in which WSL registers Windows programs with the kernel.
const INTEROP: &[&str] =
    &["/proc/sys/fs/binfmt_misc/WSLInterop", "/proc/sys/fs/binfmt_misc/WSLInterop-late"];

impl Launcher for Windows {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let inside = kernel.to_lowercase().contains("microsoft");
        let (reason, remedy) = match INTEROP.iter().any(|path| Path::new(path).exists()) {
            true => return Availability::Available,
            false if inside => ("WSL's interop is off", INFO.remedy),
            false => ("this is not a distribution of WSL", "run envtax inside WSL"),
        };
        Availability::Unavailable { reason: reason.into(), remedy: remedy.into() }
    }

    fn check(&self, argument: &str) -> Result<()> {
        no_argument(argument, INFO.kind)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let agent = binaries::find(&WINDOWS, site.agent)?;
        let agent = agent.to_str().context("the path of envtax.exe is not UTF-8")?;
        // Windows tells a program its own path; a Linux path would mean nothing there.
        Ok(vec![Launch::new([agent, "agent"])])
    }
}
