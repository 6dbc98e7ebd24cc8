//! Command lines as this system's users write them.

use std::borrow::Cow;
use std::process::Command;

/// The words of a command that has the shell run this line.
pub fn shell(line: &str) -> Vec<String> {
    ["sh", "-c", line].map(str::to_owned).to_vec()
}

/// The command of these words; none without a word.
pub fn command_of(words: &[String]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// The line for a reader that takes a backslash for a quote, as users of this system do.
pub fn quoted_backslashes(line: &str) -> Cow<'_, str> {
    line.into()
}
