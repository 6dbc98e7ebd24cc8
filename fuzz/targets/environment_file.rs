//! `environments.toml`: read, or refused with the place of the mistake.

#![no_main]

use envtax_fuzz::plan::environment_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match environment_file::parse("e.toml", text) {
        Ok(file) => assert!(file.environments().all(|spec| !spec.name.is_empty())),
        Err(error) => assert!(format!("{error:#}").starts_with("e.toml:"), "{error:#}"),
    }
});
