//! Asks the tool behind an environment for its version.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::cleanup::child;

/// How long the tool may take to print its version.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The version in the output of that command, such as `podman 4.3.1`; none if it prints none.
pub(super) fn version(command: &[&str]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let (mut output, mut input) = io::pipe().ok()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(input.try_clone().ok()?)
        .stderr(input.try_clone().ok()?)
        .spawn()
        .ok()?;
    // A version is too short to fill the pipe. A tool that prints more is ended by the time limit.
    child::ended_or_killed(&mut child, TIME_LIMIT).ok()??;
    // The newline ends the reading below, even if another process keeps the pipe open.
    input.write_all(b"\n").ok()?;
    let mut text = [0; 4096];
    let length = output.read(&mut text).ok()?;
    let name = Path::new(program).file_name()?.to_string_lossy();
    Some(format!("{name} {}", number_in(&String::from_utf8_lossy(&text[..length]))?))
}

/// The first word that has numbers around a dot, without what is before its first digit: `version
/// 4.3.1`, `wine-8.0`, `systemd 252 (252.39-1)`.
fn number_in<'a>(text: &'a str) -> Option<&'a str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let of_word = |word: &'a str| {
        let start = word.find(is_digit)?;
        let number = word[start..].trim_end_matches([')', ',', ';']);
        let (_, after) = number.split_once('.')?;
        after.starts_with(is_digit).then_some(number)
    };
    text.split_whitespace().find_map(of_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_print() {
        let texts = [
            ("podman version 4.3.1\n", "4.3.1"),
            ("Docker version 20.10.24+dfsg1, build 297e128\n", "20.10.24+dfsg1"),
            ("systemd 252 (252.39-1~deb12u1)\n+PAM", "252.39-1~deb12u1"),
            ("wine-8.0 (Debian 8.0~repack-4)\n", "8.0"),
            ("|__|  |__|__\\_____/\\____| 5.1.0\n", "5.1.0"),
            ("OpenSSH_9.2p1 Debian-2", "9.2p1"),
        ];
        for (text, version) in texts {
            assert_eq!(number_in(text), Some(version), "{text}");
        }
        assert_eq!(number_in("usage: x86_64 [options]."), None);
    }

    #[test]
    fn a_tool_that_is_not_there_or_does_not_tell_has_none() {
        assert_eq!(version(&["/no/such/tool", "--version"]), None);
        assert_eq!(version(&[]), None);
    }
}
