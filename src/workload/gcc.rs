//! A C compiler with one file.

use std::io;
use std::path::Path;

use super::Workload;
use super::source::{self, Source};

/// Functions in the file.
const FUNCTIONS: u32 = 20;

pub static GCC: Workload = Workload {
    name: "gcc",
    summary: "`gcc -O2 -c` of one C file of 20 functions",
    notes: include_str!("gcc.md"),
    needs: &["gcc"],
    command: &["gcc", "-O2", "-c", "-o", "{out}", "{data}/unit.c"],
    make,
    script: "",
};

fn make(folder: &Path) -> io::Result<()> {
    let mut source = Source::new(4);
    let mut code = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n");
    for number in 0..FUNCTIONS {
        code += &format!("long f{number}(long *a, long n)\n{{\n    long s = {number}, i;\n");
        for _ in 0..4 {
            let (by, add, shift) = (source.below(97) + 2, source.below(1000), source.below(7) + 1);
            code += &format!("    for (i = 0; i < n; i++) {{\n        a[i] = a[i] * {by} + s;\n");
            code += &format!("        if (a[i] & {add})\n            s += a[i] >> {shift};\n");
            code += &format!("        else\n            s ^= a[i] + {add};\n    }}\n");
        }
        if number > 0 {
            let other = source.below(number);
            code += &format!("    if (s > n)\n        s -= f{other}(a + 1, n - 1);\n");
        }
        code += "    return s;\n}\n\n";
    }
    code += "int main(int argc, char **argv)\n{\n    long a[64];\n    memset(a, argc, sizeof a);\n";
    let last = FUNCTIONS - 1;
    code += &format!("    printf(\"%s %ld\\n\", argv[0], f{last}(a, 64));\n    return 0;\n}}\n");
    source::write(&folder.join("unit.c"), code.as_bytes())
}
