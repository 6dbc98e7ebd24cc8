//! The start of Python.

use super::{Workload, nothing};

pub static PYTHON: Workload = Workload {
    name: "python",
    summary: "start and end of Python: `python3 -c pass`",
    notes: "\
Loads an interpreter with its libraries and some dozen modules: an exec, memory
mappings, page faults, and several hundred attempts to open files. It is
isolated (`-I`) from the user's own packages and variables. If `python3` is a script of
a version manager, the time contains that script, which may take longer than Python.
`file -L $(which python3)` shows that; time the interpreter itself as a command then.",
    needs: &["python3"],
    command: &["python3", "-I", "-c", "pass"],
    make: nothing,
    script: "",
};
