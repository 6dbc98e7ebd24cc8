//! The output files of commands, kept by `--keep-output`.

use std::fs;

use crate::support::{Done, Place, needs};

fn time(place: &Place, options: &[&str], command: &[&str]) -> Done {
    let envtax = place.envtax(["time", "--long", "-o", "run.jsonl", "--force", "--runs", "2"]);
    envtax.args(options).args(["--"]).args(command).run()
}

#[test]
fn outputs_come_out_of_every_environment() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    // Its folder for temporary files cannot be seen from outside.
    let hidden = format!("hidden=bwrap:--tmpfs {}", place.path("tmp"));
    let options = ["--env", "native", "--env", &hidden, "--parameter", "n=1,200000"];
    let options = [&options[..], &["--keep-output", "kept"]].concat();
    // An output of many pieces, with bytes that are no text.
    let script = "head -c {n} /dev/zero; echo odd >&2; printf '\\377%s' {n} >{out}";
    time(&place, &options, &["sh", "-c", script]).exits(0);
    for column in ["1-native", "2-hidden"] {
        for (row, length) in [("1-command_n=1", 1), ("2-command_n=200000", 200_000)] {
            let read = |name| fs::read(place.path(&format!("kept/{column}/{row}.{name}"))).unwrap();
            assert_eq!(read("stdout"), vec![0; length], "{column} {row}");
            assert_eq!(read("stderr"), b"odd\n");
            assert_eq!(read("out"), [&b"\xff"[..], length.to_string().as_bytes()].concat());
        }
    }
    assert_eq!(fs::read_dir(place.path("kept/1-native")).unwrap().count(), 6, "and nothing else");
    place.is_clean();
}

#[test]
fn what_a_failing_command_wrote_is_kept_too() {
    let place = Place::new();
    let script = ["sh", "-c", "echo half; echo why >&2; exit 5"];
    time(&place, &["--keep-output", "kept"], &script).exits(3).prints("exit status: 5");
    let read = |name| fs::read_to_string(place.path(&format!("kept/1-native/1-command.{name}")));
    assert_eq!(read("stdout").unwrap(), "half\n");
    assert_eq!(read("stderr").unwrap(), "why\n");
    assert!(read("out").is_err(), "it was to write none");
    // A command that cannot start writes nothing, and its failure is reported as usual.
    let done = time(&place, &["--keep-output", "none"], &["/no/such/program"]).exits(3);
    done.prints("there is no program `/no/such/program`");
    let empty = fs::read_to_string(place.path("none/1-native/1-command.stdout")).unwrap();
    assert_eq!(empty, "");
    place.is_clean();
}

#[test]
fn outputs_are_not_mixed_with_others() {
    let place = Place::new();
    fs::create_dir(place.path("kept")).unwrap();
    place.write("kept/of-yesterday", "");
    let refused = time_unforced(&place, "kept").exits(2);
    refused.complains("`--keep-output kept`: the folder is not empty");
    place.write("file", "");
    time_unforced(&place, "file").exits(2).complains("`--keep-output file`");
}

fn time_unforced(place: &Place, folder: &str) -> Done {
    place.envtax(["time", "--long", "-o", "run.jsonl", "--keep-output", folder, "--", "true"]).run()
}
