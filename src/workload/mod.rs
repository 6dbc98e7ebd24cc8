//! Whole commands that everyone has, with the data that they work on: one file each, listed once
//! below in the order of the documents. A workload describes its data; `control/workload_data.rs`
//! makes it. May use `model`. Must not start processes.

mod configure;
mod gcc;
mod git_status;
mod gzip;
mod python;
mod source;
mod tar;

use std::io;
use std::path::Path;

use anyhow::{Context, Result};

use crate::model::suggest;

/// Every workload.
pub const WORKLOADS: &[&Workload] = &[
    &git_status::GIT_STATUS,
    &tar::TAR,
    &configure::CONFIGURE,
    &gcc::GCC,
    &python::PYTHON,
    &gzip::GZIP,
];

/// A command and its data.
pub struct Workload {
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// What it does, what its figures contain, and what changes them. Markdown, wrapped by hand.
    pub notes: &'static str,
    /// The programs that an environment must have.
    pub needs: &'static [&'static str],
    /// Program and arguments, with `{data}` for the folder of its data and `{out}` for what is
    /// written.
    pub command: &'static [&'static str],
    /// Makes the data in an empty folder: the same, byte for byte, whenever and wherever.
    pub make: fn(&Path) -> io::Result<()>,
    /// Shell script that completes the data on this side, in the folder; empty for none.
    pub script: &'static str,
}

/// The workload of that name.
pub fn find(name: &str) -> Result<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name).copied().with_context(|| {
        let known: Vec<_> = WORKLOADS.iter().map(|it| (it.name, it.summary)).collect();
        suggest::unknown("workload", name, &known)
    })
}

/// For workloads without data.
fn nothing(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// The notes on all of them. `docs/WORKLOADS.md` begins with them.
pub const NOTES: &str = include_str!("introduction.md");

/// How a program of the user's own is timed. `docs/WORKLOADS.md` ends with it.
pub const EXAMPLE: &str = include_str!("own_program.md");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use sha2::{Digest, Sha256};

    use super::*;

    /// Paths, sizes and contents of all files, in one hash, and how many there are.
    fn digest(folder: &Path) -> (String, usize) {
        let mut open = vec![folder.to_owned()];
        let mut files = BTreeSet::new();
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    files.insert(path);
                }
            }
        }
        let mut hash = Sha256::new();
        let mut take = |path: &PathBuf| {
            let bytes = fs::read(path).unwrap();
            hash.update(path.strip_prefix(folder).unwrap().to_str().unwrap());
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        };
        files.iter().for_each(&mut take);
        let hash = hash.finalize();
        (hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect(), files.len())
    }

    /// Sessions of other versions and other machines are compared: a change of the data is a new
    /// workload, with a name of its own.
    #[test]
    fn data_is_always_the_same() {
        let known = [
            ("git-status", "8fba9e79a6e18278", 5000),
            ("tar", "80c558e8018fe060", 1000),
            ("configure", "31615fc75abfaa60", 1),
            ("gcc", "8edc9a73575c62fc", 1),
            ("python", "e3b0c44298fc1c14", 0),
            ("gzip", "664057fc6dad7ca4", 1),
        ];
        assert_eq!(known.len(), WORKLOADS.len());
        let mut found = Vec::new();
        for (name, ..) in known {
            let folder = tempfile::tempdir().unwrap();
            (find(name).unwrap().make)(folder.path()).unwrap();
            let (hash, files) = digest(folder.path());
            found.push((name, hash, files));
        }
        let known = known.map(|(name, hash, files)| (name, hash.to_owned(), files));
        assert_eq!(found, known);
    }

    #[test]
    fn names_are_unique_and_described() {
        let mut names = BTreeSet::new();
        for workload in WORKLOADS {
            assert!(names.insert(workload.name), "{} twice", workload.name);
            assert!(!workload.summary.is_empty() && !workload.notes.is_empty());
            assert!(workload.needs.contains(&workload.command[0]), "{}", workload.name);
        }
        assert!(
            find("make")
                .err()
                .unwrap()
                .to_string()
                .contains("no workload `make`; there are git-status")
        );
    }
}
