//! Sends the agent's binary through the environment's own `sh`, for environments that do not see
//! this machine's files. The agent removes the binary as soon as it runs: it continues from the
//! file that it holds open.

/// The script that receives the binary.
const SCRIPT: &str = include_str!("staging.sh");

/// The words that start the shell with the script. The number of bytes must follow them.
pub(super) fn shell(machine: &str) -> [String; 5] {
    ["sh", "-c", &one_line(), "sh", machine].map(str::to_owned)
}

/// The same for programs that join their arguments and have another shell split them again, such as
/// `ssh`.
pub(super) fn quoted(machine: &str) -> [String; 5] {
    shell(machine).map(|word| shell_words::quote(&word).into_owned())
}

/// The script in one line without comments, so that the command is easier to copy.
fn one_line() -> String {
    let lines = SCRIPT.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Child, Command, Output, Stdio};

    use super::*;

    /// A program that takes the place of the agent's binary: it tells where it is, and removes
    /// itself.
    const PROGRAM: &[u8] =
        b"#!/bin/sh\nd=${3%/envtax}; stat -c '%a %F' \"$d\" \"$3\"; ls -A \"$d\"\n\
                             rm -r \"$d\"\n";

    /// Starts the script, with that folder for temporary files. It first waits for a line of input.
    fn start(folder: &Path, bytes: usize) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "read -r line; exec sh \"$@\"", "sh", "-c", &one_line(), "sh"]);
        command.args([std::env::consts::ARCH, &bytes.to_string()]).env("TMPDIR", folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Sends the line and then these bytes.
    fn send(mut child: Child, bytes: &[u8]) -> Output {
        let mut input = child.stdin.take().unwrap();
        input.write_all(&[b"\n", bytes].concat()).unwrap();
        drop(input);
        child.wait_with_output().unwrap()
    }

    #[test]
    fn the_binary_is_alone_in_a_private_folder_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let output = send(start(folder.path(), PROGRAM.len()), PROGRAM);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text, "700 directory\n700 regular file\nenvtax\n", "{output:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_binary_that_arrives_in_part_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let output = send(start(folder.path(), PROGRAM.len() + 1), PROGRAM);
        assert!(String::from_utf8_lossy(&output.stderr).contains("in part"), "{output:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Another user may put files and links where a name can be guessed.
    #[test]
    fn what_another_user_planted_is_neither_written_nor_run() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "#!/bin/sh\necho planted\n").unwrap();
        let child = start(folder.path(), PROGRAM.len());
        let guesses = [format!(".envtax-try-{}", child.id()), format!("envtax-{}", child.id())];
        for guess in &guesses {
            crate::sys::make_link(&victim, &folder.path().join(guess)).unwrap();
        }
        let output = send(child, PROGRAM);
        assert!(output.status.success(), "{output:?}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("planted"), "{output:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "#!/bin/sh\necho planted\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1 + guesses.len());
    }
}
