//! The bundle that a low-level runtime reads: `config.json` (OCI runtime specification 1.0).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Options, SHOW_ROOT, name, root, seccomp, target_dirs};
use crate::launch::{Site, agent_words};
use crate::model::CONTAINER_CAPABILITIES;
use crate::sys;

/// The agent's path inside. It is on the tmpfs that every container has on `/dev`, so that a user's
/// root folder needs no file for it.
const AGENT: &str = "/dev/envtax";

/// The options of runc and crun.
const OPTIONS: [&str; 2] = ["rootfs", "seccomp"];

/// Parses and checks the argument of runc or crun.
pub(in crate::launch) fn options<'a>(argument: &'a str, usage: &str) -> Result<Options<'a>> {
    let options = Options::read(argument, usage, &OPTIONS)?;
    root::check(&options)?;
    seccomp::check(&options)?;
    Ok(options)
}

/// The user who is root in the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launch) enum User {
    /// The user that starts the runtime, or the one that the runtime makes root by itself.
    Same,
    /// The user that starts the runtime, mapped to root by a user namespace.
    Mapped,
}

/// Writes the bundle of a runtime that works in the root folder itself: in the user's, or in one
/// that is made in the stage.
pub(in crate::launch) fn write(site: &Site<'_>, options: &Options<'_>) -> Result<()> {
    let user = if sys::is_root() { User::Same } else { User::Mapped };
    if !root::is_machines(options) {
        return write_over(&root::folder(site, options)?, site, options, user);
    }
    ensure!(user == User::Same, "only root can have a container over the machine's own root");
    let root = site.stage.join("root");
    fs::create_dir(&root).context("making a folder in the stage")?;
    write_over(&root, site, options, user)
}

/// The shell script that must run before the runtime starts such a bundle, and its argument.
pub(in crate::launch) fn before(
    site: &Site<'_>,
    options: &Options<'_>,
) -> Option<(&'static str, String)> {
    root::is_machines(options).then(|| (SHOW_ROOT, site.in_stage("root")))
}

/// Writes the bundle over that root folder into the stage. If the options name no root folder, one
/// is made there.
pub(in crate::launch) fn write_over(
    root: &Path,
    site: &Site<'_>,
    options: &Options<'_>,
    user: User,
) -> Result<()> {
    match options.get("rootfs") {
        None => root::make(site)?,
        Some(_) => root::has_target_dirs(site, options)?,
    }
    // The machine's root is mounted on this folder only later; now the folder is empty.
    let shown = options.get("rootfs").map_or(root, Path::new);
    let mut config = config(site, root, user, shown.join("sys").is_dir());
    if let Some(profile) = options.get("seccomp").filter(|profile| *profile != "unconfined") {
        config["linux"]["seccomp"] = seccomp::profile(profile)?;
    }
    let path = site.stage.join("config.json");
    fs::write(&path, config.to_string()).with_context(|| format!("writing `{}`", path.display()))
}

fn config(site: &Site<'_>, root: &Path, user: User, has_sys: bool) -> Value {
    json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": agent_words(AGENT),
            "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "cwd": "/",
            "capabilities": {
                "bounding": CONTAINER_CAPABILITIES,
                "effective": CONTAINER_CAPABILITIES,
                "permitted": CONTAINER_CAPABILITIES,
            },
            "noNewPrivileges": true,
        },
        "root": { "path": root, "readonly": false },
        "hostname": "envtax",
        "mounts": mounts(site, user, has_sys),
        "linux": linux(site, user),
    })
}

fn linux(site: &Site<'_>, user: User) -> Value {
    let spaces = ["pid", "network", "ipc", "uts", "mount"].into_iter();
    let spaces = spaces.chain((user == User::Mapped).then_some("user"));
    let spaces: Vec<Value> = spaces.map(|space| json!({ "type": space })).collect();
    match user {
        User::Same => {
            json!({ "namespaces": spaces, "cgroupsPath": format!("/{}", name(site)) })
        }
        User::Mapped => {
            let (user, group) = sys::own_user_and_group();
            let map = |id: u32| json!([{ "containerID": 0, "hostID": id, "size": 1 }]);
            json!({ "namespaces": spaces, "uidMappings": map(user), "gidMappings": map(group) })
        }
    }
}

fn mount(to: &str, kind: &str, from: &str, options: &[&str]) -> Value {
    json!({ "destination": to, "type": kind, "source": from, "options": options })
}

fn mounts(site: &Site<'_>, user: User, has_sys: bool) -> Vec<Value> {
    let safe = ["nosuid", "noexec", "nodev"];
    let also = |more: &[&'static str]| [&safe[..], more].concat();
    let terminals = ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"];
    // A user namespace may not mount a sysfs that shows more than the one it sees.
    let sys = match user {
        User::Same => mount("/sys", "sysfs", "sysfs", &also(&["ro"])),
        User::Mapped => mount("/sys", "none", "/sys", &also(&["rbind", "ro"])),
    };
    let mut mounts = vec![
        mount("/proc", "proc", "proc", &safe),
        mount("/dev", "tmpfs", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
        mount("/dev/pts", "devpts", "devpts", &terminals),
        mount("/dev/shm", "tmpfs", "shm", &also(&["mode=1777"])),
    ];
    // Runtimes make missing folders that they mount on. The agent can do without this mount.
    mounts.extend(has_sys.then_some(sys));
    mounts.push(mount(AGENT, "bind", site.agent, &["bind", "ro"]));
    mounts.extend(target_dirs(site).map(|dir| mount(dir, "bind", dir, &["rbind", "rw"])));
    mounts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;
    use crate::model::TargetDir;

    fn destinations(config: &Value) -> Vec<&str> {
        let mounts = config["mounts"].as_array().unwrap();
        mounts.iter().map(|mount| mount["destination"].as_str().unwrap()).collect()
    }

    #[test]
    fn the_agent_and_the_target_directories_are_mounted() {
        let target = tempfile::tempdir().unwrap();
        let path = target.path().to_str().unwrap();
        let dir = |path: &str| TargetDir { name: "d".into(), path: path.into(), made: "".into() };
        let dirs = [dir(path), dir("/"), dir(""), dir("/no/such/folder")];
        let site = Site { dirs: &dirs, ..site_of("") };
        let config = config(&site, Path::new("/"), User::Same, true);
        let expected = ["/proc", "/dev", "/dev/pts", "/dev/shm", "/sys", "/dev/envtax", path];
        assert_eq!(destinations(&config), expected);
        let words = json!(["/dev/envtax", "agent", "--self", "/dev/envtax"]);
        assert_eq!(config["process"]["args"], words);
        assert_eq!(config["linux"]["cgroupsPath"], "/envtax-0000aaaa-1");
        assert!(config["linux"].get("uidMappings").is_none());
    }

    #[test]
    fn another_user_than_root_gets_a_user_namespace() {
        let config = config(&site_of(""), Path::new("/no/such/root"), User::Mapped, false);
        assert!(!destinations(&config).contains(&"/sys"), "the root has no folder for it");
        let spaces = config["linux"]["namespaces"].as_array().unwrap();
        assert!(spaces.contains(&json!({ "type": "user" })));
        assert_eq!(config["linux"]["uidMappings"][0]["containerID"], 0);
        assert!(config["linux"].get("cgroupsPath").is_none());
    }
}
