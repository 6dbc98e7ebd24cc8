//! Programs that are hard to record, and recordings and environments that are hard to use: each
//! says what is wrong, and leaves nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::support::{Envtax, Place, needs};

const FEW: [&str; 4] = ["--runs", "1", "--recordings", "1"];

fn record<'a>(place: &'a Place, command: &[&str]) -> Envtax<'a> {
    place.envtax(["record", "-o", "it.rec"]).args(FEW).args(["--"]).args(command)
}

fn explain<'a>(place: &'a Place, recording: &str, args: &[&str]) -> Envtax<'a> {
    let line = ["explain", recording, "--rounds", "2", "-o", "run.jsonl", "--force"];
    place.envtax(line).args(args)
}

/// A recording with its lines changed, one after the other.
fn changed(place: &Place, name: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let output = Command::new("zcat").arg(place.path("it.rec")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    place.write(name, lines.join("\n") + "\n");
    assert!(Command::new("gzip").arg(place.path(name)).status().unwrap().success());
    format!("{name}.gz")
}

#[test]
fn what_never_ends_is_recorded_until_the_time_limit() {
    let place = Place::new();
    let line = ["record", "-o", "it.rec", "--timeout", "2s", "--", "sh", "-c", "cat; sleep 600"];
    let done = place.envtax(line).start().wait_clean().exits(3);
    done.complains("did not end in time").complains("times without a recorder are unknown");
    let done = explain(&place, "it.rec", &["--env", "again=native"]).start().wait_clean();
    done.exits(0).prints("not end in time when it was recorded");
    place.is_clean();
}

#[test]
fn what_is_no_program_for_this_machine_says_so() {
    let place = Place::new();
    // The first bytes of a program for a processor that nobody has.
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(64, 0);
    (header[16], header[18]) = (2, 0xf3 ^ 0x55);
    let foreign = place.write_program("foreign", header);
    record(&place, &[&foreign]).run().exits(2).complains("foreign");
    let closed = place.write("closed", "#!/bin/sh\n");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).unwrap();
    record(&place, &[&closed]).run().exits(2).complains("closed");
    // There is no terminal: input is empty, and output is discarded.
    record(&place, &["tty"]).run().exits(2).complains("input and output are empty here");
    assert!(!place.has("it.rec"));
    place.is_clean();
}

/// envtax itself is static, and so are its stand-in processes.
#[test]
fn a_static_program_is_recorded() {
    let place = Place::new();
    let envtax = env!("CARGO_BIN_EXE_envtax");
    record(&place, &[envtax, "--version"]).run().exits(0).complains("1 process and 1 program");
    explain(&place, "it.rec", &["--env", "again=native"]).start().wait_clean().exits(0);
    place.is_clean();
}

#[test]
fn what_is_not_recorded_is_named() {
    if !needs("python3") {
        return;
    }
    let place = Place::new();
    let script = "import ctypes, socket; ctypes.CDLL(None).syscall(425, 0, 0); \
                  socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)";
    let done = record(&place, &["python3", "-c", script]).run().exits(0);
    done.complains("not re-enacted:").complains("io_uring_setup × 1").complains("socket × 1");
    let shown = place.envtax(["record", "--show", "it.rec"]).run().exits(0);
    shown.prints("io_uring_setup × 1");
    place.is_clean();
}

#[test]
fn a_file_outside_is_written_by_the_program_alone() {
    let place = Place::new();
    let outside = place.write("outside", "before");
    record(&place, &["sh", "-c", &format!("echo after >{outside}")]).run().exits(0);
    fs::write(&outside, "precious").unwrap();
    explain(&place, "it.rec", &["--env", "again=native"]).start().wait_clean().exits(0);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    place.is_clean();
}

#[test]
fn recordings_of_others_are_checked() {
    let place = Place::new();
    record(&place, &["cat", "/etc/passwd"]).run().exits(0);
    let newer = changed(&place, "newer", |lines| {
        lines[0] = lines[0].replacen("\"recording\":1", "\"recording\":99", 1);
    });
    explain(&place, &newer, &[]).run().exits(2).complains("take a newer envtax");
    let elsewhere = changed(&place, "elsewhere", |lines| {
        lines[0] = lines[0].replace(std::env::consts::ARCH, "riscv64");
    });
    explain(&place, &elsewhere, &[]).run().exits(2).complains("was recorded on riscv64");
    let large = changed(&place, "large", |lines| {
        let files: Value = serde_json::from_str(&lines[3]).unwrap();
        let path = files["files"][0]["path"].clone();
        let huge = format!("{{\"path\":{path},\"file\":[{},true]}}", 1_u64 << 40);
        lines[3] = format!("{{\"files\":[{}]}}", vec![huge; 64].join(","));
    });
    let done = explain(&place, &large, &[]).run().exits(2);
    done.complains("the stand-in files need").complains("name another folder with `--dir`");
    let many = changed(&place, "many", |lines| {
        let end = lines.pop().unwrap();
        let pages = "[0,{\"pages\":{\"fresh\":4194304,\"file\":0,\"copied\":0}}]";
        let events = vec![pages; 2000].join(",");
        lines.truncate(4);
        lines.push(format!("{{\"stream\":{{\"events\":[{events}]}}}}"));
        lines.push(end);
    });
    explain(&place, &many, &[]).run().exits(2).complains("of memory, more than half");
    place.write("plain.rec", "{\"recording\":1}");
    explain(&place, "plain.rec", &[]).run().exits(2).complains("cannot be used");
    place.is_clean();
}

#[test]
fn the_only_other_environment_does_not_start() {
    let place = Place::new();
    record(&place, &["true"]).run().exits(0);
    let done = explain(&place, "it.rec", &["--env", "gone=cmd:false"]).start().wait_clean();
    let done = done.exits(3).prints("gone: cannot be predicted, because");
    assert!(!done.err.contains("nothing was measured"), "{}", done.err);
    place.is_clean();
}

/// The folder of the stand-in files is not there, or nothing in it may be executed, or /proc is
/// empty.
#[test]
fn environments_that_lack_something_say_what() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    record(&place, &["cat", "/proc/self/status"]).run().exits(0);
    let dir = fs::canonicalize(place.path("target")).unwrap();
    let hidden = format!("hidden=cmd:bwrap --dev-bind / / --tmpfs {} --", dir.display());
    let args = ["--dir", "target", "--env", &hidden];
    let done = explain(&place, "it.rec", &args).start().wait_clean().exits(3);
    done.prints("hidden: cannot be predicted, because").prints("does not see");
    let empty = "empty=cmd:bwrap --dev-bind / / --tmpfs /proc --";
    let done = explain(&place, "it.rec", &["--env", empty]).start().wait_clean();
    assert!(done.out.contains("empty: "), "{}{}", done.out, done.err);
    place.is_clean();
}
