//! The program of a command: its file, whether it can be started, and its command line.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf, is_separator};

use windows_sys::Win32::Foundation::ERROR_BAD_EXE_FORMAT;

/// The file that the system would execute: a path as it is, or a name on the search path; both also
/// without the `.exe` at their ends.
pub fn find_program(word: &str) -> Option<PathBuf> {
    let suffixed = format!("{word}{}", env::consts::EXE_SUFFIX);
    // `tool` is `tool.exe` first of all, as it is to the system; `tool.1` may be complete.
    let names = match Path::new(word).extension() {
        None => [suffixed.as_str(), word],
        Some(_) => [word, suffixed.as_str()],
    };
    if word.contains(|c| is_separator(c) || c == ':') {
        let found = names.into_iter().find(|name| Path::new(name).is_file());
        return Some(PathBuf::from(found.unwrap_or(word)));
    }
    let search = env::var_os("PATH")?;
    let of = |folder: PathBuf| names.map(|name| folder.join(name));
    env::split_paths(&search).flat_map(of).find(|path| path.is_file())
}

/// Whether a start failed because the file is not a program of this system.
pub fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT as i32)
}

/// Checks the file's first bytes. Wine would start a program of the system below and give no handle
/// to wait for it; a batch file reads its arguments by rules of its own.
pub(super) fn check_program(path: &Path) -> io::Result<()> {
    let ending = path.extension().map(|it| it.to_ascii_lowercase()).unwrap_or_default();
    if ending == "bat" || ending == "cmd" {
        let text = "a batch file is no program: write `cmd /c FILE`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(2).read_to_end(&mut begin)?;
    match &*begin {
        b"MZ" => Ok(()),
        _ => Err(io::Error::from_raw_os_error(ERROR_BAD_EXE_FORMAT as i32)),
    }
}

/// The words as one line, which programs made by the usual C compilers and by Rust split again.
pub(super) fn command_line(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

/// Quotes a word where it has to be. A backslash stands for itself, except before a quote and at
/// the end of a quoted word, where two stand for one.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '\n', '\x0b', '"']) {
        return word.to_owned();
    }
    let (mut text, mut slashes) = (String::from("\""), 0);
    for letter in word.chars() {
        match letter {
            '\\' => slashes += 1,
            '"' => {
                text.extend(std::iter::repeat_n('\\', slashes + 1));
                slashes = 0;
            }
            _ => slashes = 0,
        }
        text.push(letter);
    }
    text.extend(std::iter::repeat_n('\\', slashes));
    text.push('"');
    text
}
