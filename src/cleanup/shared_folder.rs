//! Folders that are made for a run and that other runs may use at the same time, such as those in a
//! user's root on which target directories are mounted. Removing one takes the mounts of the others
//! away, so that the last run removes it.
//!
//! Every run that uses such a folder holds a lock on it, which others may share. The lock ends with
//! the process, however that ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The program of an undo command that removes such a folder, its only argument. The program itself
/// is not started: it does not know of locks.
const REMOVE: &str = "rmdir";
/// How long a run that is just removing the folder is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The command that removes the folder, unless another run uses it or something is in it.
pub fn removal(folder: &Path) -> Vec<String> {
    vec![REMOVE.to_owned(), folder.display().to_string()]
}

/// Whether the command is a [`removal`]; if so, it is carried out.
pub(super) fn removes(words: &[String]) -> bool {
    let [program, folder] = words else { return false };
    if program != REMOVE {
        return false;
    }
    let folder = Path::new(folder);
    if let Ok(file) = File::open(folder)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_dir(folder);
    }
    true
}

/// Makes the folder if it is not there. No run removes it before the file is closed. None where
/// folders cannot be locked.
pub fn make_and_hold(folder: &Path) -> io::Result<Option<File>> {
    let until = Instant::now() + PATIENCE;
    loop {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let Ok(file) = File::open(folder) else { return Ok(None) };
        let locked = file.try_lock_shared();
        // Another run may have removed it between the two.
        let is_there = locked.is_ok() && folder.is_dir();
        if is_there {
            return Ok(Some(file));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_removes_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        let (one, two) = (make_and_hold(&folder).unwrap(), make_and_hold(&folder).unwrap());
        drop(one);
        assert!(removes(&removal(&folder)) && folder.is_dir(), "the other one uses it");
        drop(two);
        // A test beside this one may be starting a process, which has the lock until it executes.
        let mut removed = (0..500).map(|_| {
            thread::sleep(Duration::from_millis(10));
            removes(&removal(&folder)) && !folder.exists()
        });
        assert!(removed.any(|removed| removed));
        assert!(make_and_hold(&place.path().join("no/such")).is_err());
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
