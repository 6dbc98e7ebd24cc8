//! Scratch folders in target directories: their names, their locks, and the removal of those that
//! killed runs left.
//!
//! A scratch folder is held by a lock on itself for as long as its worker lives: one that nobody
//! holds is a leftover. The lock ends with the process, however that ends.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::sys;

/// A younger folder may belong to a worker that has not locked it yet.
const LEAST_AGE: Duration = Duration::from_secs(2);

/// Folders of files that were sent are numbered from here on, one for each launch.
pub const SENT: u64 = 1 << 63;

/// Names that are tried until one is free.
const ATTEMPTS: u32 = 3;

/// What marks the leftovers of a run: eight hexadecimal digits that nobody can guess.
pub fn fresh_token() -> String {
    format!("{:08x}", random() as u32)
}

/// A number that nobody can guess: the system's random numbers seed the hasher.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Makes and removes a folder in this one, to see that this is allowed. It carries the token, so
/// that the run removes it if this process is killed in between.
pub fn try_folder(folder: &Path, token: &str) -> io::Result<()> {
    if !fs::metadata(folder)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    let mut tried = 0;
    loop {
        let trial = folder.join(scratch_name(token, random() % SENT));
        tried += 1;
        match sys::make_private_folder(&trial) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tried < ATTEMPTS => {}
            made => return made.and_then(|()| fs::remove_dir(&trial)),
        }
    }
}

/// The name of a request's scratch folder: the run's token and the request's number.
pub fn scratch_name(token: &str, id: u64) -> String {
    format!(".envtax-{token}-{id}")
}

/// Holds a scratch folder as long as the returned file is open. None where the system cannot lock
/// folders; other runs do not take such a folder for a leftover, since they cannot lock it either.
pub fn hold(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes the scratch folders of the run with this token.
pub fn remove_own(folder: &Path, token: &str) {
    let mark = format!(".envtax-{token}-");
    for name in names(folder) {
        let Some(id) = name.strip_prefix(&mark) else { continue };
        let path = folder.join(&name);
        // Another environment may use the same folder for the files that were sent to it.
        let others = id.parse::<u64>().is_ok_and(|id| id >= SENT) && is_held(&path);
        if !others {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes what ended runs left in this folder, and returns the names of what was removed. Folders
/// of the run with this token are kept even if no lock is seen on them: an environment with a
/// kernel of its own may see the files of other environments, but not their locks.
pub fn remove_leftovers(folder: &Path, token: &str) -> Vec<String> {
    let own = format!(".envtax-{token}-");
    let mut names = names(folder);
    names.retain(|name| is_scratch(name) && !name.starts_with(&own));
    names.retain(|name| is_leftover(&folder.join(name)));
    names.retain(|name| fs::remove_dir_all(folder.join(name)).is_ok());
    names.sort();
    names
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Whether the name is exactly one that [`scratch_name`] makes. Nothing else is ever removed.
fn is_scratch(name: &str) -> bool {
    let Some((token, id)) = name.strip_prefix(".envtax-").and_then(|it| it.split_once('-')) else {
        return false;
    };
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    token.len() == 8 && token.chars().all(hex) && !id.is_empty() && id.parse::<u64>().is_ok()
}

/// Whether it is a folder, old enough, that nobody holds.
fn is_leftover(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    about.is_dir() && age.is_some_and(|age| age >= LEAST_AGE) && !is_held(path)
}

fn is_held(path: &Path) -> bool {
    File::open(path).map(|file| file.try_lock().is_err()).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_leaves_nothing_and_is_called_as_no_other() {
        let dir = tempfile::tempdir().unwrap();
        try_folder(dir.path(), "0000aaaa").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(try_folder(&dir.path().join("none"), "0000aaaa").is_err());
        let tokens: std::collections::HashSet<String> = (0..100).map(|_| fresh_token()).collect();
        assert!(tokens.len() > 95, "{tokens:?}");
        assert!(tokens.iter().all(|token| is_scratch(&scratch_name(token, 0))));
    }

    fn make(folder: &Path, names: &[&str]) {
        for name in names {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("file"), "x").unwrap();
        }
    }

    fn age(folder: &Path) {
        let old = SystemTime::now() - Duration::from_secs(60);
        File::open(folder).unwrap().set_modified(old).unwrap();
    }

    fn left(folder: &Path) -> Vec<String> {
        let mut left = names(folder);
        left.sort();
        left
    }

    #[test]
    fn only_the_runs_own_folders_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &[".envtax-aa-1", ".envtax-aa-2", ".envtax-ab-1", "other"]);
        remove_own(dir.path(), "aa");
        assert_eq!(left(dir.path()), [".envtax-ab-1", "other"]);
    }

    #[test]
    fn what_nobody_holds_is_a_leftover() {
        let dir = tempfile::tempdir().unwrap();
        let (dead, held, young) = (".envtax-0000aaaa-1", ".envtax-0000bbbb-2", ".envtax-00cc-3");
        let (fresh, foreign) = (".envtax-0000cccc-3", ".envtax-notes-2026");
        make(dir.path(), &[dead, held, young, fresh, foreign, "other"]);
        for name in [dead, held, young, foreign, "other"] {
            age(&dir.path().join(name));
        }
        let lock = hold(&dir.path().join(held)).unwrap();
        assert_eq!(remove_leftovers(dir.path(), "0000aaaa"), Vec::<String>::new());
        assert_eq!(remove_leftovers(dir.path(), "0000dddd"), [dead]);
        assert_eq!(left(dir.path()), [held, fresh, young, foreign, "other"]);
        drop(lock);
        // Another test may be starting a process just now, which keeps the lock until it executes.
        let mut removed = (0..500).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            remove_leftovers(dir.path(), "")
        });
        assert_eq!(removed.find(|removed| !removed.is_empty()), Some(vec![held.to_owned()]));
    }

    #[test]
    fn what_points_elsewhere_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &["precious"]);
        let link = dir.path().join(".envtax-0000aaaa-1");
        std::process::Command::new("ln").arg("-s").arg("precious").arg(&link).status().unwrap();
        assert!(remove_leftovers(dir.path(), "").is_empty());
        assert!(dir.path().join("precious/file").exists());
    }
}
