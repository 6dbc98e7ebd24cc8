//! Target directories whose filesystems are made for the run: made before any environment starts,
//! and removed after the last one ends.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Error, Result, ensure};

use super::resources::{HelperProcess, command_of, finish};
use super::settings::SessionSettings;
use crate::cleanup::held_stage::HeldStage;
use crate::launch::{self, Helper};
use crate::model::{EnvSpec, Failure, TargetDir};
use crate::mount::{self, Recipe, Site, Step, Way};
use crate::{sys, units};

/// The made directories of a run. They exist as long as this value lives.
pub struct MadeDirs {
    /// All target directories of the run, each with its path.
    pub dirs: Vec<TargetDir>,
    // Fields are dropped in this order: first the servers of filesystems, then the stage in which
    // they are mounted.
    _servers: Vec<HelperProcess>,
    _stage: Option<HeldStage>,
}

/// Makes the filesystems of these directories, if any of these environments sees them.
///
/// If a filesystem has to be mounted, this process enters a mount namespace of its own and stays
/// there. The guard must be running before, because it must outlive the namespace.
pub fn make_dirs(
    environments: &[EnvSpec],
    dirs: &[TargetDir],
    settings: &SessionSettings<'_>,
) -> Result<MadeDirs> {
    let mut dirs = dirs.to_vec();
    if dirs.iter().all(|dir| dir.made.is_empty()) {
        return Ok(MadeDirs { dirs, _servers: Vec::new(), _stage: None });
    }
    let here = seen_here(environments, &dirs)?;
    let mut asked = Vec::new();
    let id = format!("{}-dirs", settings.token);
    let stage = HeldStage::make(&id, settings.guard, |stage| {
        asked = recipes(&mut dirs, stage, here)?;
        Ok(asked.iter().flat_map(|asked| asked.recipe.undo.clone()).collect())
    })?;
    sys::let_through(stage.path())?;
    let mut made = MadeDirs { dirs, _servers: Vec::new(), _stage: Some(stage) };
    let ways: Vec<Way> = asked.iter().map(|asked| asked.way).collect();
    let private = enter_private_mounts(&ways);
    for Asked { dir, way, site, recipe } in asked {
        let named = || format!("`--dir {}={}`", dir.name, dir.made);
        if way == Way::Mounted {
            private.as_ref().map_err(|error| refused(error, &dir)).with_context(named)?;
        }
        let server = make(&site, &recipe, settings).with_context(named);
        ensure!(!(settings.interrupted)(), "interrupted before anything was measured");
        made._servers.extend(server?);
    }
    Ok(made)
}

/// A target directory, with the recipe of its filesystem.
struct Asked {
    dir: TargetDir,
    way: Way,
    site: Site,
    recipe: Recipe,
}

/// The recipe of each directory. Its folder in the stage becomes the directory's path.
fn recipes(dirs: &mut [TargetDir], stage: &Path, here: bool) -> Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for dir in dirs.iter_mut().filter(|dir| !dir.made.is_empty()) {
        let (filesystem, options) = mount::find(&dir.made)?;
        let site = Site::in_folder(&stage.join(&dir.name), sys::is_root());
        fs::create_dir_all(&site.point)?;
        dir.path = site.point.to_str().context("`TMPDIR` is not UTF-8")?.to_owned();
        let way = if here { filesystem.info().way } else { Way::InGuests };
        let recipe = match way {
            Way::InGuests => Recipe::default(),
            _ => filesystem.recipe(options, &site)?,
        };
        asked.push(Asked { dir: dir.clone(), way, site, recipe });
    }
    Ok(asked)
}

/// Whether any environment sees what is made on this machine. It is an error if only guests can
/// mount a directory and no environment is a guest.
fn seen_here(environments: &[EnvSpec], dirs: &[TargetDir]) -> Result<bool> {
    let mut guests = Vec::new();
    for spec in environments {
        guests.push(launch::find(&spec.kind)?.info().own_kernel);
    }
    for TargetDir { name, made, .. } in dirs.iter().filter(|dir| !dir.made.is_empty()) {
        let way = mount::find(made)?.0.info().way;
        ensure!(
            way != Way::InGuests || guests.contains(&true),
            "`--dir {name}={made}`: only a virtual machine mounts it, and none is measured; add \
             `--env vm`, or measure the folder behind it: `--dir {name}=PATH`"
        );
    }
    Ok(guests.contains(&false))
}

/// Hides from all other processes what will be mounted, if anything will be.
fn enter_private_mounts(ways: &[Way]) -> io::Result<()> {
    match ways.iter().all(|way| *way == Way::InGuests) {
        true => Ok(()),
        false => sys::private_mounts(),
    }
}

fn refused(error: &io::Error, dir: &TargetDir) -> Error {
    let remedy = format!(
        "run envtax as root, take `fuse`, or mount it by hand and write `--dir {}=PATH`",
        dir.name
    );
    Failure::new(format!("mounting is refused ({error})")).or_remedy(remedy).into()
}

/// Carries out a recipe. Returns the process that serves the filesystem, if there is one.
fn make(
    site: &Site,
    recipe: &Recipe,
    settings: &SessionSettings<'_>,
) -> Result<Option<HelperProcess>> {
    for folder in &recipe.folders {
        fs::create_dir_all(folder)?;
    }
    if let Some((path, size)) = &recipe.image {
        make_image(path, *size, &site.folder)?;
    }
    let log = site.folder.join("log");
    for step in &recipe.steps {
        let mut command = command_of(&step.words, &log)?;
        sys::end_with_starter(&mut command);
        finish(command, &log, settings).map_err(|error| failed(error, step))?;
    }
    let mut served = None;
    let mark = site.point.join(mount::MARK);
    if let Some(step) = &recipe.server {
        let mut command = command_of(&step.words, &log)?;
        // The process ends with this one, so nothing is left to end when a run was killed together
        // with its guard.
        sys::end_with_starter(&mut command);
        let helper = Helper { words: step.words.clone(), ready: mark.clone() };
        let helper_process = HelperProcess::start(command, &helper, &log, settings);
        served = Some(helper_process.map_err(|error| failed(error, step))?);
    }
    fs::create_dir_all(&mark).context("making a folder in it")?;
    sys::let_write(&site.point)?;
    Ok(served)
}

/// Makes a sparse file. An error if the disk has no room for all of it: an image that cannot grow
/// looks like a broken disk.
fn make_image(path: &Path, size: u64, folder: &Path) -> Result<()> {
    let free = sys::volume(folder).map_or(u64::MAX, |volume| volume.free);
    if free < size {
        let (free, size) = (units::bytes(free as f64), units::bytes_exact(size));
        let folder = folder.display();
        let failure =
            Failure::new(format!("`{folder}` has {free} free, and the image may grow to {size}"));
        return Err(failure.or_remedy("a smaller SIZE, or a `TMPDIR` with more room").into());
    }
    let image = File::create_new(path).and_then(|file| file.set_len(size));
    image.with_context(|| format!("making the image `{}`", path.display()))
}

fn failed(error: Error, step: &Step) -> Error {
    let missing = |cause: &io::Error| cause.kind() == io::ErrorKind::NotFound;
    let program = step.words.first().map_or("", String::as_str);
    if !error.root_cause().downcast_ref().is_some_and(missing) {
        let failure = Failure::from(error).within(format!("`{program}`"));
        return failure.or_remedy(&step.remedy).into();
    }
    let failure = Failure::new(format!("there is no `{program}` on the search path"));
    match step.package {
        "" => failure.into(),
        package => failure.or_remedy(format!("apt-get install {package}")).into(),
    }
}
