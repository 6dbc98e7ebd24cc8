//! `tar` of a tree into one file.

use super::Workload;
use super::source::Source;

pub static TAR: Workload = Workload {
    name: "tar",
    summary: "`tar` of 1000 files, about 16 MiB in 100 folders, into an archive",
    notes: "\
Reads every file (1 to 32 KiB) and writes one archive of all of them into the
environment's folder for temporary files: it opens, reads and writes, and hardly
computes. The archive is a real file, because GNU tar reads nothing when it writes to
the null device. Archives differ between environments: names and numbers of the files'
owners and the order in folders are the environment's.",
    needs: &["tar"],
    command: &["tar", "-cf", "{out}", "-C", "{data}", "."],
    make: |folder| Source::new(2).tree(folder, (100, 1000), (1 << 10, 32 << 10)),
    script: "",
};
