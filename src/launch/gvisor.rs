//! gVisor: a kernel in user space (the sentry) that answers the container's system calls.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use super::oci::{self, Options, Runtime, bundle, root};
use super::{Launch, Launcher, LauncherInfo, Site, UserRoot};
use crate::model::{Availability, DATA_DIR, TargetDir};
use crate::sys;

pub struct Gvisor;

/// Names the binary; it goes before the search path.
const VARIABLE: &str = "ENVTAX_RUNSC";

static INFO: LauncherInfo = LauncherInfo {
    kind: "gvisor",
    usage: "gvisor[:OPTIONS]",
    summary: "a container of gVisor's runsc, over a root file system of yours or a minimal one",
    notes: include_str!("gvisor.md"),
    remedy: "CGO_ENABLED=0 go install \
             gvisor.dev/gvisor/runsc@v0.0.0-20260905035102-160fafc42237 builds runsc into ~/go/bin \
             (Go 1.26 or later; with cgo it does not start)",
    programs: "give it the files of this machine: `--env gvisor:rootfs=/`",
    example: Some("gvisor"),
    staged: true,
    version_command: &["runsc", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

const OPTIONS: [&str; 4] = ["rootfs", "platform", "overlay", "directfs"];

/// gVisor's gofer makes the files that it mounts on in the root folder, and does not use its
/// `/dev`. A tmpfs covers that, so that nothing is made in a user's folder.
const COVER_DEV: &str = "mount --rbind \"$1\" \"$2\" && mount -t tmpfs none \"$2/dev\"";

fn options(argument: &str) -> Result<Options<'_>> {
    let options = Options::read(argument, INFO.usage, &OPTIONS)?;
    root::check(&options)?;
    options.one_of("platform", &["systrap", "ptrace", "kvm"])?;
    options.one_of("directfs", &["true", "false"])?;
    Ok(options)
}

/// The path of runsc: from the variable, from the search path, or where Go installs it.
pub(super) fn runsc() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    let installed = env::var_os("HOME").map(|home| Path::new(&home).join("go/bin/runsc"));
    let named = named.filter(|path| path.is_file());
    named.or_else(|| sys::find_program("runsc")).or(installed.filter(|path| path.is_file()))
}

fn runtime(site: &Site<'_>, options: &Options<'_>) -> Result<Runtime> {
    let program = runsc().context("there is no `runsc`")?;
    let program = program.to_str().context("the path of runsc is not UTF-8")?;
    let mut flags = vec!["--network=none".to_owned(), "--ignore-cgroups".to_owned()];
    if !sys::is_root() {
        flags.push("--rootless".into());
    }
    for name in ["platform", "directfs"] {
        flags.extend(options.get(name).map(|value| format!("--{name}={value}")));
    }
    // By default the container's writes go to a file in the root folder, which may be the user's.
    let in_stage = || format!("root:dir={}", site.stage.display());
    let own = options.get("rootfs").map(|_| in_stage());
    let overlay = options.get("overlay").map(str::to_owned).or(own);
    flags.extend(overlay.map(|overlay| format!("--overlay2={overlay}")));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    Ok(Runtime::new(program, site, &flags))
}

/// Whether these are data made for the run, which the root shows anyway: a program's files lie in
/// the root. In a mount, gVisor asks the machine again for each component of a path.
fn in_root(dir: &TargetDir, options: &Options<'_>) -> bool {
    let Some(root) = options.get("rootfs").filter(|_| dir.made == DATA_DIR) else { return false };
    let shown = Path::new(root).join(dir.path.trim_start_matches('/')).canonicalize();
    shown.is_ok_and(|shown| Path::new(&dir.path).canonicalize().is_ok_and(|it| it == shown))
}

/// An error if KVM cannot run ordinary guests here. If the processor shows no virtualisation, the
/// device comes from a hypervisor that only runs guests made for it, and gVisor hangs.
fn kvm(device: &Path, cpus: &str) -> Result<()> {
    let remedy = "leave `platform=kvm` out, or use a machine with hardware virtualisation";
    ensure!(device.exists(), "there is no `{}`: {remedy}", device.display());
    let flags = cpus.lines().filter(|line| line.starts_with("flags"));
    let can = flags.flat_map(str::split_whitespace).any(|flag| ["vmx", "svm"].contains(&flag));
    if !can {
        bail!(
            "`{}` is there, but the CPU has neither `vmx` nor `svm`: such a KVM runs no ordinary \
             guests, and gVisor would hang; {remedy}",
            device.display()
        );
    }
    fs::OpenOptions::new().read(true).write(true).open(device).map(drop).with_context(|| {
        format!("opening `{}`; join its group (often `kvm`) or be root", device.display())
    })
}

