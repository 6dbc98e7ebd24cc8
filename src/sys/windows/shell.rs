//! Command lines as this system's users write them.

use std::borrow::Cow;
use std::os::windows::process::CommandExt;
use std::process::Command;

/// `/d`: without what the registry says to run first. `/s`: of the line that follows, only the
/// outermost quotes are taken away.
const SHELL: [&str; 4] = ["cmd", "/d", "/s", "/c"];

/// The words of a command that has the shell run this line.
pub fn shell(line: &str) -> Vec<String> {
    SHELL.into_iter().chain([line]).map(str::to_owned).collect()
}

/// The command of these words; none without a word.
///
/// The shell does not split its line as other programs do, so the line is passed on as it is.
pub fn command_of(words: &[String]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    match arguments {
        [options @ .., line] if options == &SHELL[1..] && program == SHELL[0] => {
            command.args(options).raw_arg(format!("\"{line}\""));
        }
        _ => {
            command.args(arguments);
        }
    }
    Some(command)
}

/// The line for a reader that takes a backslash for a quote: here it separates folders. Before a
/// double quote it keeps its meaning, and between single quotes it has none.
pub fn quoted_backslashes(line: &str) -> Cow<'_, str> {
    let (mut quoted, mut single, mut double) = (String::new(), false, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        quoted.push(letter);
        match letter {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '\\' if !single => quoted.push(letters.next_if_eq(&'"').unwrap_or('\\')),
            _ => {}
        }
    }
    quoted.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_gets_its_line_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("a b");
        let line = format!("echo \"x y\">\"{}\"&& exit 7", place.display());
        let status = command_of(&shell(&line)).unwrap().status().unwrap();
        assert_eq!(status.code(), Some(7));
        assert_eq!(std::fs::read_to_string(place).unwrap().trim_end(), "\"x y\"");
        assert!(command_of(&[]).is_none());
    }

    #[test]
    fn backslashes_separate_folders() {
        let words = |line: &str| shell_words::split(&quoted_backslashes(line)).unwrap();
        assert_eq!(
            words(r"C:\a\x.exe \\host\share 'D:\b c\'"),
            [r"C:\a\x.exe", r"\\host\share", r"D:\b c\"]
        );
        assert_eq!(words(r#""C:\a b\x" say \"hi\""#), [r"C:\a b\x", "say", "\"hi\""]);
    }
}
