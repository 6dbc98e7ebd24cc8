//! Mount points for target directories in users' root folders. Missing ones are made for the run
//! and removed after it; runtimes would make them and leave them behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::launch::{self, Site};
use crate::model::{EnvSpec, Plan, TargetDir};

/// What was made for a run, there as long as this value lives.
#[derive(Default)]
pub struct MountPoints {
    stage: Option<HeldStage>,
    /// Of what could not be made: what, and why.
    pub failures: Vec<String>,
}

/// Makes what the plan's environments lack: for all launches of all of them, as two environments
/// may be over the same folder, and one's end must not take the other's mounts away.
pub fn make_mount_points(plan: &Plan, settings: &SessionSettings<'_>) -> Result<MountPoints> {
    let mut points = MountPoints::default();
    for spec in &plan.environments {
        points.add(spec, &plan.dirs_in(spec), settings)?;
    }
    Ok(points)
}

impl MountPoints {
    /// Makes those of one environment. What cannot be made is no error here: the launch has a
    /// better one, and the others go on.
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
            let made = missing(&root.folder, &point)
                .and_then(|folders| folders.into_iter().try_for_each(|it| self.make(it, settings)));
            if let Err(error) = made {
                let name = &spec.name;
                self.failures
                    .push(format!("`{name}`: making `{}` for the run: {error:#}", point.display()));
            }
        }
        Ok(())
    }

    fn make(&mut self, folder: PathBuf, settings: &SessionSettings<'_>) -> Result<()> {
        let id = format!("{}-points", settings.token);
        let stage = match &mut self.stage {
            Some(stage) => stage,
            none => none.insert(HeldStage::make(&id, settings.guard, |_| Ok(Vec::new()))?),
        };
        // Before it is made, so that no moment is left in which nobody knows of it. The innermost
        // goes first, and what somebody put something into stays.
        stage.undo_first(vec!["rmdir".to_owned(), folder.display().to_string()])?;
        Ok(fs::create_dir(folder)?)
    }
}

/// The folders that are missing on the way to the point, the outermost first. Nothing is made
/// behind a link, which may lead out of the root.
fn missing(root: &Path, point: &Path) -> Result<Vec<PathBuf>> {
    if point.is_dir() || !root.is_dir() {
        return Ok(Vec::new());
    }
    let mut way = root.to_owned();
    let mut missing = Vec::new();
    for part in point.strip_prefix(root)? {
        way.push(part);
        match fs::symlink_metadata(&way) {
            Ok(about) if about.is_dir() => {}
            Ok(about) if about.is_symlink() => bail!("`{}` is a link", way.display()),
            Ok(_) => bail!("`{}` is no folder", way.display()),
            Err(_) => missing.push(way.clone()),
        }
    }
    Ok(missing)
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
        let of = |point: &str| missing(root, &root.join(point));
        assert_eq!(of("srv/a/b").unwrap(), ["srv/a", "srv/a/b"].map(|name| root.join(name)));
        assert!(of("srv").unwrap().is_empty());
        let error = of("file/a").unwrap_err().to_string();
        assert!(error.ends_with("/file` is no folder"), "{error}");
        let none = root.join("none");
        assert!(
            missing(&none, &none.join("a")).unwrap().is_empty(),
            "a root that is still to come"
        );
    }
}
