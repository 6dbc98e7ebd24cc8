//! A seccomp profile: a filter is made of it, or it is refused.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use envtax_fuzz::sys;
use libfuzzer_sys::fuzz_target;

/// The profile is read from a file. `bench/fuzz` gives each process a folder in memory for it.
static PATH: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("{}.json", std::process::id()));
    path.into_os_string().into_string().expect("a path of UTF-8")
});

fuzz_target!(|bytes: &[u8]| {
    fs::write(&*PATH, bytes).expect("writing the profile");
    let checked = sys::check_seccomp(&PATH);
    fs::remove_file(&*PATH).expect("removing it");
    if let Err(why) = checked {
        assert!(!why.is_empty());
    }
});
