//! Linux namespaces, entered by the agent itself: what containers are made of, and nothing else.

use anyhow::{Result, ensure};

use super::{Launch, Launcher, LauncherInfo};

pub struct Namespace;

static INFO: LauncherInfo = LauncherInfo {
    kind: "namespace",
    usage: "namespace",
    summary: "new user, mount, pid, ipc and uts namespaces; needs nothing installed",
    remedy: "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0",
    example: Some("namespace"),
    serves_calls: false,
};

impl Launcher for Namespace {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>> {
        ensure!(argument.is_empty(), "`namespace` takes no argument");
        Ok(vec![Launch::new([agent, "agent", "--self", agent, "--enter", "namespace"])])
    }
}
