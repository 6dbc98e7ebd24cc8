//! `tar` of a tree into one file.

use super::Workload;
use super::source::Source;

pub static TAR: Workload = Workload {
    name: "tar",
    summary: "`tar` of 1000 files, about 16 MiB in 100 folders, into an archive",
    notes: "\
Reads every file (1 to 32 KiB) and writes one of their length together, into the
environment's folder for temporary files: opening, reading and writing, hardly any
computing. The archive is a real file, because GNU tar reads nothing when it sees that
it writes to the null device. It is not the same everywhere: names and numbers of the
files' owners and the order in folders are the environment's.",
    needs: &["tar"],
    command: &["tar", "-cf", "{out}", "-C", "{data}", "."],
    make: |folder| Source::new(2).tree(folder, (100, 1000), (1 << 10, 32 << 10)),
    script: "",
};
