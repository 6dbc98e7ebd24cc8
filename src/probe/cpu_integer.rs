//! Integers, records and strings: Dhrystone.

use std::cell::Cell;
use std::hint::black_box;

use anyhow::{Result, ensure};

use super::{Probe, ProbeInfo, Setup, WHOLE};
use crate::measure::{Stopwatch, Workload};

pub struct CpuInteger;

static INFO: ProbeInfo = ProbeInfo {
    id: "cpu.integer",
    summary: "one pass of Dhrystone 2.1",
    timed: "One pass of the benchmark as Weicker published it: its eight procedures and three \
            functions once or a few times each, two record assignments, two string assignments \
            and a string comparison. Dhrystones a second are 1e9 divided by the ns.",
    excluded: "Checking the published final values after every sample. It makes no system call: \
             a difference between environments comes from the CPU that they were given. The \
             second of the two published files is called through pointers, which keeps the \
             compiler from merging them. Strings are compared byte by byte and not by a C \
             library: with a comparison by words, UnixBench's program takes a quarter less time.",
    unit: "pass",
    source: "Weicker, Dhrystone Benchmark: Rationale for Version 2 (1988); UnixBench dhry2reg",
    phases: WHOLE,
    params: &[],
    cases: &[""],
    on_files: false,
};

impl Probe for CpuInteger {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, _: &Setup<'_>) -> Result<Box<dyn Workload>> {
        Ok(Box::new(Dhrystone::new()))
    }
}

/// Thirty characters and the zero that ends them.
type Text = [u8; 31];

const SOME: Text = *b"DHRYSTONE PROGRAM, SOME STRING\0";
const FIRST: Text = *b"DHRYSTONE PROGRAM, 1'ST STRING\0";
const SECOND: Text = *b"DHRYSTONE PROGRAM, 2'ND STRING\0";
const THIRD: Text = *b"DHRYSTONE PROGRAM, 3'RD STRING\0";

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Ident {
    One,
    Two,
    Three,
    Four,
    // Part of the published program, but never used.
    #[allow(dead_code)]
    Five,
}

/// The published record, with the only one of its variants that is used, in the published memory
/// layout: the cost of a copy depends on it.
#[repr(C)]
struct Record {
    next: Cell<Option<&'static Record>>,
    kind: Cell<Ident>,
    ident: Cell<Ident>,
    number: Cell<i32>,
    text: Cell<Text>,
}

impl Record {
    /// Allocated once for the process, like the globals that it belongs to.
    fn forever(next: Option<&'static Record>) -> &'static Record {
        Box::leak(Box::new(Record {
            next: Cell::new(next),
            kind: Cell::new(Ident::One),
            ident: Cell::new(Ident::Three),
            number: Cell::new(40),
            text: Cell::new(SOME),
        }))
    }

    fn assign(&self, from: &Record) {
        self.next.set(from.next.get());
        self.kind.set(from.kind.get());
        self.ident.set(from.ident.get());
        self.number.set(from.number.get());
        self.text.set(from.text.get());
    }
}

/// The global variables that both files use.
struct Globals {
    record: Option<&'static Record>,
    int: Cell<i32>,
    flag: Cell<bool>,
    char_1: Cell<u8>,
    char_2: Cell<u8>,
}

type Row = [i32; 50];

/// Variables of the main program as the last pass left them.
#[derive(Debug, PartialEq)]
struct Locals {
    int_1: i32,
    int_2: i32,
    int_3: i32,
    ident: Ident,
    text_1: Text,
    text_2: Text,
}

struct Dhrystone {
    globals: Globals,
    row: Row,
    table: [Row; 50],
    locals: Locals,
    second_file: SecondFile,
    /// Passes that were done; one element of the table counts them too.
    passes: i32,
}

impl Dhrystone {
    fn new() -> Dhrystone {
        let last = Record::forever(None);
        let mut table = [[0; 50]; 50];
        table[8][7] = 10;
        Dhrystone {
            globals: Globals {
                record: Some(Record::forever(Some(last))),
                int: Cell::new(0),
                flag: Cell::new(false),
                char_1: Cell::new(0),
                char_2: Cell::new(0),
            },
            row: [0; 50],
            table,
            locals: Locals {
                int_1: 0,
                int_2: 0,
                int_3: 0,
                ident: Ident::One,
                text_1: FIRST,
                text_2: SECOND,
            },
            second_file: black_box(SECOND_FILE),
            passes: 0,
        }
    }

