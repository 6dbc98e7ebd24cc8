//! `envtax explain FILE` up to the script, and `envtax record --show FILE`, of an unpacked recording.

#![no_main]

use envtax_fuzz::recording::format::parse;
use envtax_fuzz::recording::script::{MOST_FDS, MOST_SLOTS};
use envtax_fuzz::reenact::{Options, bytes_needed, compile, pages_needed};
use envtax_fuzz::{assert_harmless, explain};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let recording = match parse(bytes) {
        Ok(recording) => recording,
        Err(error) => {
            // What was read is shown by `main`, which makes it harmless.
            let _ = format!("{error:#}");
            return;
        }
    };
    assert_harmless(&explain::shown(&recording).replace('\n', " "));
    let _ = (bytes_needed(&recording), pages_needed(&recording));
    let options = Options { steps_per_ns: 1.0, ..Options::default() };
    let compiled = compile(&recording, &options);
    for text in compiled.script.texts.split(|byte| *byte == 0).filter(|text| !text.is_empty()) {
        let text = std::str::from_utf8(text).expect("paths are text");
        assert!(text[1..].split('/').all(|part| part != ".."), "{text}");
        assert!(
            !text.starts_with("A/")
                || text.starts_with("A/dev/")
                || text.starts_with("A/proc/")
                || text.starts_with("A/sys/"),
            "{text}"
        );
    }
    for it in compiled.script.streams.iter().flatten() {
        assert!(it.fd < MOST_FDS && MOST_SLOTS > 0);
    }
});
