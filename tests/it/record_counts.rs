//! What `envtax record` counts, against an independent counter.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support::{Place, needs};

/// Calls by name in the header of a recording.
fn recorded(place: &Place) -> BTreeMap<String, u64> {
    let file = File::open(place.path("it.rec")).unwrap();
    let header = BufReader::new(GzDecoder::new(file)).lines().next().unwrap().unwrap();
    let header: Value = serde_json::from_str(&header).unwrap();
    serde_json::from_value(header["calls"].clone()).unwrap()
}

/// Calls by name that strace sees begin.
fn traced(place: &Place, words: &[&str]) -> BTreeMap<String, u64> {
    let log = place.path("strace.log");
    let status = Command::new("strace")
        .args(["-f", "-qq", "-e", "signal=none", "-o", &log])
        .args(words)
        .env("TMPDIR", place.path("tmp"))
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{words:?}: {status}");
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(&log).unwrap().lines() {
        let what = line.trim_start_matches(|it: char| it.is_ascii_digit() || it == ' ');
        // The end of a call that another process interrupted has been counted at its beginning.
        if !what.starts_with(['<', '+', '-']) {
            let name = what.split('(').next().unwrap().to_owned();
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

#[test]
fn calls_are_counted_as_strace_counts_them() {
    if !needs("strace") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    for file in 0..20 {
        place.write(&format!("tree/{file}"), vec![b'x'; 100 * file]);
    }
    let tree = place.path("tree");
    let pair = format!("/bin/cat {tree}/3; /bin/ls {tree}; exec /bin/true");
    let commands: [&[&str]; 4] = [
        &["/bin/ls", "-lR", &tree],
        &["/bin/grep", "-r", "x", &tree],
        &["/usr/bin/sort", "-r", &place.path("tree/7")],
        &["/bin/sh", "-c", &pair],
    ];
    for words in commands {
        let few = ["--runs", "1", "--recordings", "1", "--force", "--ignore-failure", "--"];
        place.envtax(["record", "-o", "it.rec"]).args(few).args(words).run().exits(0);
        let [mut ours, mut others] = [recorded(&place), traced(&place, words)];
        if words[0] == "/bin/sh" {
            // How often it waits depends on whether a child ends before or while it does.
            for name in ["wait4", "rt_sigreturn"] {
                ours.remove(name);
                others.remove(name);
            }
        }
        assert_eq!(ours, others, "{words:?}");
    }
}
