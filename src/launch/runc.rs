//! runc, the OCI runtime that docker uses.

use anyhow::Result;

use super::oci::{self, Runtime, bundle, root};
use super::{Launch, Launcher, LauncherInfo, Site, UserRoot, needs_program};
use crate::model::Availability;

pub struct Runc;

static INFO: LauncherInfo = LauncherInfo {
    kind: "runc",
    usage: "runc[:OPTIONS]",
    summary: "a container of the runtime runc; over a root file system of yours or a minimal one",
    notes: include_str!("runc.md"),
    remedy: "apt-get install runc; as another user than root, allow user namespaces",
    programs: "give it the files of this machine: `--env runc:rootfs=/`",
    example: Some("runc"),
    staged: true,
    version_command: &["runc", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

fn runtime(site: &Site<'_>) -> Runtime {
    Runtime::new("runc", site, &[])
}

impl Launcher for Runc {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("runc", INFO.remedy)
    }

    fn check(&self, argument: &str) -> Result<()> {
        bundle::options(argument, INFO.usage).map(drop)
    }

    fn user_root<'a>(&self, site: &Site<'a>) -> Option<UserRoot<'a>> {
        root::of_user(site, &bundle::options(site.argument, INFO.usage).ok()?)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        vec![runtime(site).delete(site), oci::remove_cgroups(site)]
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let options = bundle::options(site.argument, INFO.usage)?;
        bundle::write(site, &options)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let before = bundle::before(site, &bundle::options(site.argument, INFO.usage)?);
        let words = runtime(site).run(site);
        let words = match before {
            Some((script, folder)) => oci::in_private_mounts(script, &[folder], words),
            None => words,
        };
        Ok(vec![Launch::new(words)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;

    #[test]
    fn a_bundle_is_run_and_its_control_groups_go() {
        let site = site_of("");
        let words = Runc.commands(&site).unwrap()[0].words.join(" ");
        assert_eq!(words, "runc --root /stage/state run --bundle /stage envtax-0000aaaa-1");
        let undo: Vec<String> = Runc.undo(&site).iter().map(|words| words.join(" ")).collect();
        assert_eq!(undo[0], "runc --root /stage/state delete --force envtax-0000aaaa-1");
        assert!(undo[1].ends_with(" sh envtax-0000aaaa-1"), "{}", undo[1]);
    }
}
