//! `tar` of a tree into one file.

use super::Workload;
use super::source::Source;

pub static TAR: Workload = Workload {
    name: "tar",
    summary: "`tar` of 1000 files, about 16 MiB in 100 folders, into an archive",
    notes: include_str!("tar.md"),
    needs: &["tar"],
    command: &["tar", "-cf", "{out}", "-C", "{data}", "."],
    make: |folder| Source::new(2).tree(folder, (100, 1000), (1 << 10, 32 << 10)),
    script: "",
};
