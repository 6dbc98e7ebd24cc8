//! Mount points for target directories in users' root folders. Missing ones are made for the run
//! and removed after it. Runtimes would make them, too, but leave them behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::cleanup::{shared_folder, stage};
use crate::launch::{self, Site};
use crate::model::{EnvSpec, Plan, TargetDir};

/// The mount points that were made for a run. They exist as long as this value lives.
#[derive(Default)]
pub struct MountPoints {
    // Fields are dropped in this order: a folder is removed only after this run released its lock.
    used: Vec<File>,
    stage: Option<HeldStage>,
    /// What could not be made, with the reason.
    pub failures: Vec<String>,
}

/// Makes the missing mount points for all launches of all environments at once: two environments
/// may use the same folder, and the end of one must not remove the other's mount points.
pub fn make_mount_points(plan: &Plan, settings: &SessionSettings<'_>) -> Result<MountPoints> {
    let mut points = MountPoints::default();
    for spec in &plan.environments {
        points.add(spec, &plan.dirs_in(spec), settings)?;
    }
    Ok(points)
}

impl MountPoints {
    /// Makes the mount points of one environment. What cannot be made is not an error here: the
    /// launch will report a better one, and the other environments go on.
    pub fn add(
        &mut self,
        spec: &EnvSpec,
        dirs: &[TargetDir],
        settings: &SessionSettings<'_>,
    ) -> Result<()> {
        let nowhere = Path::new("");
        let site = Site { argument: &spec.argument, agent: "", dirs, id: "", stage: nowhere };
        let Some(root) = launch::find(&spec.kind)?.user_root(&site) else { return Ok(()) };
        for dir in root.dirs {
            let point = root.folder.join(dir.trim_start_matches('/'));
            let made = self.make_all(&root.folder, &point, settings);
            if let Err(error) = made {
                let name = &spec.name;
                self.failures
                    .push(format!("`{name}`: making `{}` for the run: {error:#}", point.display()));
            }
        }
        Ok(())
    }

    /// Makes the missing folders on the way to the mount point. Folders that another run made are
    /// registered for removal, too: the last run removes them.
    fn make_all(
        &mut self,
        root: &Path,
        point: &Path,
        settings: &SessionSettings<'_>,
    ) -> Result<()> {
        for folder in folders_of_runs(root, point)? {
            self.make(&folder, settings)?;
        }
        if point.is_dir() {
            self.used.extend(shared_folder::make_and_hold(point)?);
        }
        Ok(())
    }

    fn make(&mut self, folder: &Path, settings: &SessionSettings<'_>) -> Result<()> {
        let id = format!("{}-points", settings.token);
        let stage = match &mut self.stage {
            Some(stage) => stage,
            none => none.insert(HeldStage::make(&id, settings.guard, |_| Ok(Vec::new()))?),
        };
        // Written before the folder is made, so that there is always somebody who can remove it.
        // The innermost folder is removed first. A folder that is not empty stays.
        stage.undo_first(shared_folder::removal(folder))?;
        self.used.extend(shared_folder::make_and_hold(folder)?);
        Ok(())
    }
}

/// The folders on the way to the mount point that are missing or that other runs made, the
/// outermost first. Nothing is made behind a link, because it may lead out of the root folder.
fn folders_of_runs(root: &Path, point: &Path) -> Result<Vec<PathBuf>> {
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    let is_there = point.is_dir();
    let mut way = root.to_owned();
    let mut folders = Vec::new();
    for part in point.strip_prefix(root)? {
        way.push(part);
        // This is asked before looking at the folder: a run that ends now removes first the folder,
        // then its stage.
        let is_of_a_run = stage::any_undoes(&shared_folder::removal(&way));
        match fs::symlink_metadata(&way) {
            Ok(about) if about.is_dir() => folders.extend(is_of_a_run.then(|| way.clone())),
            Ok(_) if is_there => return Ok(Vec::new()),
            Ok(about) if about.is_symlink() => bail!("`{}` is a link", way.display()),
            Ok(_) => bail!("`{}` is no folder", way.display()),
            Err(_) => folders.push(way.clone()),
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_made_and_nothing_behind_other_things() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir(root.join("srv")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        let of = |point: &str| folders_of_runs(root, &root.join(point));
        assert_eq!(of("srv/a/b").unwrap(), ["srv/a", "srv/a/b"].map(|name| root.join(name)));
        assert!(of("srv").unwrap().is_empty());
        let error = of("file/a").unwrap_err().to_string();
        assert!(error.ends_with("/file` is no folder"), "{error}");
        let none = root.join("none");
        assert!(
            folders_of_runs(&none, &none.join("a")).unwrap().is_empty(),
            "a root that is still to come"
        );
    }
}
