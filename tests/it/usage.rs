//! Mistakes on the command line: exit code 2, an error that names the object, nothing measured,
//! nothing written.

use std::os::unix::ffi::OsStrExt;

use crate::support::{Done, Place};

/// `envtax run` with these arguments refuses to start.
#[track_caller]
fn refused(args: &[&str]) -> Done {
    let place = Place::new();
    let done = place.envtax(["run", "-o", "run.jsonl"]).args(args).run().exits(2);
    assert_eq!(done.out, "", "{args:?}");
    assert!(!place.has("run.jsonl"), "{args:?}");
    place.is_clean();
    done
}

#[test]
fn a_glob_that_fits_no_probe_is_named() {
    refused(&["--probe", "disk.*"]).complains("`--probe disk.*` matches no case");
    refused(&["--probe", "null", "--probe", "nul"]).complains("`--probe nul`");
}

/// A file of that name would be compared.
#[test]
fn an_option_that_is_not_there_is_not_said_to_belong_behind_dashes() {
    let done = Place::new().envtax(["compare", "run.jsonl", "-o", "x"]).run().exits(2);
    let done = done.complains("unexpected argument '-o'");
    assert!(!done.err.contains("-- -o"), "{}", done.err);
}

#[test]
fn an_unknown_kind_is_named_beside_those_there_are() {
    refused(&["--env", "x=lxd:alpine"]).complains("`lxd`").complains("firejail");
    refused(&["--env", ""]).complains("no environment kind");
}

#[test]
fn a_name_that_was_meant_is_suggested() {
    refused(&["--env", "brwap"]).complains("no environment kind `brwap`; did you mean `bwrap`?");
    refused(&["--env", "bubblewrap"]).complains("did you mean `bwrap`?");
    refused(&["--probe", "open"])
        .complains("`--probe open` matches no case; did you mean `file.open`?");
    refused(&["--probe", "file.opn size=1"]).complains("did you mean `file.open`?");
    refused(&["--suite", "unixbnech"]).complains("a similar value exists: 'unixbench'");
    refused(&["--layout", "tear-down"]).complains("a similar value exists: 'teardown'");
    refused(&["--dir", "d=tmps"]).complains("did you mean `tmpfs`?");
}

#[test]
fn a_target_directory_needs_a_name_and_an_absolute_path() {
    refused(&["--dir", "/tmp"]).complains("`--dir /tmp`: write `--dir NAME=PATH`");
    refused(&["--dir", "d=some/where"]).complains("`--dir d=some/where`").complains("absolute");
    refused(&["--dir", "=/tmp"]).complains("`--dir =/tmp`");
}

#[test]
fn a_target_directory_that_is_nowhere_is_named() {
    let done = refused(&["--env", "native", "--env", "b=native", "--dir", "d=/no/such/folder"]);
    done.complains("target directory `d`").complains("`/no/such/folder`");
    refused(&["--dir", "d=/proc/version"]).complains("`d`").complains("not a directory");
}

#[test]
fn names_are_given_once() {
    refused(&["--env", "native", "--env", "native"]).complains("`native`");
    refused(&["--env", "a=native", "--env", "a=namespace"]).complains("`a`");
    refused(&["--dir", "d=/tmp", "--dir", "d=/"]).complains("`d`");
}

#[test]
fn an_unknown_reference_is_named_beside_the_environments() {
    let done = refused(&["--env", "native", "--env", "b=native", "--reference", "c"]);
    done.complains("`--reference c`").complains("native, b");
}

#[test]
fn an_unknown_format_is_refused_before_anything_is_measured() {
    refused(&["--format", "xml"]).complains("'xml'").complains("markdown");
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    refused(&["--budget", "soon"]).complains("--budget").complains("90s");
    refused(&["--budget", "0"]).complains("--budget");
    refused(&["--budget", "1e300"]).complains("--budget").complains("365 days");
    refused(&["--answer-timeout", "400d"]).complains("--answer-timeout").complains("365 days");
    refused(&["--precision=-1"]).complains("--precision");
    refused(&["--precision", "NaN"]).complains("--precision");
    refused(&["--margin", "NaN"]).complains("--margin");
    refused(&["--margin=-1"]).complains("--margin");
    refused(&["--seed", "x"]).complains("--seed");
}

