//! Whole commands that everyone has, with the data that they work on: one file each, listed once
//! below in the order in which documents show them. Each says what is to be made;
//! `control/workloads.rs` makes it.

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
        let names: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
        format!("there is no workload `{name}`; there are {}", names.join(", "))
    })
}

/// For workloads without data.
fn nothing(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// What is said of all of them. `docs/WORKLOADS.md` begins with it.
pub const NOTES: &str = "\
A workload is a whole command that everyone has, with data that envtax makes for it:

    envtax time --workload git-status --workload tar --env native --env podman:IMAGE

Each is a row for every figure of `envtax time`, each environment a column.

- *Data*: made before the environments start, in a folder below `TMPDIR` (or `/tmp`),
  not timed, the same bytes whenever and wherever: a session before a change and one
  after it work on the same. It is a target directory called `data`: environments that
  do not see this machine's files get it as they get those of `--dir`, and what its
  filesystem is in each is in the run file. It is removed at the end, by the guard
  process of a killed run, or by the next run. A root folder of the user's
  (`crun:rootfs=DIR`) has an empty folder meanwhile, on which it is mounted. A guest
  (`vm:root=/`) has it over 9p, with the guest's cache. A `chroot:DIR` that shows no
  `TMPDIR` of this machine has only workloads without data.
- *Programs*: those of the environment. One that an environment lacks is a row that is
  skipped there, with the program's name. An environment with another version of it
  does other work: `envtax time` compares what the commands do where they are, not
  one binary in two places.
- *What is written* goes to a folder of the run below the environment's own `TMPDIR`
  (or `/tmp`) and is removed after the run, not timed. That may be another filesystem
  than the data's.
- *Warm*: all data was just written, so that it is read from memory. The first run in
  an environment is kept apart from the later ones.
";

/// A program that is no workload, as it is timed with files of one's own.
pub const EXAMPLE: &str = "\
## A program of one's own

What people compare is a program of theirs with files of theirs. The one that
`envtax time` was first asked for is lepton, which makes JPEG files smaller without
loss, before and after an update of the system. Its port to Rust is public; 0.3.0 has
the program (0.4.0 builds in a git repository only, later ones are libraries alone):

    cargo install lepton_jpeg --version 0.3.0

    envtax time --label before -o before.jsonl --verify-output \\
        --input a.jpg --input b.jpg --input c.jpg \\
        --conclude 'lepton_jpeg_util {out} {out}.jpg' --conclude 'cmp {} {out}.jpg' \\
        -- lepton_jpeg_util {} {out}

Each input is a row. After every run, not timed, the result is turned back and compared
with the input byte by byte: a run whose result is wrong fails its row.
`lepton_jpeg_util` computes with several threads, so that user time can be more than
wall time, and turns its result back itself before it writes it, which is timed.

The same files here and in machines of their own, whose root is this machine's; the results
are kept, and the first hash decides:

    envtax time --env native --env vm:root=/ --env uml:root=/ --verify-output \\
        --keep-output results --input /photos/a.jpg -- ~/.cargo/bin/lepton_jpeg_util {} {out}
";

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
        assert!(find("make").err().unwrap().to_string().contains("`make`; there are git-status"));
    }
}
