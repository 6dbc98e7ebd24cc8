//! Fetches the outputs of commands from their environments, for `--keep-output`.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};

use super::session::Session;
use super::settings::{AgentError, SessionSettings};
use crate::protocol::transfer::{OUTPUT_LIMIT, OUTPUTS, PIECE, bytes_of};
use crate::protocol::{Answer, Ask};
use crate::sys;

/// The time limit for fetching all outputs, as a multiple of the usual limit of one answer.
const TIME_LIMIT_FACTOR: u32 = 20;

/// A name for the file or folder with that number. The number makes it unique, whatever characters
/// of `name` are replaced.
pub(super) fn file_name(number: usize, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.=".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    format!("{}-{name}", number + 1)
}

/// Fetches all files that the last run of the session wrote and whose names begin with `file`, and
/// has the agent remove them. A run that failed before it wrote has none.
pub(super) fn fetch(
    session: &mut Session,
    file: &Path,
    settings: &SessionSettings<'_>,
) -> Result<(), AgentError> {
    let until = Instant::now() + settings.answer_limit * TIME_LIMIT_FACTOR;
    let limit = Limit { bytes: OUTPUT_LIMIT, until };
    for output in OUTPUTS {
        let mut path = file.as_os_str().to_owned();
        path.push(format!(".{output}"));
        let next = |offset| session.ask(Ask::Take { name: output.into(), offset }, settings);
        if !receive(Path::new(&path), &limit, next)? {
            return Ok(());
        }
    }
    let token = settings.token.clone();
    session.ask(Ask::Clean { paths: Vec::new(), token }, settings).map(drop)
}

/// Writes the pieces that `next` returns into a file, from its first byte to its last. Returns
/// whether the agent keeps any output.
fn receive(
    path: &Path,
    limit: &Limit,
    mut next: impl FnMut(u64) -> Result<Answer, AgentError>,
) -> Result<bool, AgentError> {
    let (mut kept, mut offset) = (None, 0);
    loop {
        let piece = match next(offset)? {
            Answer::Piece(Some(piece)) => piece,
            Answer::Piece(None) => return Ok(true),
            Answer::Failed(_) => return Ok(false),
            _ => return Err(AgentError::Dead(anyhow!("the agent there sends no files"))),
        };
        let bytes = bytes_of(&piece.hex).context("a piece is not hexadecimal")?;
        offset += bytes.len() as u64;
        limit.check(bytes.len(), offset).inspect_err(|_| drop(fs::remove_file(path)))?;
        let kept = match &mut kept {
            Some(kept) => kept,
            none => none.insert(created(path)?),
        };
        kept.write_all(&bytes).with_context(|| format!("writing `{}`", path.display()))?;
        if bytes.len() < PIECE {
            // Private files stay private. Other users may never write to an output.
            let mode = piece.mode.unwrap_or(0o600) & !0o022;
            sys::set_mode(kept, mode).context("setting a file's mode")?;
            return Ok(true);
        }
    }
}

/// How much an agent may send, and until when.
struct Limit {
    bytes: u64,
    until: Instant,
}

impl Limit {
    /// An error if a piece of this length, which makes `bytes` in all, exceeds the limit.
    fn check(&self, piece: usize, bytes: u64) -> Result<()> {
        let most = self.bytes;
        ensure!(piece <= PIECE, "the agent there sends a piece of more than {PIECE} bytes");
        ensure!(bytes <= most, "the agent there sends more than {most} bytes");
        ensure!(Instant::now() < self.until, "the agent there takes too long to send it");
        Ok(())
    }
}

/// Creates the file for this user alone, in a folder that is private too.
fn created(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        sys::make_private_folders(folder)
            .with_context(|| format!("making `{}`", folder.display()))?;
    }
    sys::create_private(path).with_context(|| format!("creating `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::transfer::Piece;

    fn piece(bytes: usize, mode: u32) -> Result<Answer, AgentError> {
        Ok(Answer::Piece(Some(Piece { hex: "00".repeat(bytes), mode: Some(mode) })))
    }

    fn limit(bytes: usize) -> Limit {
        Limit { bytes: bytes as u64, until: Instant::now() + Duration::from_secs(600) }
    }

    #[test]
    fn private_outputs_stay_private() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("kept/1-x/out");
        let mode = |path: &Path| sys::mode_of(&fs::metadata(path).unwrap());
        receive(&path, &limit(PIECE), |_| piece(3, 0o600)).unwrap();
        assert_eq!((mode(&path), fs::metadata(&path).unwrap().len()), (Some(0o600), 3));
        assert_eq!(mode(path.parent().unwrap()), Some(0o700));
        assert_eq!(mode(path.parent().unwrap().parent().unwrap()), Some(0o700));
        receive(&path, &limit(PIECE), |_| piece(2, 0o777)).unwrap();
        assert_eq!((mode(&path), fs::metadata(&path).unwrap().len()), (Some(0o755), 2));
    }

    #[test]
    fn an_output_without_end_is_given_up_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let given_up = |limit: &Limit, bytes: usize| {
            let error = receive(&path, limit, |_| piece(bytes, 0o600)).unwrap_err();
            assert!(!path.exists());
            let AgentError::Dead(error) = error else { panic!("{error:?}") };
            error.to_string()
        };
        assert!(given_up(&limit(3 * PIECE), PIECE).contains("more than 393216 bytes"));
        assert!(given_up(&limit(3 * PIECE), PIECE + 1).contains("a piece of more than"));
        let over = Limit { until: Instant::now(), ..limit(3 * PIECE) };
        assert!(given_up(&over, PIECE).contains("too long"));
    }

    #[test]
    fn names_are_plain_and_told_apart() {
        assert_eq!(file_name(0, "native"), "1-native");
        assert_eq!(file_name(1, "sh -c 'a/b'"), "2-sh_-c__a_b_");
        assert_ne!(file_name(0, "a b"), file_name(1, "a_b"));
    }
}
