//! The machine itself behind a seccomp filter: the part of a container that every system call
//! passes.

use anyhow::{Error, Result};

use super::{Launch, Launcher, LauncherInfo, Site, agent_words};
use crate::sys;

pub struct Seccomp;

static INFO: LauncherInfo = LauncherInfo {
    kind: "seccomp",
    usage: "seccomp[:PROFILE]",
    summary: "the machine itself behind the seccomp filter of a container; needs nothing installed",
    notes: include_str!("seccomp.md"),
    remedy: "the kernel needs CONFIG_SECCOMP_FILTER, and a sandbox around envtax must let it \
             install filters",
    example: Some("seccomp"),
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// The profile that is used when none is named.
const DEFAULT: &str = "container";

fn profile(argument: &str) -> &str {
    if argument.is_empty() { DEFAULT } else { argument }
}

impl Launcher for Seccomp {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        sys::check_seccomp(profile(argument)).map_err(Error::msg)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let place = format!("seccomp:{}", profile(site.argument));
        let enter = ["--enter", place.as_str()];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(enter))])
    }
}
