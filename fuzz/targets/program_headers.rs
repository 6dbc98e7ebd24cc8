//! The headers of programs, ELF and PE.

#![no_main]

use std::io::Cursor;

use envtax_fuzz::inside::program;
use libfuzzer_sys::fuzz_target;

/// More text than a thousand libraries and an interpreter can have.
const MOST: usize = 13_000_000;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(facts) = program::headers(Cursor::new(bytes)) {
        assert!(facts.values().map(String::len).sum::<usize>() < MOST);
    }
});
