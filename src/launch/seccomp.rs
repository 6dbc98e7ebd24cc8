//! The machine itself behind a seccomp filter: the part of a container that is felt at every
//! system call, alone.

use anyhow::{Error, Result};

use super::{Launch, Launcher, LauncherInfo, Site, agent_words};
use crate::sys;

pub struct Seccomp;

static INFO: LauncherInfo = LauncherInfo {
    kind: "seccomp",
    usage: "seccomp[:PROFILE]",
    summary: "the machine itself behind the seccomp filter of a container; needs nothing installed",
    notes: "The agent puts the filter on itself, for good, and its workers inherit it. All\n\
            else is as in `native`. PROFILE is one of:\n\
            \n\
            - `container`, the default: the default profile of podman for the capabilities\n\
            \x20 that podman gives by default. 310 of the 362 system calls of x86-64 are allowed.\n\
            - `allow`: the shortest filter there is, one instruction that allows everything.\n\
            - `FILE.json`: a profile as container engines take it, such as\n\
            \x20 `/usr/share/containers/seccomp.json` or Docker's `default.json`, for the same\n\
            \x20 capabilities. Actions that ask another process (`SCMP_ACT_NOTIFY`,\n\
            \x20 `SCMP_ACT_TRACE`) are not taken.\n\
            \n\
            The program finds the number of a call by halving, as libseccomp's binary tree\n\
            does and its usual list does not. Since Linux 5.11 neither is run for a call that\n\
            is always allowed. Programs of another architecture get the default action.\n\
            \n\
            Measured on Linux 6.18, x86-64, with `--env native --env seccomp --env\n\
            open=seccomp:allow --probe syscall.getppid --probe 'file.read size=4KiB'`: getppid\n\
            takes 109 ns natively and 1.16 times as long with `container` and with `allow`\n\
            alike; a cached read of 4 KiB 1.11 and 1.06 times. It is having a filter that\n\
            costs, some 17 ns a call, and not its length. The filters of nspawn and of\n\
            firejail's default profile cost as much (1.14 and 1.17 times). The filters for\n\
            64-bit Arm were never run.",
    remedy: "the kernel needs CONFIG_SECCOMP_FILTER, and a sandbox around envtax must let it \
             install filters",
    example: Some("seccomp"),
    ..LauncherInfo::COMMON
};

/// The profile when none is named.
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
