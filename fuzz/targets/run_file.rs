//! A run file: read, or refused with a message; and redacted, which must give a run file again.

#![no_main]

use envtax_fuzz::assert_harmless;
use envtax_fuzz::runfile::{Redactor, reader};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    match reader::parse(bytes) {
        Err(error) => assert_harmless(&format!("{error:#}")),
        Ok(_) => {
            let mut redactor = Redactor::default();
            let mut redacted = String::new();
            for line in bytes.split(|byte| *byte == b'\n') {
                let Ok(mut record) = serde_json::from_slice::<Value>(line) else { continue };
                redactor.record(&mut record);
                redacted += &format!("{record}\n");
            }
            if let Err(error) = reader::parse(redacted.as_bytes()) {
                panic!("a redacted file is refused: {error:#}\n{redacted}");
            }
        }
    }
});
