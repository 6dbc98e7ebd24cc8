//! Linux namespaces alone, of which containers are made. The agent enters them by itself.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, no_argument};

pub struct Namespace;

static INFO: LauncherInfo = LauncherInfo {
    kind: "namespace",
    usage: "namespace",
    summary: "new user, mount, pid, ipc and uts namespaces; needs nothing installed",
    notes: include_str!("namespace.md"),
    remedy: "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0",
    example: Some("namespace"),
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

impl Launcher for Namespace {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        no_argument(argument, INFO.kind)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let enter = ["--enter", "namespace"];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(enter))])
    }
}
