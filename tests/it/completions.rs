//! Completions, asked as the shells ask them.

use std::process::Command;

use crate::support::{Place, needs};

/// What bash offers for the last of these words, which follow `envtax`.
fn bash(place: &Place, words: &[&str]) -> Vec<String> {
    let ask = r#"
        source completions
        function=$(complete -p envtax | sed 's/.*-F \([^ ]*\) .*/\1/')
        COMP_WORDS=(envtax "$@"); COMP_CWORD=$#
        last="${COMP_WORDS[COMP_CWORD]}"; [ "$last" = "=" ] && last=""
        "$function" envtax "$last" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", ask, "bash"]).args(words).current_dir(place.path(""));
    let done = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{words:?}");
    let offered = String::from_utf8(done.stdout).unwrap();
    offered.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn script(place: &Place, shell: &str) {
    let done = place.envtax(["completions", shell]).run().exits(0);
    place.write("completions", done.out);
}

#[test]
fn bash_completes_verbs_options_and_values() {
    if !needs("bash") {
        return;
    }
    let place = Place::new();
    script(&place, "bash");
    assert_eq!(bash(&place, &["ses"]), ["session"]);
    for hidden in ["agent", "worker", "guard", "busy"] {
        assert!(bash(&place, &[&hidden[..3]]).is_empty(), "{hidden}");
        assert!(!bash(&place, &[""]).iter().any(|verb| verb == hidden), "{hidden}");
    }
    assert_eq!(bash(&place, &["run", "--su"]), ["--suite"]);
    assert_eq!(bash(&place, &["run", "--suite", "unix"]), ["unixbench"]);
    assert_eq!(bash(&place, &["run", "--env", "bw"]), ["bwrap"]);
    assert_eq!(bash(&place, &["doctor", "--env", "gv"]), ["gvisor"]);
    assert_eq!(bash(&place, &["time", "--env", "chr"]), ["chroot"]);
    assert_eq!(bash(&place, &["run", "--env", "ssh"]), ["ssh:"]);
    assert_eq!(bash(&place, &["run", "--probe", "file.op"]), ["file.open"]);
    assert_eq!(bash(&place, &["run", "--dir", "tm"]), ["tmpfs=tmpfs"]);
    // Bash has three words for NAME=VALUE.
    assert_eq!(bash(&place, &["run", "--env", "box", "=", "bw"]), ["bwrap"]);
    assert!(bash(&place, &["run", "--env", "box", "="]).contains(&"bwrap".to_owned()));
    assert_eq!(bash(&place, &["run", "--dir", "mem", "=", "tm"]), ["tmpfs"]);
    assert_eq!(bash(&place, &["compare", "--format", "m"]), ["markdown"]);
}

#[test]
fn the_other_shells_read_their_scripts() {
    let place = Place::new();
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        script(&place, shell);
        if crate::support::on_path(shell).is_none() {
            continue;
        }
        let mut command = Command::new(shell);
        let done = command.args([check, &place.path("completions")]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() && said.is_empty(), "{shell}: {said}");
    }
}
