//! Results of other programs: hyperfine's, those of `time`, and tables.

#![no_main]

use envtax_fuzz::{assert_harmless, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match import::parse(bytes, "stem") {
        Ok(Some(run)) => assert!(run.imported && !run.header.plan.environments.is_empty()),
        Ok(None) => {}
        Err(error) => assert_harmless(&format!("{error:#}")),
    }
});