#[test]
fn an_error_that_nobody_can_read_is_still_an_exit_code() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = place.envtax(["compare", "no-such-file.jsonl"]).command();
    let status = command.stdout(std::process::Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn an_unknown_option_is_named() {
    refused(&["--no-such-option"]).complains("--no-such-option");
    let place = Place::new();
    place.envtax(["measure"]).run().exits(2).complains("measure");
    place.envtax([""; 0]).run().exits(2).complains("Usage");
}

#[test]
fn a_launcher_that_is_not_there_is_named() {
    let done = refused(&["--env", "x=cmd:/no/such/program -v"]);
    done.complains("environment `x`").complains("/no/such/program").complains("No such file");
}

#[test]
fn a_launcher_that_does_not_run_its_arguments_is_shown_with_the_command() {
    let done = refused(&["--env", "x=cmd:true"]);
    done.complains("environment `x`").complains("the agent ended").complains("by hand: true ");
    let done = refused(&["--env", "x=cmd:echo hi"]);
    done.complains("environment `x`").complains("it printed: hi").complains("by hand: echo hi ");
    let done = refused(&["--env", "x=cmd:sh -c 'echo no such container >&2; exit 5' sh"]);
    done.complains("it printed: no such container").complains("exit status: 5");
}

#[test]
fn a_missing_root_folder_is_named() {
    refused(&["--env", "chroot:/no/such/root"]).complains("`/no/such/root`");
    refused(&["--env", "proot:/no/such/root"]).complains("`/no/such/root`");
    refused(&["--env", "chroot"]).complains("chroot:DIR");
}

#[test]
fn a_run_file_that_cannot_be_made_is_named() {
    let place = Place::new();
    let args = ["run", "--probe", "null", "--budget", "300ms", "-o", "no/such/folder/run.jsonl"];
    place.envtax(args).run().exits(2).complains("no/such/folder/run.jsonl");
}

#[test]
fn comparing_names_what_is_wrong() {
    let place = Place::new();
    place.run(&["native"], &["null"]).args(["--budget", "300ms"]).run().exits(0);
    let refused = |args: &[&str]| {
        let done = place.envtax(["compare"]).args(args).run().exits(2);
        assert_eq!(done.out, "");
        done
    };
    refused(&[]).complains("<FILE[:ENV]>");
    refused(&["run.jsonl:other"]).complains("no environment `other`").complains("native");
    refused(&["run.jsonl", "--reference", "c"]).complains("`--reference c`");
    refused(&["run.jsonl", "--format", "xml"]).complains("'xml'");
    refused(&["run.jsonl:native", "run.jsonl:native"]).complains("given twice");
    let versus = ["run.jsonl", "--versus", "run.jsonl", "--reference", "native"];
    refused(&versus).complains("--versus");
    refused(&["run.jsonl", "--fail-above", "x"]).complains("--fail-above");
}

/// Such a gate would let everything pass.
#[test]
fn a_gate_that_is_no_number_is_refused() {
    let place = Place::new();
    let file = crate::support::data("run-v1.jsonl");
    let args = ["compare", file.to_str().unwrap(), "--fail-above", "NaN"];
    place.envtax(args).run().exits(2).complains("--fail-above");
}

#[test]
fn names_may_have_letters_of_any_script() {
    let place = Place::new();
    let dir = format!("資料={}", place.path("target"));
    let run = place.run(&["native", "日本語=native"], &["file.stat"]).args(["--dir", &dir]);
    run.args(["--budget", "300ms"]).run().exits(0).prints("日本語").prints("file.stat dir=資料");
    let args = ["compare", "run.jsonl:日本語", "run.jsonl:native"];
    place.envtax(args).run().exits(0).prints("run.jsonl:日本語");
    place.is_clean();
}

/// A file that could be written and not read again would be lost.
#[test]
fn paths_that_are_no_text_are_refused_for_writing_and_for_reading() {
    let place = Place::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff.jsonl");
    for args in [
        &["run", "--probe", "null", "-o"][..],
        &["time", "--runs", "2", "true", "-o"],
        &["run", "--environments"],
        &["time", "true", "--keep-output"],
        &["compare"],
        &["redact", "run.jsonl", "-o"],
        &["session", "add", "a", "--folder"],
    ] {
        let done = place.envtax(args).command().arg(odd).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("UTF-8"), "{args:?}: {said}");
    }
    assert!(!std::path::Path::new(&place.path("")).join(odd).exists());
    place.is_clean();
}
