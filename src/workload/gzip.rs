//! `gzip` of a text.

use super::Workload;
use super::source::{self, Source};

pub static GZIP: Workload = Workload {
    name: "gzip",
    summary: "`gzip` of a text of 4 MiB, thrown away",
    notes: include_str!("gzip.md"),
    needs: &["gzip"],
    command: &["gzip", "-nc", "{data}/text"],
    make: |folder| source::write(&folder.join("text"), &Source::new(3).text(4 << 20)),
    script: "",
};
