//! PRoot: every system call stopped and translated in user space by ptrace.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, is_folder, needs_program};
use crate::model::Availability;

pub struct Proot;

static INFO: LauncherInfo = LauncherInfo {
    kind: "proot",
    usage: "proot[:DIR]",
    summary: "PRoot, which traces every system call; with DIR, that folder as root",
    notes: "Its tracer takes part in every system call and is kept on the CPU of the round. With\n\
            DIR, `/proc`, `/dev`, the agent and the target directories are bound into it.",
    remedy: "apt-get install proot; it needs ptrace, which some containers forbid",
    version_command: &["proot", "--version"],
    example: Some("proot"),
    serves_calls: true,
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

impl Launcher for Proot {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("proot", "apt-get install proot")
    }

    fn check(&self, argument: &str) -> Result<()> {
        if argument.is_empty() { Ok(()) } else { is_folder(argument, INFO.usage) }
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let mut words = vec!["proot"];
        if !site.argument.is_empty() {
            words.extend(["-r", site.argument]);
            let bound = ["/proc", "/dev", site.agent].into_iter().chain(site.host_dirs());
            bound.for_each(|path| words.extend(["-b", path]));
        }
        words.extend(agent_words(site.agent));
        Ok(vec![Launch::new(words)])
    }
}
