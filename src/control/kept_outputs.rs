//! Fetches the outputs of commands from their environments, for `--keep-output`.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::session::Session;
use super::settings::{AgentError, SessionSettings};
use crate::protocol::transfer::{OUTPUTS, bytes_of};
use crate::protocol::{Answer, Ask};

/// A name for the file or folder of that number, which tells it apart whatever letters are in it.
pub(super) fn file_name(number: usize, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.=".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    format!("{}-{name}", number + 1)
}

/// Fetches all that the last run of the session wrote into files that begin with `file`, and has it
/// removed there. A run that did not come to writing has none.
pub(super) fn fetch(
    session: &mut Session,
    file: &Path,
    settings: &SessionSettings<'_>,
) -> Result<(), AgentError> {
    for output in OUTPUTS {
        let mut path = file.as_os_str().to_owned();
        path.push(format!(".{output}"));
        let (path, mut kept, mut offset) = (Path::new(&path), None, 0);
        loop {
            let hex = match session.ask(Ask::Take { name: output.into(), offset }, settings)? {
                Answer::Piece { hex: Some(hex) } => hex,
                Answer::Piece { hex: None } => break,
                Answer::Failed(_) => return Ok(()),
                _ => return Err(AgentError::Dead(anyhow!("the agent there hands no files over"))),
            };
            let bytes = bytes_of(&hex).context("a piece is not hexadecimal")?;
            let kept = match &mut kept {
                Some(kept) => kept,
                none => none.insert(created(path)?),
            };
            if bytes.is_empty() {
                break;
            }
            kept.write_all(&bytes).with_context(|| format!("writing `{}`", path.display()))?;
            offset += bytes.len() as u64;
        }
    }
    let token = settings.token.clone();
    session.ask(Ask::Clean { paths: Vec::new(), token }, settings).map(drop)
}

fn created(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making `{}`", folder.display()))?;
    }
    File::create(path).with_context(|| format!("creating `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_told_apart() {
        assert_eq!(file_name(0, "native"), "1-native");
        assert_eq!(file_name(1, "sh -c 'a/b'"), "2-sh_-c__a_b_");
        assert_ne!(file_name(0, "a b"), file_name(1, "a_b"));
    }
}