    /// The published main loop.
    fn pass(&mut self, index: i32) {
        let (globals, file) = (&self.globals, &self.second_file);
        proc_5(globals);
        proc_4(globals);
        let (mut int_1, mut int_2) = (2, 3);
        let int_3 = Cell::new(0);
        self.locals.text_2 = SECOND;
        let ident = Cell::new(Ident::Two);
        let greater = (file.func_2)(globals, &self.locals.text_1, &self.locals.text_2);
        globals.flag.set(!greater);
        while int_1 < int_2 {
            int_3.set(5 * int_1 - int_2);
            (file.proc_7)(int_1, int_2, &int_3);
            int_1 += 1;
        }
        (file.proc_8)(globals, &mut self.row, &mut self.table, int_1, int_3.get());
        if let Some(record) = globals.record {
            proc_1(globals, file, record);
        }
        let mut letter = b'A';
        while letter <= globals.char_2.get() {
            if ident.get() == (file.func_1)(globals, letter, b'C') {
                (file.proc_6)(globals, Ident::One, &ident);
                self.locals.text_2 = THIRD;
                int_2 = index;
                globals.int.set(index);
            }
            letter += 1;
        }
        int_2 = int_2.wrapping_mul(int_1);
        int_1 = int_2 / int_3.get();
        int_2 = 7 * (int_2 - int_3.get()) - int_1;
        let int_1 = proc_2(globals, int_1);
        let (int_3, ident) = (int_3.get(), ident.get());
        self.locals.int_1 = int_1;
        self.locals.int_2 = int_2;
        self.locals.int_3 = int_3;
        self.locals.ident = ident;
    }

    /// Compares every value for which the publication gives a final value.
    fn check(&self) -> Result<()> {
        let globals = &self.globals;
        let chars = [globals.char_1.get(), globals.char_2.get()];
        ensure!(globals.int.get() == 5, "Int_Glob is {}", globals.int.get());
        ensure!(globals.flag.get(), "Bool_Glob is false");
        ensure!(chars == *b"AB", "Ch_1_Glob and Ch_2_Glob are {chars:?}");
        ensure!(self.row[8] == 7, "Arr_1_Glob[8] is {}", self.row[8]);
        let counted = self.table[8][7];
        let passes = self.passes;
        ensure!(counted == passes.wrapping_add(10), "counted {counted} of {passes} passes and 10");
        let first = globals.record;
        let second = first.and_then(|record| record.next.get());
        for (record, ident, number) in [(first, Ident::Two, 17), (second, Ident::One, 18)] {
            let is_right = record.is_some_and(|record| {
                let next = record.next.get().zip(second);
                // As published: the third value of the enumeration here, the second one there.
                let wanted = if ident == Ident::Two { Ident::Three } else { Ident::Two };
                next.is_some_and(|(next, second)| std::ptr::eq(next, second))
                    && record.kind.get() == Ident::One
                    && record.ident.get() == wanted
                    && record.number.get() == number
                    && record.text.get() == SOME
            });
            ensure!(is_right, "the record that should hold {number} holds something else");
        }
        let right = Locals {
            int_1: 5,
            int_2: 13,
            int_3: 7,
            ident: Ident::Two,
            text_1: FIRST,
            text_2: SECOND,
        };
        ensure!(self.locals == right, "the main program's variables are {:?}", self.locals);
        Ok(())
    }
}

impl Workload for Dhrystone {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.passes = self.passes.wrapping_add(1);
            self.pass(self.passes);
        }
        Ok(iterations)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.check()
    }
}

fn proc_1(globals: &Globals, file: &SecondFile, record: &Record) {
    let (Some(next), Some(global)) = (record.next.get(), globals.record) else { return };
    next.assign(global);
    record.number.set(5);
    next.number.set(record.number.get());
    next.next.set(record.next.get());
    proc_3(globals, file, &next.next);
    if next.kind.get() == Ident::One {
        next.number.set(6);
        (file.proc_6)(globals, record.ident.get(), &next.ident);
        next.next.set(global.next.get());
        (file.proc_7)(next.number.get(), 10, &next.number);
    } else if let Some(next) = record.next.get() {
        record.assign(next);
    }
}

fn proc_2(globals: &Globals, value: i32) -> i32 {
    let mut result = value;
    let mut int = value + 10;
    loop {
        let mut done = false;
        if globals.char_1.get() == b'A' {
            int -= 1;
            result = int - globals.int.get();
            done = true;
        }
        if done {
            return result;
        }
    }
}

