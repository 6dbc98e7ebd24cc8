//! A stage is a private folder for one launch or run: it holds the files that the launch makes (a
//! bundle, an initramfs, sockets) and the commands that undo what the launch started elsewhere.
//!
//! A stage that nobody holds is undone: by the session at its end, by the guard when the controller
//! was killed, or by the next run when the guard was killed too. The commands are written before
//! anything is started, so there is always somebody who can undo it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::cleanup::child;
use crate::cleanup::leftovers::hold;
use crate::cleanup::shared_folder;
use crate::sys;

/// Names of stages begin with this; the run's token and the number of the launch follow.
const PREFIX: &str = "envtax-stage-";
/// Name of the file with the commands.
const UNDO: &str = "undo.json";
/// The file's name until it is complete.
const NEW_UNDO: &str = "undo.new.json";
/// How long one undo command may take.
const TIME_LIMIT: Duration = Duration::from_secs(15);
/// A younger stage may belong to a run that has not locked it yet.
const LEAST_AGE: Duration = Duration::from_secs(2);

/// A stage that is held as long as this value lives. Dropping it undoes the stage.
pub struct Stage {
    path: PathBuf,
    _held: Option<File>,
}

impl Stage {
    /// Makes the stage of that id in the folder for temporary files. Only its owner may enter it.
    pub fn make(id: &str) -> io::Result<Stage> {
        let path = std::env::temp_dir().join(format!("{PREFIX}{id}"));
        sys::make_private_folder(&path)?;
        let held = hold(&path);
        Ok(Stage { path, _held: held })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the commands that undo the launch, in place of those written before. A reader sees
    /// either the old or the new commands.
    pub fn write_undo(&self, commands: &[Vec<String>]) -> io::Result<()> {
        let new = self.path.join(NEW_UNDO);
        fs::write(&new, serde_json::to_vec(commands)?)?;
        fs::rename(new, self.path.join(UNDO))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        undo(&self.path);
    }
}

/// Runs the stage's commands and removes it.
///
/// A command that fails is ignored: usually the launch has ended in order and nothing is left to
/// undo. What is still mounted in the stage is unmounted first, because removal must never reach
/// through a mount.
pub fn undo(path: &Path) {
    for words in commands_in(path) {
        if !shared_folder::removes(&words) {
            run_briefly(&words);
        }
    }
    if sys::unmount_below(path).is_ok() {
        let _ = fs::remove_dir_all(path);
    }
}

/// The commands that undo the stage.
fn commands_in(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read(path.join(UNDO)).ok();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Whether a stage of this user, of any run, has that undo command.
pub fn any_undoes(command: &[String]) -> bool {
    let has = |path: &PathBuf| commands_in(path).iter().any(|words| words == command);
    all().filter(|path| sys::is_private_folder(path)).any(|path| has(&path))
}

/// Every path that is named like a stage.
fn all() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX))
    })
}

/// Undoes the stages of ended runs, and returns their paths.
pub fn undo_leftovers() -> Vec<String> {
    let mut undone = Vec::new();
    for path in all().filter(|path| is_leftover(path)) {
        undo(&path);
        if !path.exists() {
            undone.push(path.display().to_string());
        }
    }
    undone.sort();
    undone
}

/// Whether it is a stage of this user that nobody holds. Commands of other users' stages are never
/// run.
fn is_leftover(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let ours = about.is_dir() && sys::is_private_folder(path);
    ours && age.is_some_and(|age| age >= LEAST_AGE) && hold(path).is_some()
}

fn run_briefly(words: &[String]) {
    let Some(mut command) = sys::command_of(words) else { return };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let _ = child::ended_or_killed(&mut child, TIME_LIMIT);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_stage_is_undone_when_it_is_let_go() {
        let place = tempfile::tempdir().unwrap();
        let proof = place.path().join("undone");
        let stage = Stage::make(&format!("test-{}-1", std::process::id())).unwrap();
        let path = stage.path().to_owned();
        stage.write_undo(&[words("false"), words(&format!("touch {}", proof.display()))]).unwrap();
        assert!(!is_leftover(&path), "held, and young");
        drop(stage);
        assert!(proof.exists() && !path.exists());
    }

    #[test]
    fn a_stage_that_nobody_holds_is_dead() {
        let path = std::env::temp_dir().join(format!("{PREFIX}test-{}-2", std::process::id()));
        sys::make_private_folder(&path).unwrap();
        assert!(!is_leftover(&path), "young");
        let old = SystemTime::now() - Duration::from_secs(60);
        File::open(&path).unwrap().set_modified(old).unwrap();
        assert!(is_leftover(&path));
        let held = hold(&path).unwrap();
        assert!(!is_leftover(&path));
        drop(held);
        fs::remove_dir(&path).unwrap();
    }
}
