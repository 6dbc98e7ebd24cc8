//! Root folders of containers: the minimal one that envtax makes, and what a user's own must have.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::Options;
use crate::launch::{Site, UserRoot, is_folder};

/// Folders that programs expect in any root folder.
const FOLDERS: [&str; 8] = ["dev", "etc", "proc", "root", "run", "sys", "tmp", "var/tmp"];
const FILES: [(&str, &str); 2] =
    [("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "root:x:0:\n")];

/// Folders on which the runtime mounts filesystems. It would make missing ones in the user's
/// folder.
const NEEDED: [&str; 2] = ["dev", "proc"];

/// The folder that the container gets as its root.
pub(in crate::launch) fn folder(site: &Site<'_>, options: &Options<'_>) -> Result<PathBuf> {
    match options.get("rootfs") {
        Some(folder) => super::absolute(folder).map(PathBuf::from),
        None => Ok(site.stage.join("root")),
    }
}

/// Whether the options name the machine's own root.
pub(in crate::launch) fn is_machines(options: &Options<'_>) -> bool {
    options
        .get("rootfs")
        .and_then(|folder| super::absolute(folder).ok())
        .is_some_and(|it| it == "/")
}

/// Makes a root folder in the stage. It has no program: the agent is mounted into it.
pub(in crate::launch) fn make(site: &Site<'_>) -> Result<()> {
    let root = site.stage.join("root");
    let made = || -> std::io::Result<()> {
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder))?;
        }
        FILES.iter().try_for_each(|(name, text)| fs::write(root.join(name), text))
    };
    made().with_context(|| format!("making a root file system in `{}`", root.display()))
}

/// An error if the user's folder cannot be a root without something being made in it.
pub(in crate::launch) fn check(options: &Options<'_>) -> Result<()> {
    let Some(root) = options.get("rootfs") else { return Ok(()) };
    is_folder(root, "rootfs=DIR")?;
    let missing = NEEDED.iter().find(|name| !Path::new(root).join(name).is_dir());
    ensure!(
        missing.is_none(),
        "`{root}` has no folder `{}`, which every root has; envtax does not make it",
        missing.unwrap_or(&"")
    );
    Ok(())
}

/// The user's root folder with the folders that must exist in it. Paths below `/dev` need no
/// folder: the container has a filesystem of its own there.
pub(in crate::launch) fn of_user<'a>(
    site: &Site<'a>,
    options: &Options<'_>,
) -> Option<UserRoot<'a>> {
    let folder = super::absolute(options.get("rootfs")?).ok()?;
    let dirs = site.host_dirs().filter(|dir| *dir != "/" && !Path::new(dir).starts_with("/dev"));
    Some(UserRoot { folder: folder.into(), dirs: dirs.collect() })
}

/// An error if the user's root lacks a folder to mount a target directory on.
pub(in crate::launch) fn has_target_dirs(site: &Site<'_>, options: &Options<'_>) -> Result<()> {
    let Some(root) = of_user(site, options) else { return Ok(()) };
    for dir in root.dirs {
        let point = root.folder.join(dir.trim_start_matches('/'));
        ensure!(
            point.is_dir(),
            "the target directory `{dir}` has no folder in `{}` to be mounted on: mkdir -p {}",
            root.folder.display(),
            shell_words::quote(&point.display().to_string())
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;
    use crate::model::TargetDir;

    #[test]
    fn a_root_is_made_and_would_pass_as_one() {
        let stage = tempfile::tempdir().unwrap();
        let site = Site { stage: stage.path(), ..site_of("") };
        make(&site).unwrap();
        let root = stage.path().join("root").display().to_string();
        let argument = format!("rootfs={root}");
        let options = Options::read(&argument, "", &["rootfs"]).unwrap();
        check(&options).unwrap();
        fs::remove_dir(stage.path().join("root/proc")).unwrap();
        assert!(check(&options).unwrap_err().to_string().contains("has no folder `proc`"));
    }

    #[test]
    fn a_target_without_a_folder_in_the_root_says_what_to_make() {
        let root = tempfile::tempdir().unwrap();
        let target = tempfile::tempdir().unwrap();
        let argument = format!("rootfs={}", root.path().display());
        let options = Options::read(&argument, "", &["rootfs"]).unwrap();
        let path = target.path().to_str().unwrap().to_owned();
        let dirs = [TargetDir { name: "d".into(), path, made: String::new() }];
        let site = Site { dirs: &dirs, ..site_of("") };
        let error = has_target_dirs(&site, &options).unwrap_err().to_string();
        let inside = format!("mkdir -p {}{}", root.path().display(), target.path().display());
        assert!(error.ends_with(&inside), "{error}");
        fs::create_dir_all(inside.strip_prefix("mkdir -p ").unwrap()).unwrap();
        has_target_dirs(&site, &options).unwrap();
    }
}
