//! The start of Python.

use super::{Workload, nothing};

pub static PYTHON: Workload = Workload {
    name: "python",
    summary: "start and end of Python: `python3 -c pass`",
    notes: "\
Loads an interpreter with its libraries and some dozen modules: an exec, memory
mappings, page faults, and several hundred attempts to open files. Isolated (`-I`) from
the user's own packages and variables. A `python3` that is a script of a version
manager is timed with that script, which may take longer than Python: `file -L $(which
python3)` tells, and that of the interpreter itself can be timed as a command.",
    needs: &["python3"],
    command: &["python3", "-I", "-c", "pass"],
    make: nothing,
    script: "",
};
