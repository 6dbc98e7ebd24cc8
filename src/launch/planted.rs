//! A native environment that does exactly PCT per cent more work than it reports: the known truth
//! for `bench/honesty`. Test builds only.

use anyhow::{Context, Result};

use super::{Launch, Launcher, LauncherInfo, Site, agent_words};

pub struct Planted;

static INFO: LauncherInfo = LauncherInfo {
    kind: "planted",
    usage: "planted:PCT",
    summary: "native, doing PCT % more work than it reports (test builds only)",
    notes: "Built with `--features planted` only.",
    ..LauncherInfo::COMMON
};

impl Launcher for Planted {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        share_of(argument).map(drop)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let share = share_of(site.argument)?.to_string();
        let extra = ["--extra-work", share.as_str()];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(extra))])
    }
}

fn share_of(argument: &str) -> Result<f64> {
    let percent: f64 = argument.parse().context("planted:PCT takes a number")?;
    Ok(percent / 100.0)
}
