//! The start of Python.

use super::{Workload, nothing};

pub static PYTHON: Workload = Workload {
    name: "python",
    summary: "start and end of Python: `python3 -c pass`",
    notes: include_str!("python.md"),
    needs: &["python3"],
    command: &["python3", "-I", "-c", "pass"],
    make: nothing,
    script: "",
};
