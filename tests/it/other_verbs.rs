//! All verbs that neither measure nor compare, and outputs that are not a terminal.

use std::fs;
use std::io::pipe;
use std::process::{Command, Stdio};

use crate::support::{Envtax, Place, SHORT, data, needs};

#[test]
fn lists_name_what_there_is() {
    let place = Place::new();
    let list = |what: &str| place.envtax(["list", what]).run().exits(0);
    list("probes").prints("syscall.getppid").prints("process.exec").prints("target=tiny");
    list("environments").prints("native").prints("cmd:PREFIX").prints("bwrap[:OPTIONS]");
    list("formats").prints("text").prints("markdown").prints("csv").prints("json");
    let long = place.envtax(["list", "probes", "--long"]).run().exits(0);
    long.prints("## process.fork").prints("- Source:");
    place.envtax(["list", "nothing"]).run().exits(2).complains("nothing");
}

#[test]
fn the_doctor_tells_what_starts_here_and_why_the_rest_does_not() {
    let place = Place::new();
    let done = place.envtax(["doctor"]).run().exits(0);
    let done = done.prints("kernel").prints("native yes starts in").prints("cmd:PREFIX...");
    done.prints("cpus").prints("slowest tenth of 5 ms loops +").prints("scratch");
    let broken = place.fake("x", "echo no such container >&2; exit 1");
    let done = place.envtax(["doctor", "--env", "native", "--env", &broken]).run().exits(0);
    done.prints("native yes").prints("no such container").prints("remedy:");
    place.envtax(["doctor", "--env", "x=lxd"]).run().exits(2).complains("`lxd`");
    place.is_clean();
}

/// Booting takes up to a minute, so it needs a request.
#[test]
fn the_doctor_boots_a_machine_only_when_it_is_asked_to() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    // A machine that leaves a file when it is started.
    let script = format!("#!/bin/sh\ntouch {}\nexit 1\n", place.path("mark"));
    for machine in ["linux.uml", "qemu-system-x86_64"] {
        place.write_program(&format!("bin/{machine}"), &script);
    }
    let file = "[environments.guest]\nkind = 'uml'\n\
                [environments.lost]\nkind = 'vm'\nargument = 'kernel=/no/such'\n";
    place.write("environments.toml", file);
    let doctor = || place.envtax(["doctor"]).variable("PATH", &place.path("bin"));
    let done = doctor().run().exits(0);
    let done = done.prints("uml ? boots a machine: `envtax doctor --env uml` tries it");
    let done = done.prints("guest ? boots a machine: `envtax doctor --env guest` tries it");
    // What is missing is reported without a start.
    done.prints("lost no option `kernel`: there is no `/no/such`");
    assert!(!place.has("mark"));
    let path = format!("{}:/usr/bin:/bin", place.path("bin"));
    let booted = place.envtax(["doctor", "--env", "guest"]).variable("PATH", &path).run();
    booted.exits(0).prints("guest no");
    assert!(place.has("mark"));
    place.is_clean();
}

#[test]
fn the_doctor_leaves_nothing_of_the_environments_it_tried() {
    if !needs("bwrap") || !needs("proot") {
        return;
    }
    let place = Place::new();
    place.envtax(["doctor"]).run().exits(0).prints("bwrap yes").prints("proot yes");
    place.is_clean();
}

/// A killed launcher cannot clean up: PRoot would leave a file.
#[test]
fn the_doctor_lets_the_environments_end_by_themselves() {
    let place = Place::new();
    let spec = place.fake("x", &format!("\"$@\"; echo ended >{}", place.path("mark")));
    place.envtax(["doctor", "--env", &spec]).run().exits(0).prints("yes");
    assert!(place.has("mark"), "the launcher was killed");
}

#[test]
fn help_manual_and_completions_are_printed() {
    let place = Place::new();
    let says = |args: &[&str], words: &str| {
        assert_eq!(place.envtax(args).run().exits(0).prints(words).err, "");
    };
    says(&["--help"], "Usage: envtax <COMMAND>");
    says(&["run", "--help"], "--answer-timeout <DURATION>");
    says(&["compare", "--help"], "Exit codes:");
    says(&["--version"], env!("CARGO_PKG_VERSION"));
    says(&["run", "--help"], "130 a second Ctrl-C ended the run at once");
    says(&["run", "--help"], "[possible values: text,");
    says(&["man"], ".TH ENVTAX");
    says(&["completions", "bash"], "complete -F _envtax");
    says(&["completions", "fish"], "complete -c envtax");
    says(&["completions", "bash"], "text markdown");
}

#[test]
fn the_manual_is_valid_roff() {
    if !needs("groff") {
        return;
    }
    let place = Place::new();
    let page = place.write("envtax.1", place.envtax(["man"]).run().exits(0).out);
    let groff = Command::new("groff").args(["-man", "-ww", "-z", &page]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&groff.stderr), "");
}

/// Runs with a standard output whose reader has gone, as in `| head -1`.
fn unread(envtax: &Envtax<'_>) {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = envtax.command().stdout(writer).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(!err.contains("panicked") && !err.contains("Broken pipe"), "{err}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Place::new();
    let fixture = data("run-v1.jsonl");
    let fixture = fixture.to_str().unwrap();
    let verbs: [&[&str]; 6] = [
        &["list", "probes"],
        &["list", "probes", "--long"],
        &["doctor", "--env", "native"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ];
    for args in verbs {
        unread(&place.envtax(args));
    }
    for format in place.formats() {
        unread(&place.envtax(["compare", fixture, "--format", &format]));
    }
}

#[test]
fn a_run_whose_reader_left_keeps_its_file() {
    let place = Place::new();
    unread(&place.run(&["native"], &["null"]).args(SHORT));
    place.comparison("run.jsonl").measured("null", "native");
}

#[test]
fn output_that_is_no_terminal_has_no_escape_sequences() {
    let place = Place::new();
    for colour in ["", "1"] {
        let run = place.run(&["native", "other=native"], &["process.fork"]).args(SHORT);
        let done = run.args(["--force"]).variable("NO_COLOR", colour).run().exits(0);
        assert!(!done.out.contains('\x1b') && !done.err.contains('\x1b'), "{done:?}");
    }
}

/// The output on a terminal, which is made by `script`, with these variables.
fn on_a_terminal(place: &Place, variables: &str) -> String {
    let program = env!("CARGO_BIN_EXE_envtax");
    let file = data("run-v1.jsonl");
    let line = format!("stty cols 100; {variables} {program} compare {}", file.display());
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(place.path(""));
    command.env_remove("NO_COLOR").env("TERM", "xterm").stdin(Stdio::null());
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_terminal_gets_colour_unless_it_or_the_user_says_no() {
    if !needs("script") {
        return;
    }
    let place = Place::new();
    assert!(on_a_terminal(&place, "env").contains("\x1b["));
    for plain in ["NO_COLOR=1", "TERM=dumb"] {
        let text = on_a_terminal(&place, &format!("env {plain}"));
        assert!(text.contains("native") && !text.contains('\x1b'), "{plain}: {text}");
    }
    assert!(on_a_terminal(&place, "env NO_COLOR=").contains("\x1b["), "empty means not set");
}