fn proc_3(globals: &Globals, file: &SecondFile, target: &Cell<Option<&'static Record>>) {
    if let Some(record) = globals.record {
        target.set(record.next.get());
        (file.proc_7)(10, globals.int.get(), &record.number);
    }
}

fn proc_4(globals: &Globals) {
    let is_a = globals.char_1.get() == b'A';
    globals.flag.set(is_a | globals.flag.get());
    globals.char_2.set(b'B');
}

fn proc_5(globals: &Globals) {
    globals.char_1.set(b'A');
    globals.flag.set(false);
}

/// The second published file. The benchmark's rules ask for it to be compiled separately; pointers
/// that the compiler cannot see through have the same effect.
struct SecondFile {
    proc_6: fn(&Globals, Ident, &Cell<Ident>),
    proc_7: fn(i32, i32, &Cell<i32>),
    proc_8: fn(&Globals, &mut Row, &mut [Row; 50], i32, i32),
    func_1: fn(&Globals, u8, u8) -> Ident,
    func_2: fn(&Globals, &Text, &Text) -> bool,
}

const SECOND_FILE: SecondFile = SecondFile { proc_6, proc_7, proc_8, func_1, func_2 };

fn proc_6(globals: &Globals, value: Ident, target: &Cell<Ident>) {
    target.set(value);
    if !func_3(value) {
        target.set(Ident::Four);
    }
    match value {
        Ident::One => target.set(Ident::One),
        Ident::Two if globals.int.get() > 100 => target.set(Ident::One),
        Ident::Two => target.set(Ident::Four),
        Ident::Three => target.set(Ident::Two),
        Ident::Four => {}
        Ident::Five => target.set(Ident::Three),
    }
}

fn proc_7(value_1: i32, value_2: i32, target: &Cell<i32>) {
    target.set(value_2 + (value_1 + 2));
}

fn proc_8(globals: &Globals, row: &mut Row, table: &mut [Row; 50], value_1: i32, value_2: i32) {
    let at = value_1 as usize + 5;
    row[at] = value_2;
    row[at + 1] = row[at];
    row[at + 30] = at as i32;
    table[at][at..=at + 1].fill(at as i32);
    table[at][at - 1] = table[at][at - 1].wrapping_add(1);
    table[at + 20][at] = row[at];
    globals.int.set(5);
}

fn func_1(globals: &Globals, char_1: u8, char_2: u8) -> Ident {
    if char_1 != char_2 {
        return Ident::One;
    }
    globals.char_1.set(char_1);
    Ident::Two
}

fn func_2(globals: &Globals, text_1: &Text, text_2: &Text) -> bool {
    let mut letter = b'A';
    let mut at = 2;
    while at <= 2 {
        if func_1(globals, text_1[at], text_2[at + 1]) == Ident::One {
            letter = b'A';
            at += 1;
        }
    }
    if (b'W'..b'Z').contains(&letter) {
        at = 7;
    }
    if letter == b'R' {
        return true;
    }
    let greater = compare(text_1, text_2) > 0;
    if greater {
        globals.int.set(at as i32 + 7);
    }
    greater
}

/// `strcmp`: a call also in the published program.
#[inline(never)]
fn compare(text_1: &Text, text_2: &Text) -> i32 {
    let mut at = 0;
    while text_1[at] == text_2[at] && text_1[at] != 0 {
        at += 1;
    }
    i32::from(text_1[at]) - i32::from(text_2[at])
}

fn func_3(value: Ident) -> bool {
    value == Ident::Three
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_end_in_the_published_values() {
        let mut benchmark = Dhrystone::new();
        for iterations in [1, 1, 98] {
            benchmark.run(iterations, &mut Stopwatch::default()).unwrap();
            benchmark.check().unwrap();
        }
        assert_eq!(benchmark.table[8][7], 110);
    }

    #[test]
    fn wrong_results_are_errors() {
        let mut benchmark = Dhrystone::new();
        assert!(benchmark.check().is_err(), "nothing was done yet");
        benchmark.run(1, &mut Stopwatch::default()).unwrap();
        benchmark.globals.record.unwrap().number.set(1);
        let error = benchmark.check().unwrap_err().to_string();
        assert!(error.contains("should hold 17"), "{error}");
        benchmark.run(1, &mut Stopwatch::default()).unwrap();
        benchmark.passes += 1;
        assert!(benchmark.check().unwrap_err().to_string().contains("12 of 3 passes"));
    }
}
