//! The probes of files, on more than one filesystem at once.

use crate::support::Place;

#[test]
fn two_directories_are_measured_in_one_run() {
    let place = Place::new();
    let other = tempfile::Builder::new().tempdir_in(other_filesystem()).unwrap();
    let dirs = [format!("a={}", place.path("target")), format!("b={}", other.path().display())];
    let probes = [
        "file.rename",
        "file.symlink",
        "file.mkdir",
        "file.list entries=100",
        "file.walk files=100",
        "file.copy",
        "file.fault",
    ];
    let run = place.run(&["native"], &probes).args(dirs.iter().flat_map(|dir| ["--dir", dir]));
    run.args(["--budget", "300s", "--precision", "100"]).run().exits(0);
    // One row for each phase of each case, in both directories.
    for dir in ["a", "b"] {
        assert_eq!(
            place.comparison("run.jsonl").all_measured(dir, "native"),
            1 + 3 + 2 + 1 + 1 + 3 + 2
        );
    }
    place.is_clean();
    assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0, "nothing is left there either");
}

/// A folder in memory if there is one, so that the two directories differ.
fn other_filesystem() -> std::path::PathBuf {
    let memory = std::path::PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
