//! Shared by the container kinds: bundles, roots, options and filters. May use what `launch` uses.
//! Must not know one of the kinds, except their names in filters and errors.

pub(super) mod bundle;
pub(super) mod engine;
mod options;
pub(super) mod root;
pub(super) mod seccomp;

use std::fs;

use anyhow::{Context, Result, bail};

pub(super) use options::Options;

use super::Site;

/// The name of the launch's container, image and control group.
pub(super) fn name(site: &Site<'_>) -> String {
    format!("envtax-{}", site.id)
}

/// Target directories that are folders of this machine. `/` is left out: in a container it is the
/// container's own root.
pub(super) fn target_dirs<'a>(site: &'a Site<'_>) -> impl Iterator<Item = &'a str> {
    site.host_dirs().filter(|dir| *dir != "/")
}

/// Whether this machine mixes versions 1 and 2 of control groups in the way that crun refuses.
pub(super) fn mixed_cgroups() -> bool {
    fs::read_to_string("/sys/fs/cgroup/unified/cgroup.controllers")
        .is_ok_and(|controllers| !controllers.trim().is_empty())
}

/// The command, in a mount namespace of its own in which the shell script runs first with the
/// arguments `inputs`. Its mounts end with the last process inside.
pub(super) fn in_private_mounts(
    script: &str,
    inputs: &[String],
    words: Vec<String>,
) -> Vec<String> {
    let script = format!("{script} && shift {} && exec \"$@\"", inputs.len());
    let shell = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &script, "sh"];
    let shell = shell.map(str::to_owned).into_iter();
    shell.chain(inputs.iter().cloned()).chain(words).collect()
}

/// Binds the machine's own root to a folder of the stage, because no runtime can use `/` itself.
pub(super) const SHOW_ROOT: &str = "mount --rbind / \"$1\"";

/// Removes the control groups of that name, and tries until none is left: the last of their
/// processes may still be ending. Undo commands have a time limit.
const REMOVE_GROUPS: &str = "while [ \"$(find /sys/fs/cgroup -depth -type d -path \"*$1*\" \
    ! -delete -print 2>/dev/null)\" ]; do sleep 0.1; done";

/// The command that removes the launch's control groups. Podman always leaves them, and the other
/// runtimes leave them when they are killed.
pub(super) fn remove_cgroups(site: &Site<'_>) -> Vec<String> {
    ["sh", "-c", REMOVE_GROUPS, "sh", &name(site)].map(str::to_owned).to_vec()
}

/// Removes the state of containers that name the launch from low-level runtimes. The state's folder
/// has the container's name, and lies in a folder with the runtime's name.
const FORGET: &str = "grep -lsw \"$1\" /run/runc/*/state.json /run/crun/*/status \
    | while read -r state; do container=${state%/*}; runtime=${container%/*}; \
    \"${runtime##*/}\" delete --force \"${container##*/}\"; done";

/// The command that removes what the engine's runtime still knows of the launch: if a container's
/// monitor was killed, podman removes the container from its own records only.
pub(super) fn forget(site: &Site<'_>) -> Vec<String> {
    ["sh", "-c", FORGET, "sh", &name(site)].map(str::to_owned).to_vec()
}

/// A low-level runtime with the same commands as runc.
pub(super) struct Runtime {
    /// The program, and the options before its verb.
    pub(super) words: Vec<String>,
}

impl Runtime {
    pub(super) fn new(program: &str, site: &Site<'_>, more: &[&str]) -> Runtime {
        let state = site.in_stage("state");
        let words = [program, "--root", &state].into_iter().chain(more.iter().copied());
        Runtime { words: words.map(str::to_owned).collect() }
    }

    pub(super) fn run(&self, site: &Site<'_>) -> Vec<String> {
        let (bundle, name) = (site.stage.display().to_string(), name(site));
        self.with(&["run", "--bundle", &bundle, &name])
    }

    pub(super) fn delete(&self, site: &Site<'_>) -> Vec<String> {
        self.with(&["delete", "--force", &name(site)])
    }

    fn with(&self, more: &[&str]) -> Vec<String> {
        self.words.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
    }
}

/// A path for arguments whose parts are separated by colons; an error if it has a colon.
fn without_colon(path: &str) -> Result<&str> {
    if path.contains(':') {
        bail!("`{path}` cannot be mounted in a container: its path has a colon");
    }
    Ok(path)
}

/// The folder's absolute path, which runtimes need.
pub(super) fn absolute(folder: &str) -> Result<String> {
    let path = fs::canonicalize(folder).with_context(|| format!("looking for `{folder}`"))?;
    Ok(path.to_str().with_context(|| format!("the path of `{folder}` is not UTF-8"))?.to_owned())
}
