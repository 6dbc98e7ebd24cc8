//! The layers of envtax, compiled from its own sources for the targets in `targets/`, each of which
//! gives what libFuzzer makes up to one reader. `bench/fuzz` builds and runs them.
//!
//! envtax is a program and no library; here its folders become public, and what only its verbs use
//! is not called.

#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../src/cleanup/mod.rs"]
pub mod cleanup;
#[path = "../../src/compare/mod.rs"]
pub mod compare;
#[path = "../../src/control/mod.rs"]
pub mod control;
#[path = "../../src/deps/mod.rs"]
pub mod deps;
#[path = "../../src/explain/mod.rs"]
pub mod explain;
#[path = "../../src/facts/mod.rs"]
pub mod facts;
#[path = "../../src/import/mod.rs"]
pub mod import;
#[path = "../../src/inside/mod.rs"]
pub mod inside;
#[path = "../../src/launch/mod.rs"]
pub mod launch;
#[path = "../../src/measure/mod.rs"]
pub mod measure;
#[path = "../../src/model/mod.rs"]
pub mod model;
#[path = "../../src/mount/mod.rs"]
pub mod mount;
#[path = "../../src/plan/mod.rs"]
pub mod plan;
#[path = "../../src/probe/mod.rs"]
pub mod probe;
#[path = "../../src/protocol/mod.rs"]
pub mod protocol;
#[path = "../../src/record/mod.rs"]
pub mod record;
#[path = "../../src/recording/mod.rs"]
pub mod recording;
#[path = "../../src/reenact/mod.rs"]
pub mod reenact;
#[path = "../../src/report/mod.rs"]
pub mod report;
#[path = "../../src/runfile/mod.rs"]
pub mod runfile;
#[path = "../../src/stats/mod.rs"]
pub mod stats;
#[path = "../../src/sys/mod.rs"]
pub mod sys;
#[path = "../../src/units.rs"]
pub mod units;
#[path = "../../src/view/mod.rs"]
pub mod view;
#[path = "../../src/words/mod.rs"]
pub mod words;
#[path = "../../src/workload/mod.rs"]
pub mod workload;

/// Fails when the text has a character in it that a terminal acts on.
#[track_caller]
pub fn assert_harmless(text: &str) {
    let shown = model::visible(text);
    assert!(shown == text, "this reaches the terminal: {shown}");
}
