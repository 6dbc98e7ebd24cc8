//! Microsoft App-V: a program in the virtual environment of a package.

use anyhow::{Result, ensure};

use super::{Launch, Launcher, LauncherInfo, Site};

pub struct Appv;

static INFO: LauncherInfo = LauncherInfo {
    kind: "appv",
    usage: "appv:PACKAGEGUID_VERSIONGUID",
    summary: "inside the virtual environment of a package of Microsoft App-V, on Windows",
    notes: include_str!("appv.md"),
    remedy: "check by hand that `cmd.exe /appvve:PACKAGEGUID_VERSIONGUID /d /c echo hello` prints \
             hello, and that `Get-AppvClientPackage` shows the package as published",
    boot_limit_s: 60,
    only_on: Some("windows"),
    ..LauncherInfo::COMMON
};

/// `8-4-4-4-12` hexadecimal digits.
fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().chars().all(|digit| digit.is_ascii_hexdigit())
}

impl Launcher for Appv {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        let two = argument.split_once('_');
        ensure!(
            two.is_some_and(|(package, version)| is_guid(package) && is_guid(version)),
            "`{argument}` is not `PACKAGEGUID_VERSIONGUID`, which PowerShell tells: \
             Get-AppvClientPackage -Name NAME | % {{ \"$($_.PackageId)_$($_.VersionId)\" }}"
        );
        Ok(())
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let switch = format!("/appvve:{}", site.argument);
        // Windows tells the agent its own path. A second quoted word would change how `cmd` reads
        // the first one.
        Ok(vec![Launch::new(["cmd.exe", &switch, "/d", "/c", site.agent, "agent"])])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    const PACKAGE: &str =
        "0dc50b1c-1f5b-4a3e-8f0f-aaaaaaaaaaaa_7c0f0d52-2f0e-4c39-9d05-bbbbbbbbbbbb";

    #[test]
    fn the_package_is_entered_by_the_switch() {
        let launch = Appv.commands(&site_of(PACKAGE)).unwrap().remove(0);
        let line = launch.words.join(" ");
        assert_eq!(line, format!("cmd.exe /appvve:{PACKAGE} /d /c /x/envtax agent"));
    }

    #[test]
    fn arguments_are_checked() {
        Appv.check(PACKAGE).unwrap();
        for bad in ["", "Firefox", &PACKAGE[1..], &PACKAGE.replace('_', "-")] {
            let error = Appv.check(bad).unwrap_err().to_string();
            assert!(error.contains("Get-AppvClientPackage -Name NAME | % {"), "{error}");
        }
    }
}
