//! Folders that are made for a run and that other runs may use at the same time, such as the mount
//! points of target directories in a user's root folder. Removing such a folder would take the
//! mounts of other runs away, so the last run removes it.
//!
//! Every run that uses such a folder holds a shared lock on it. The lock ends with the process,
//! however that ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::sys;

/// The program of an undo command that removes such a folder, which is its only argument. envtax
/// carries the command out itself, because the program does not know the locks.
const REMOVE: &str = "rmdir";
/// How long to wait for a run that is removing the folder at this moment.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The undo command that removes the folder, unless another run uses it or it is not empty.
pub fn removal(folder: &Path) -> Vec<String> {
    vec![REMOVE.to_owned(), folder.display().to_string()]
}

/// If the command is a [`removal`], carries it out and returns true.
pub(super) fn removes(words: &[String]) -> bool {
    let [program, folder] = words else { return false };
    if program != REMOVE {
        return false;
    }
    let folder = Path::new(folder);
    // Between opening and locking, another run may have removed the folder, and a third one may
    // have made and locked another of that name.
    if let Ok(file) = File::open(folder)
        && file.try_lock().is_ok()
        && sys::is_at(&file, folder)
    {
        let _ = fs::remove_dir(folder);
    }
    true
}

/// Makes the folder if it does not exist. No run removes it before the returned file is closed.
/// None where the system cannot lock folders.
pub fn make_and_hold(folder: &Path) -> io::Result<Option<File>> {
    hold_within(folder, TIME_LIMIT)
}

fn hold_within(folder: &Path, limit: Duration) -> io::Result<Option<File>> {
    let until = Instant::now() + limit;
    loop {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // Another run may have removed the folder before it was opened, or before it was locked,
        // and made it anew.
        let held = match File::open(folder) {
            Ok(file) if file.try_lock_shared().is_ok() && sys::is_at(&file, folder) => {
                return Ok(Some(file));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
            Err(_) => return Ok(None),
            Ok(_) => Ok(None),
        };
        if Instant::now() >= until {
            return held;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any machine takes.
    const LONG: Duration = Duration::from_secs(600);

    /// A link to nothing is there for `create_dir` and not there for `open`, as a folder is that
    /// another run removes between these two calls.
    #[test]
    fn a_folder_that_vanishes_is_made_anew() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        let link = sys::FilePath::new(&folder).unwrap();
        if link.symlink_to(&sys::FilePath::new(Path::new("nothing")).unwrap()).is_err() {
            return; // This system has no such links.
        }
        let gone = hold_within(&folder, Duration::ZERO).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound, "not `None`: the folder is not there");
        thread::scope(|scope| {
            let held = scope.spawn(|| hold_within(&folder, LONG));
            thread::sleep(Duration::from_millis(20));
            fs::remove_file(&folder).unwrap();
            let held = held.join().unwrap().unwrap().expect("it is made when the link is gone");
            assert!(sys::is_at(&held, &folder));
        });
    }

    #[test]
    fn the_last_run_removes_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        let (one, two) = (make_and_hold(&folder).unwrap(), make_and_hold(&folder).unwrap());
        drop(one);
        assert!(removes(&removal(&folder)) && folder.is_dir(), "the other one uses it");
        drop(two);
        // Another test may be starting a process just now, which keeps the lock until it executes.
        let mut removed = (0..500).map(|_| {
            thread::sleep(Duration::from_millis(10));
            removes(&removal(&folder)) && !folder.exists()
        });
        assert!(removed.any(|removed| removed));
        assert!(make_and_hold(&place.path().join("no/such")).is_err());
    }

    /// A lock on a folder that is no more holds nothing. Each of these makes, holds and removes the
    /// same folder, as runs do, and none may lose it meanwhile.
    #[test]
    fn nobody_loses_a_folder_that_others_make_and_remove() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        let run = || {
            for _ in 0..200 {
                let held = hold_within(&folder, LONG).unwrap().expect("it is held in time");
                for _ in 0..10 {
                    assert!(sys::is_at(&held, &folder), "it was removed while it was held");
                    thread::yield_now();
                }
                drop(held);
                removes(&removal(&folder));
            }
        };
        thread::scope(|scope| {
            let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            runs.into_iter().for_each(|run| run.join().unwrap());
        });
    }

    #[test]
    fn what_is_in_use_or_no_folder_stays() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(removes(&removal(place.path())) && removes(&removal(&file)));
        assert!(file.exists());
        assert!(!removes(&["rm".to_owned(), "x".to_owned()]) && !removes(&[]));
    }
}
