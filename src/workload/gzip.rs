//! `gzip` of a text.

use super::Workload;
use super::source::{self, Source};

pub static GZIP: Workload = Workload {
    name: "gzip",
    summary: "`gzip` of a text of 4 MiB, thrown away",
    notes: "\
Computes, and does little else: in an environment on the same processor it should cost
what it costs outside. Where it does not, the processor is shared, limited or emulated,
which is to be known before anything else is read from a table.",
    needs: &["gzip"],
    command: &["gzip", "-nc", "{data}/text"],
    make: |folder| source::write(&folder.join("text"), &Source::new(3).text(4 << 20)),
    script: "",
};
