//! PRoot: every system call stopped and translated in user space by ptrace.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, folder_of, needs_program};
use crate::model::Availability;

pub struct Proot;

static INFO: LauncherInfo = LauncherInfo {
    kind: "proot",
    usage: "proot[:DIR]",
    summary: "PRoot, which traces every system call; with DIR, that folder as root",
    remedy: "apt-get install proot; it needs ptrace, which some containers forbid",
    example: Some("proot"),
    serves_calls: true,
};

impl Launcher for Proot {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("proot", "apt-get install proot")
    }

    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>> {
        let mut words = vec!["proot"];
        if !argument.is_empty() {
            let root = folder_of(argument, INFO.usage)?;
            words.extend(["-r", root, "-b", "/proc", "-b", "/dev", "-b", agent]);
        }
        words.extend([agent, "agent", "--self", agent]);
        Ok(vec![Launch::new(words)])
    }
}
