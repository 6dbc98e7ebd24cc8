//! What tests need of the machine. If it is missing, they say so and pass without testing anything;
//! with `CI=true` they fail.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether the program is on the search path.
pub fn needs(program: &str) -> bool {
    let found = on_path(program).is_some();
    if !found {
        missing(&format!("there is no `{program}`; scripts/setup installs it"));
    }
    found
}

/// The program's path, from the search path.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.into_iter().find(|place| place.is_file())
}

/// Whether bubblewrap can limit a tmpfs (0.7 and later).
pub fn needs_bwrap_size() -> bool {
    if !needs("bwrap") {
        return false;
    }
    let help = Command::new("bwrap").arg("--help").output().unwrap();
    let can = String::from_utf8_lossy(&[help.stdout, help.stderr].concat()).contains("--size");
    if !can {
        missing("this bubblewrap has no `--size`");
    }
    can
}

/// Whether there is a kernel for guests: the machine's own, or a downloaded one.
pub fn needs_kernel() -> bool {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
    let places = ["/boot".to_owned(), format!("{cache}/envtax/kernel/boot")];
    let found = places.iter().filter_map(|place| fs::read_dir(place).ok()).any(|entries| {
        let mut entries = entries.flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with("vmlinuz-"))
    });
    if !found {
        missing("there is no kernel for guests; scripts/fetch-kernel gets one");
    }
    found
}

/// Reports that something is missing which a test needs.
pub fn missing(why: &str) {
    let strict = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!strict, "{why}");
    eprintln!("not tested: {why}");
}

/// The path of a file in `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Whether this user is root. Only root can start everything here.
pub fn needs_root() -> bool {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        eprintln!("not tested: only root can do this here");
    }
    root
}
