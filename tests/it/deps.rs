//! `envtax deps`: the libraries of programs that gcc links, and what is no such program.

use std::process::Command;

use serde_json::Value;

use crate::support::{Done, Place, needs};

/// Compiles C text, or links it, in the place.
fn gcc(place: &Place, text: &str, words: &[&str]) {
    let source = place.write("source.c", text);
    let folder = place.path("");
    let mut command = Command::new("gcc");
    command.args(["-O1", &source, "-L", &folder]).args(words).current_dir(&folder);
    assert!(command.status().unwrap().success(), "gcc {words:?}");
}

fn library(place: &Place, name: &str, text: &str, needs: &[&str]) {
    let file = format!("lib{name}.so");
    let words = ["-shared", "-fPIC", "-Wl,--no-as-needed", "-o", &file];
    gcc(place, text, &[&words[..], needs].concat());
}

fn deps(place: &Place, program: &str, more: &[&str]) -> Done {
    let words = ["deps", program, "--rounds", "3"];
    place.envtax([&words[..], more].concat()).run()
}

/// A constructor or destructor that takes at least that many ms.
fn waits(kind: &str, ms: u32) -> String {
    let body = format!("puts(\"loud\"); usleep({ms} * 1000);");
    format!(
        "#include <stdio.h>\n#include <unistd.h>\n__attribute__(({kind})) void w(void) {{ {body} }}"
    )
}

/// A program that asks for `liba` and `libc1`; `liba` asks for `libb`.
fn chain(place: &Place) -> String {
    library(place, "b", &waits("destructor", 20), &[]);
    library(place, "a", "", &["-lb"]);
    library(place, "c1", &waits("constructor", 30), &[]);
    let words = ["-o", "program", "-Wl,--no-as-needed", "-la", "-lc1", "-Wl,-rpath,$ORIGIN"];
    gcc(
        place,
        "int main(void) { return 7; }",
        &[&words[..], &["-Wl,--disable-new-dtags"]].concat(),
    );
    place.path("program")
}

#[test]
fn each_library_is_charged_with_what_it_adds() {
    let place = Place::new();
    if !needs("gcc") {
        return;
    }
    let program = chain(&place);
    let done = deps(&place, &program, &["--json"]).exits(0);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let rows = found["added"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    let ms = |row: &Value, part: &str| row[part]["ns"].as_f64().unwrap() / 1e6;
    assert!(ms(row("libc1.so"), "start") >= 29.0, "{}", done.out);
    assert!(ms(row("libb.so"), "exit") >= 19.0, "{}", done.out);
    assert!(ms(row("liba.so"), "alone") >= 19.0, "it needs libb: {}", done.out);
    assert!(ms(row("libc1.so"), "alone") >= 29.0, "{}", done.out);
    assert!(ms(row("liba.so"), "whole") < ms(row("libb.so"), "whole"), "{}", done.out);
    assert_eq!(row("libb.so")["asked_by"], serde_json::json!(["liba.so"]));
    let place_of = |name: &str| rows.iter().position(|row| row["name"] == name).unwrap();
    assert!(place_of("libb.so") < place_of("liba.so"), "what is needed comes first");
    let imports = found["imports"].as_array().unwrap();
    let import = |name: &str| imports.iter().find(|row| row["import"] == name).unwrap();
    assert_eq!(import("liba.so")["goes_with"], serde_json::json!(["libb.so"]));
    assert!(ms(import("liba.so"), "gain") >= 19.0, "{}", done.out);
    let text = deps(&place, &program, &["--seed", "1"]).exits(0);
    let text = text.prints("loads 4 libraries; 3 rounds").prints("asked for by liba.so only");
    let text = text.prints("per 1000 starts, with libb.so").prints("gains nothing alone");
    assert!(!text.out.contains("loud"), "what libraries print is not shown");
    place.is_clean();
}

#[test]
fn a_library_that_needs_its_program_is_told() {
    let place = Place::new();
    if !needs("gcc") {
        return;
    }
    library(&place, "odd", "extern int of_program; int *here = &of_program;", &[]);
    let words = ["-o", "program", "-rdynamic", "-Wl,--no-as-needed", "-lodd", "-Wl,-rpath,$ORIGIN"];
    gcc(&place, "int of_program; int main(void) { return 0; }", &words);
    let done = deps(&place, &place.path("program"), &[]).exits(3);
    done.prints("without a figure: libodd.so: a program with only these libraries fails");
    place.is_clean();
}

#[test]
fn a_program_whose_library_is_missing_is_told() {
    let place = Place::new();
    if !needs("gcc") {
        return;
    }
    library(&place, "gone", "", &[]);
    let words = ["-o", "program", "-Wl,--no-as-needed", "-lgone"];
    gcc(&place, "int main(void) { return 0; }", &words);
    std::fs::remove_file(place.path("libgone.so")).unwrap();
    let done = deps(&place, &place.path("program"), &[]).exits(2);
    done.complains("its loader does not find libgone.so").complains("LD_LIBRARY_PATH");
    place.is_clean();
}

/// An ELF file without segments, of that class and machine.
fn elf(class: u8, machine: u8) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
    bytes[16..21].copy_from_slice(&[2, 0, machine, 0, 1]);
    bytes
}

#[test]
fn what_is_no_dynamic_program_of_this_machine_is_told() {
    let place = Place::new();
    let other = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
    let seed = |name: &str| {
        std::fs::read(format!("{}/fuzz/seeds/program_headers/{name}", env!("CARGO_MANIFEST_DIR")))
    };
    let dynamic = seed("dynamic.elf").unwrap();
    let files: [(&str, &[u8], &str); 8] = [
        ("script", b"#!/usr/bin/env perl\n", "`envtax deps perl`"),
        ("with space.sh", b"#! /bin/bash -e\n", "`envtax deps /bin/bash`"),
        ("thirty-two", &elf(1, 3), "is a 32-bit program"),
        ("foreign", &elf(2, other), "and this machine has"),
        ("static", &elf(2, if other == 62 { 183 } else { 62 }), "is linked statically"),
        ("p64.exe", &seed("p64.exe").unwrap(), "is a program of Windows"),
        ("damaged", &dynamic[..70], "its headers are damaged"),
        ("text", b"hello", "is no program"),
    ];
    for (name, bytes, expected) in files {
        let path = place.write_program(name, bytes);
        deps(&place, &path, &[]).exits(2).complains(expected).complains(name);
    }
    deps(&place, "no-such-program", &[]).exits(2).complains("no program `no-such-program`");
    deps(&place, &place.path(""), &[]).exits(2).complains("is no file");
    // A loader that is not there.
    let mut bytes = dynamic;
    let name = b"/lib";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at + 1] = b'L';
    let path = place.write_program("no-loader", &bytes);
    deps(&place, &path, &[]).exits(2).complains("the loader `/Lib");
    place.is_clean();
}

#[test]
fn nothing_is_left_when_it_is_killed_while_a_library_hangs() {
    let place = Place::new();
    if !needs("gcc") {
        return;
    }
    library(&place, "slow", &waits("constructor", 600_000), &[]);
    let words = ["-o", "program", "-Wl,--no-as-needed", "-lslow", "-Wl,-rpath,$ORIGIN"];
    gcc(&place, "int main(void) { return 0; }", &words);
    let mut running = place.envtax(["deps", &place.path("program")]).start();
    running.until("a process that loads the library", |run| {
        run.processes().iter().any(|process| process.words[0].contains("/host"))
    });
    running.signal("KILL");
    running.wait_clean();
}
