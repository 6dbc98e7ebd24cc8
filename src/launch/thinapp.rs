//! VMware ThinApp: a program in the virtual environment of a package.

use anyhow::{Result, ensure};

use super::{Launch, Launcher, LauncherInfo, Site};

pub struct Thinapp;

static INFO: LauncherInfo = LauncherInfo {
    kind: "thinapp",
    usage: "thinapp:ENTRYPOINT",
    summary: "inside a package of VMware ThinApp, on Windows, by its entry point `cmd.exe`",
    notes: include_str!("thinapp.md"),
    remedy: "check by hand that `ENTRYPOINT /d /c echo hello` prints hello",
    boot_limit_s: 60,
    only_on: Some("windows"),
    ..LauncherInfo::COMMON
};

impl Launcher for Thinapp {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        ensure!(
            !argument.is_empty(),
            "the package's entry point is missing: write `{}`, the path of its cmd.exe",
            INFO.usage
        );
        Ok(())
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        // Windows tells the agent its own path, so no more words are needed.
        Ok(vec![Launch::new([site.argument, "/d", "/c", site.agent, "agent"])])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    #[test]
    fn the_entry_point_runs_the_agent() {
        let entry = r"C:\Packages\App\cmd.exe";
        let launch = Thinapp.commands(&site_of(entry)).unwrap().remove(0);
        assert_eq!(launch.words, [entry, "/d", "/c", "/x/envtax", "agent"]);
        assert!(Thinapp.check("").unwrap_err().to_string().contains("thinapp:ENTRYPOINT"));
    }
}
