//! The list of libraries that a loader prints, and the order of libraries that need each other.

#![no_main]

use envtax_fuzz::deps::closure::{Closure, Library};
use envtax_fuzz::deps::listing::read_listing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let listed = read_listing(&String::from_utf8_lossy(bytes));
    let count = listed.len();
    assert!(count <= 2000);
    // Who needs whom comes from the bytes as well; circles and missing names included.
    let wants = |index: usize, step: usize| usize::from(bytes[(index * 7 + step) % bytes.len()]);
    let libraries = listed.into_iter().enumerate().map(|(index, found)| Library {
        name: found.name,
        path: found.path.unwrap_or_default(),
        needs: (0..wants(index, 0) % 4).map(|step| wants(index, step + 1) % count).collect(),
    });
    let closure = Closure {
        program: "program".into(),
        loader: None,
        libraries: libraries.collect(),
        imports: (0..count.min(3)).collect(),
        delayed: Vec::new(),
        present: Vec::new(),
    };
    let mut order = closure.by_need();
    order.sort_unstable();
    assert!(order.iter().copied().eq(0..count));
    for import in 0..count.min(3) {
        assert!(closure.goes_with(import).is_subset(&closure.with_needs(&[import])));
        closure.asked_by(import);
    }
});
