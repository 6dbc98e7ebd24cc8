//! A native environment that does exactly so many per cent more work than it reports: the known
//! truth against which `bench/honesty` holds intervals and verdicts. Test builds only.

use anyhow::{Context, Result};

use super::{Launch, Launcher, LauncherInfo};

pub struct Planted;

static INFO: LauncherInfo = LauncherInfo {
    kind: "planted",
    usage: "planted:PCT",
    summary: "native, doing PCT % more work than it reports (test builds only)",
    remedy: "run the command above by hand",
    example: None,
    serves_calls: false,
};

impl Launcher for Planted {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>> {
        let percent: f64 = argument.parse().context("planted:PCT takes a number")?;
        let share = (percent / 100.0).to_string();
        Ok(vec![Launch::new([agent, "agent", "--self", agent, "--extra-work", share.as_str()])])
    }
}
