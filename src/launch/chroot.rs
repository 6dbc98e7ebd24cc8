//! Another root folder, entered by the agent itself, so that nothing is copied into it.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, folder_of};

pub struct Chroot;

static INFO: LauncherInfo = LauncherInfo {
    kind: "chroot",
    usage: "chroot:DIR",
    summary: "the folder DIR as root; nothing needs to be in it",
    remedy: "run as root, or allow user namespaces (see `namespace`)",
    example: Some("chroot:/"),
    serves_calls: false,
};

impl Launcher for Chroot {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>> {
        let place = format!("chroot:{}", folder_of(argument, INFO.usage)?);
        Ok(vec![Launch::new([agent, "agent", "--self", agent, "--enter", place.as_str()])])
    }
}
