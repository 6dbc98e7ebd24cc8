//! Messages to the person at the terminal, on standard error.

use std::io::{self, IsTerminal, Write};

use crate::{report, units};

/// Writes `envtax: TEXT`. A terminal gets lines that are broken between words; programs that read
/// standard error get the lines as they are. A closed stderr is no reason to fail.
pub fn say(text: &str) {
    let text = format!("envtax: {text}");
    let terminal = io::stderr().is_terminal();
    let text = if terminal { broken(&text, width()) } else { text };
    let _ = writeln!(io::stderr(), "{text}");
}

fn width() -> usize {
    comfy_table::Table::new().width().unwrap_or(report::WIDTH).into()
}

/// The text in lines of so many columns. Commands and what others printed are indented, and stay
/// whole so that they can be copied.
fn broken(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| match line.starts_with(' ') {
        true => vec![line.to_owned()],
        false => units::wrapped(line, width),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_broken_between_words_and_commands_are_not() {
        let text = "a message of several words\n  by hand: a command of several words";
        let expected = "a message of\nseveral words\n  by hand: a command of several words";
        assert_eq!(broken(text, 13), expected);
    }
}
