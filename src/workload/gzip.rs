//! `gzip` of a text.

use super::Workload;
use super::source::{self, Source};

pub static GZIP: Workload = Workload {
    name: "gzip",
    summary: "`gzip` of a text of 4 MiB, thrown away",
    notes: "\
Computes, and does little else: on the same processor it should cost the same in every
environment. Where it does not, the processor is shared, limited or emulated. Look at
this row first, before you read the others.",
    needs: &["gzip"],
    command: &["gzip", "-nc", "{data}/text"],
    make: |folder| source::write(&folder.join("text"), &Source::new(3).text(4 << 20)),
    script: "",
};