impl Launcher for Gvisor {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        match runsc() {
            Some(_) => Availability::Available,
            None => Availability::Unavailable {
                reason: format!(
                    "there is no `runsc` on the search path, in ~/go/bin or named by {VARIABLE}"
                ),
                remedy: INFO.remedy.to_owned(),
            },
        }
    }

    fn check(&self, argument: &str) -> Result<()> {
        options(argument).map(drop)
    }

    fn user_root<'a>(&self, site: &Site<'a>) -> Option<UserRoot<'a>> {
        root::of_user(site, &options(site.argument).ok()?)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        let runtime = options(site.argument).and_then(|options| runtime(site, &options));
        runtime.map(|runtime| runtime.delete(site)).into_iter().collect()
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let options = options(site.argument)?;
        let dirs: Vec<TargetDir> =
            site.dirs.iter().filter(|dir| !in_root(dir, &options)).cloned().collect();
        let site = &Site { dirs: &dirs, ..*site };
        if options.get("platform") == Some("kvm") {
            kvm(Path::new("/dev/kvm"), &fs::read_to_string("/proc/cpuinfo").unwrap_or_default())?;
        }
        let root = site.stage.join("root");
        bundle::write_over(&root, site, &options, bundle::User::Same)?;
        if options.get("rootfs").is_some() {
            ensure!(
                sys::is_root(),
                "only root can give gVisor a folder without making files in it"
            );
            fs::create_dir(root).context("making a folder in the stage")?;
        }
        Ok(())
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let options = options(site.argument)?;
        let words = runtime(site, &options)?.run(site);
        let Some(folder) = options.get("rootfs") else { return Ok(vec![Launch::new(words)]) };
        let inputs = [oci::absolute(folder)?, site.in_stage("root")];
        Ok(vec![Launch::new(oci::in_private_mounts(COVER_DEV, &inputs, words))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kvm_that_would_hang_is_refused() {
        let error = |cpus: &str| kvm(Path::new("/dev/null"), cpus).unwrap_err().to_string();
        assert!(error("flags\t\t: fpu sse2\n").contains("neither `vmx` nor `svm`"));
        assert!(error("bugs\t: svm\n").contains("neither"), "not a flag");
        kvm(Path::new("/dev/null"), "flags\t\t: fpu svm sse2\n").unwrap();
        let missing = kvm(Path::new("/no/such/kvm"), "").unwrap_err().to_string();
        assert!(missing.contains("there is no `/no/such/kvm`"), "{missing}");
    }

    #[test]
    fn data_that_the_root_shows_lie_in_the_root() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().to_str().unwrap().to_owned();
        let dir =
            |made: &str| TargetDir { name: "d".into(), path: path.clone(), made: made.into() };
        let with = |argument: &str, made: &str| in_root(&dir(made), &options(argument).unwrap());
        assert!(with("rootfs=/", DATA_DIR));
        assert!(!with("rootfs=/", ""), "a directory of the user is measured as a mount");
        assert!(!with("", DATA_DIR), "the minimal root does not show it");
        let other = tempfile::tempdir().unwrap();
        for folder in ["dev", "proc"] {
            fs::create_dir(other.path().join(folder)).unwrap();
        }
        let argument = format!("rootfs={}", other.path().display());
        assert!(!with(&argument, DATA_DIR), "another root does not show it");
    }

    #[test]
    fn options_are_checked() {
        let error = |argument: &str| options(argument).unwrap_err().to_string();
        assert!(error("platform=xen").contains("systrap, ptrace, kvm"));
        assert!(error("directfs=1").contains("true, false"));
        assert!(error("seccomp=default").contains("no option `seccomp`"));
        options("platform=ptrace,overlay=root:memory,directfs=false").unwrap();
    }
}
