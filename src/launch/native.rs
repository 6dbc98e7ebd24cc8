//! The machine itself.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, no_argument};

pub struct Native;

static INFO: LauncherInfo = LauncherInfo {
    kind: "native",
    usage: "native",
    summary: "the system that envtax runs on, with nothing in between",
    notes: "The agent is started as any other program of this user. Two of them (`--env a=native\n\
            --env b=native`) show what envtax itself adds: they should not differ.",
    example: Some("native"),
    ..LauncherInfo::COMMON
};

impl Launcher for Native {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        no_argument(argument, INFO.kind)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        Ok(vec![Launch::new(agent_words(site.agent))])
    }
}
