//! A stage is a private folder for one launch: it holds the files that the launch makes (a bundle,
//! an initramfs, sockets) and the commands that undo what the launch started elsewhere.
//!
//! Whoever finds a stage that nobody holds undoes it: the session at its end, the guard when the
//! controller was killed, or the next run when the guard was killed too. The commands lie in the
//! stage before anything is started, so that no moment is left in which nobody knows of them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::cleanup::child;
use crate::cleanup::leftovers::hold;
use crate::cleanup::shared_folder;
use crate::sys;

/// What stages are called, before the run's token and the number of the launch.
const PREFIX: &str = "envtax-stage-";
/// Name of the file with the commands.
const UNDO: &str = "undo.json";
/// Its name until it is written to its end.
const NEW_UNDO: &str = "undo.new.json";
/// How long one of the commands may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// A stage as young as this may be one that is about to be locked.
const YOUNG: Duration = Duration::from_secs(2);

/// A stage that is held as long as this value lives, and undone afterwards.
pub struct Stage {
    path: PathBuf,
    _held: Option<File>,
}

impl Stage {
    /// Makes the stage of that id, below the folder for temporary files. Only its owner may enter.
    pub fn make(id: &str) -> io::Result<Stage> {
        let path = std::env::temp_dir().join(format!("{PREFIX}{id}"));
        sys::make_private_folder(&path)?;
        let held = hold(&path);
        Ok(Stage { path, _held: held })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down what undoes the launch, one command after the other, in place of what was
    /// written before. Whoever reads the commands meanwhile sees the old or the new ones.
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
/// A command that fails has nothing left to undo, which is usual: the stage's own environment ended
/// in order. What is still mounted in the stage is unmounted first: removal must never reach
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

/// Whether a stage of this user has that command, whichever run it is of.
pub fn any_undoes(command: &[String]) -> bool {
    let has = |path: &PathBuf| commands_in(path).iter().any(|words| words == command);
    all().filter(|path| sys::is_private_folder(path)).any(|path| has(&path))
}

/// All that looks like a stage.
fn all() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX))
    })
}

/// Undoes the stages of runs that are no more; their paths.
pub fn undo_dead() -> Vec<String> {
    let mut undone = Vec::new();
    for path in all().filter(|path| is_dead(path)) {
        undo(&path);
        if !path.exists() {
            undone.push(path.display().to_string());
        }
    }
    undone.sort();
    undone
}

/// Whether it is a stage of this user that nobody holds. Commands are taken from nobody else.
fn is_dead(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let ours = about.is_dir() && sys::is_private_folder(path);
    ours && age.is_some_and(|age| age >= YOUNG) && hold(path).is_some()
}

fn run_briefly(words: &[String]) {
    let Some((program, arguments)) = words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let _ = child::ended_or_killed(&mut child, PATIENCE);
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
        assert!(!is_dead(&path), "held, and young");
        drop(stage);
        assert!(proof.exists() && !path.exists());
    }

    #[test]
    fn a_stage_that_nobody_holds_is_dead() {
        let path = std::env::temp_dir().join(format!("{PREFIX}test-{}-2", std::process::id()));
        sys::make_private_folder(&path).unwrap();
        assert!(!is_dead(&path), "young");
        let old = SystemTime::now() - Duration::from_secs(60);
        File::open(&path).unwrap().set_modified(old).unwrap();
        assert!(is_dead(&path));
        let held = hold(&path).unwrap();
        assert!(!is_dead(&path));
        drop(held);
        fs::remove_dir(&path).unwrap();
    }
}
