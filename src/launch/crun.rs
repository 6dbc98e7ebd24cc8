//! crun, the OCI runtime in C that podman uses where it is installed.

use anyhow::{Result, ensure};

use super::oci::{self, Runtime, bundle, root};
use super::{Launch, Launcher, LauncherInfo, Site, UserRoot, needs_program};
use crate::model::Availability;
use crate::sys;

pub struct Crun;

static INFO: LauncherInfo = LauncherInfo {
    kind: "crun",
    usage: "crun[:OPTIONS]",
    summary: "a container of the runtime crun; over a root file system of yours or a minimal one",
    notes: include_str!("crun.md"),
    remedy: "apt-get install crun; as another user than root, allow user namespaces",
    programs: "give it the files of this machine: `--env crun:rootfs=/`",
    example: Some("crun"),
    staged: true,
    version_command: &["crun", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// crun refuses a machine that mixes both versions of control groups. In a mount namespace of its
/// own it sees version 2 alone, without any controller.
const PURE_CGROUPS: &str = "umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup";

/// Without control groups of its own: they would need more rights than a measured container should
/// have, and nothing is limited here.
fn runtime(site: &Site<'_>) -> Runtime {
    Runtime::new("crun", site, &["--cgroup-manager=disabled"])
}

/// The command, after the mounts that it needs.
fn wrapped(before: Option<(&str, String)>, words: Vec<String>) -> Vec<String> {
    let (script, folder) = before.unzip();
    let cgroups = oci::mixed_cgroups().then_some(PURE_CGROUPS);
    let scripts: Vec<&str> = script.into_iter().chain(cgroups).collect();
    match scripts.is_empty() {
        true => words,
        false => oci::in_private_mounts(&scripts.join(" && "), folder.as_slice(), words),
    }
}

impl Launcher for Crun {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("crun", INFO.remedy)
    }

    fn check(&self, argument: &str) -> Result<()> {
        bundle::options(argument, INFO.usage).map(drop)
    }

    fn user_root<'a>(&self, site: &Site<'a>) -> Option<UserRoot<'a>> {
        root::of_user(site, &bundle::options(site.argument, INFO.usage).ok()?)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        vec![wrapped(None, runtime(site).delete(site))]
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        ensure!(
            sys::is_root() || !oci::mixed_cgroups(),
            "crun refuses this machine's control groups, a mixture of version 1 and 2, and only \
             root can show it others: run envtax as root, or use `runc`"
        );
        let options = bundle::options(site.argument, INFO.usage)?;
        bundle::write(site, &options)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let before = bundle::before(site, &bundle::options(site.argument, INFO.usage)?);
        Ok(vec![Launch::new(wrapped(before, runtime(site).run(site)))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;

    #[test]
    fn a_bundle_is_run_and_deleted_under_the_same_name() {
        let site = site_of("");
        let words = Crun.commands(&site).unwrap()[0].words.join(" ");
        let start = "crun --root /stage/state --cgroup-manager=disabled";
        let run = format!("{start} run --bundle /stage envtax-0000aaaa-1");
        assert!(words.ends_with(&run), "{words}");
        let undo = Crun.undo(&site)[0].join(" ");
        let delete = format!("{start} delete --force envtax-0000aaaa-1");
        assert!(undo.ends_with(&delete), "{undo}");
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = |argument: &str| Crun.check(argument).unwrap_err().to_string();
        assert!(error("debian").contains("`debian` is no option: write `crun[:OPTIONS]`"));
        assert!(error("root=/x").contains("did you mean `rootfs`?"));
        assert!(error("rootfs=/no/such").contains("`/no/such` is not a folder"));
        assert!(error("seccomp=/no/such").contains("`default`, `unconfined` or a file"));
    }
}
