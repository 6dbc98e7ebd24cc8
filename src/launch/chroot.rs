//! Another root folder. The agent enters it by itself, so nothing is copied into it.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, is_folder};

pub struct Chroot;

static INFO: LauncherInfo = LauncherInfo {
    kind: "chroot",
    usage: "chroot:DIR",
    summary: "the folder DIR as root; nothing needs to be in it",
    notes: "The agent opens its own binary before it enters and starts workers from the open\n\
            file: not even `/proc` has to be mounted in DIR.",
    remedy: "run as root, or allow user namespaces (see `namespace`)",
    example: Some("chroot:/"),
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

impl Launcher for Chroot {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        is_folder(argument, INFO.usage)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let place = format!("chroot:{}", site.argument);
        let enter = ["--enter", place.as_str()];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(enter))])
    }
}
