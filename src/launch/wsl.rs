//! A Linux distribution in the Windows Subsystem for Linux, started from Windows.

use std::env::consts::ARCH;

use anyhow::{Context, Result, bail, ensure};

use super::binaries;
use super::{Launch, Launcher, LauncherInfo, Site, needs_program, staging};
use crate::model::Availability;

pub struct Wsl;

static INFO: LauncherInfo = LauncherInfo {
    kind: "wsl",
    usage: "wsl[:DISTRIBUTION[,user=NAME]]",
    summary: "a distribution of the Windows Subsystem for Linux, from Windows or from another one",
    notes: include_str!("wsl.md"),
    remedy: "make `wsl.exe -d DISTRIBUTION --exec true` work; `wsl.exe --list` names them",
    // The first start of a sleeping distribution boots its virtual machine.
    boot_limit_s: 60,
    ..LauncherInfo::COMMON
};

fn words(argument: &str) -> Result<Vec<&str>> {
    let mut parts = argument.split(',');
    let distribution = parts.next().unwrap_or_default();
    ensure!(
        !distribution.starts_with('-'),
        "`{distribution}` is not the name of a distribution: write `{}`",
        INFO.usage
    );
    let mut words = vec!["wsl.exe"];
    if !distribution.is_empty() {
        words.extend(["--distribution", distribution]);
    }
    for part in parts {
        match part.split_once('=') {
            Some(("user", name)) if !name.is_empty() => words.extend(["--user", name]),
            _ => bail!("`{part}` is not an option of `wsl`: write `{}`", INFO.usage),
        }
    }
    words.push("--exec");
    Ok(words)
}

impl Launcher for Wsl {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("wsl.exe", "install WSL with `wsl --install`, or run envtax on Windows")
    }

    fn check(&self, argument: &str) -> Result<()> {
        words(argument).map(drop)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let words = words(site.argument).context("the distribution")?;
        let mut launch =
            Launch::new(words.into_iter().map(str::to_owned).chain(staging::shell(ARCH)))
                // Otherwise `wsl` prints its own messages in UTF-16.
                .with_variable("WSL_UTF8", "1");
        launch.send_binary = true;
        // This binary is for Windows, and the distribution needs one for Linux.
        launch.build = binaries::find_linux(ARCH, site.agent)?;
        Ok(vec![launch])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    #[test]
    fn the_shell_is_executed_without_another_in_between() {
        let launch = Wsl.commands(&site_of("Debian,user=me")).unwrap().remove(0);
        let before = ["wsl.exe", "--distribution", "Debian", "--user", "me", "--exec", "sh", "-c"];
        assert_eq!(launch.words[..8], before);
        assert!(launch.send_binary);
        let launch = Wsl.commands(&site_of("")).unwrap().remove(0);
        assert_eq!(launch.words[..3], ["wsl.exe", "--exec", "sh"]);
    }

    #[test]
    fn arguments_are_checked() {
        let error = |argument: &str| format!("{:#}", Wsl.check(argument).unwrap_err());
        assert!(error("-d").contains("not the name of a distribution"));
        assert!(error("Debian,root").contains("`root` is not an option"));
    }
}
