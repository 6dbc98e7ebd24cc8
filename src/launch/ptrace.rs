//! The machine itself with a tracer that stops every system call.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, no_argument};

pub struct Ptrace;

static INFO: LauncherInfo = LauncherInfo {
    kind: "ptrace",
    usage: "ptrace",
    summary: "the machine itself, every system call stopped by a tracer; needs nothing installed",
    notes: include_str!("ptrace.md"),
    remedy: "allow ptrace: sysctl kernel.yama.ptrace_scope must not be 3; containers may need \
             `--cap-add SYS_PTRACE`",
    example: Some("ptrace"),
    serves_calls: true,
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

impl Launcher for Ptrace {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        no_argument(argument, INFO.kind)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let enter = ["--enter", "ptrace"];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(enter))])
    }
}
