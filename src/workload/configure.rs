//! A script like `./configure`: many short programs and small compilations.

use super::Workload;
use super::source;

pub static CONFIGURE: Workload = Workload {
    name: "configure",
    summary: "a script like `./configure`: 30 small compilations among 250 short programs",
    notes: include_str!("configure.md"),
    needs: &["sh", "cc", "sed", "expr", "grep", "cat", "uname", "mkdir", "rm"],
    command: &["sh", "{data}/configure", "{out}"],
    make: |folder| source::write(&folder.join("configure"), SCRIPT.as_bytes()),
    script: "",
};

const SCRIPT: &str = r##"#!/bin/sh
# Finds out what this system has and writes it down as a header file: configure OUT
set -eu
LC_ALL=C
export LC_ALL
out=$1
mkdir "$out.d"
cd "$out.d"

name() {
    expr "x$1" : 'x\(.*\)' | sed 'y,abcdefghijklmnopqrstuvwxyz./,ABCDEFGHIJKLMNOPQRSTUVWXYZ__,'
}

define() {
    echo "#define $1 $2" >>found.h
}

builds() {
    cc -o test test.c >>log 2>&1
}

uname -m | grep -q 64 && define LONG_MACHINE 1 || define LONG_MACHINE 0

for header in assert ctype errno fcntl limits math signal stdarg stddef stdio stdlib \
    string sys/stat sys/types time unistd; do
    cat >test.c <<END
#include <$header.h>
int main(void) { return 0; }
END
    cc -c -o test.o test.c >>log 2>&1 && has=1 || has=0
    define "HAVE_$(name "$header.h")" "$has"
    rm -f test.c test.o
done

for function in getpid fork mmap strlen no_such_function memmem strtoull poll select qsort; do
    cat >test.c <<END
char $function();
int main(void) { return $function() != 0; }
END
    builds && has=1 || has=0
    define "HAVE_$(name "$function")" "$has"
    rm -f test.c test
done

for type in char int long 'void *'; do
    cat >test.c <<END
#include <stdio.h>
int main(void) { printf("%d\n", (int)sizeof($type)); return 0; }
END
    builds
    define "SIZEOF_$(name "$(echo "$type" | sed 's/ \*/p/')")" "$(./test)"
    rm -f test.c test
done

sed -n 's/^#define //p' found.h | grep -c . >>log
cat found.h >"$out"
"##;
