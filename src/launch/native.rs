//! The machine itself.

use anyhow::{Result, ensure};

use super::{Launch, Launcher, LauncherInfo};

pub struct Native;

static INFO: LauncherInfo = LauncherInfo {
    kind: "native",
    usage: "native",
    summary: "the system that envtax runs on, with nothing in between",
    remedy: "run the command above by hand",
    example: Some("native"),
    serves_calls: false,
};

impl Launcher for Native {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>> {
        ensure!(argument.is_empty(), "`native` takes no argument");
        Ok(vec![Launch::new([agent, "agent", "--self", agent])])
    }
}
