//! Transfers files between the controller and an agent, in pieces, as text.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cleanup::leftovers::{SENT, hold, scratch_name};

/// What a run of a whole command leaves in its folder, as far as it was asked for: its standard
/// output and error, and the file at `{out}`.
pub const STDOUT: &str = "stdout";
pub const STDERR: &str = "stderr";
pub const WRITTEN: &str = "out";
/// All of it.
pub const OUTPUTS: [&str; 3] = [STDOUT, STDERR, WRITTEN];
/// Bytes of a file that go at a time: twice as many letters are well below a message's limit.
pub const PIECE: usize = 128 << 10;

/// The bytes as hexadecimal digits.
pub fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of such a text; none if it is not one.
pub fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(byte).collect()
}

/// A folder that other runs do not take for a leftover, removed with this value.
struct HeldFolder {
    path: PathBuf,
    _held: Option<File>,
}

impl HeldFolder {
    fn of(path: PathBuf) -> HeldFolder {
        let _held = hold(&path);
        HeldFolder { path, _held }
    }
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Files that were sent here, in a folder of their own; removed with this value.
#[derive(Default)]
pub struct SentFiles(RefCell<Option<HeldFolder>>);

impl SentFiles {
    /// Adds a piece to the file of that number and name; its path.
    pub fn put(
        &self,
        place: &Path,
        (token, launch): (&str, u32),
        (number, name): (usize, &str),
        hex: &str,
    ) -> Result<String> {
        let mut sent = self.0.borrow_mut();
        if sent.is_none() {
            let folder = place.join(scratch_name(token, SENT + u64::from(launch)));
            fs::create_dir(&folder).with_context(|| format!("making `{}`", folder.display()))?;
            *sent = Some(HeldFolder::of(folder));
        }
        let folder = sent.as_ref().context("a folder that was just made")?;
        // Each in a folder of its own: only whole paths tell inputs apart.
        let folder = folder.path.join(number.to_string());
        fs::create_dir_all(&folder)?;
        let name = Path::new(name).file_name().context("a name without a file")?;
        let path = folder.join(name);
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(&bytes_of(hex).context("the piece is not hexadecimal")?)
            .with_context(|| format!("writing `{}`", path.display()))?;
        Ok(path.to_str().context("the path is not UTF-8")?.to_owned())
    }
}

/// The folder of the last run whose output was to be kept, until it is let go.
#[derive(Default)]
pub struct KeptOutput(RefCell<Option<HeldFolder>>);

impl KeptOutput {
    /// Keeps that folder, in place of any before.
    pub fn keep(&self, folder: PathBuf) {
        self.0.replace(Some(HeldFolder::of(folder)));
    }

    /// The piece of that file that begins there, empty at its end; none where there is no such
    /// file.
    pub fn piece(&self, name: &str, offset: u64) -> Result<Option<String>> {
        let kept = self.0.borrow();
        let folder = kept.as_ref().context("no run's output is kept")?;
        let path = folder.path.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(PIECE as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().with_context(|| format!("reading `{}`", path.display()))?;
        Ok(Some(hex_of(&bytes)))
    }

    pub fn let_go(&self) {
        self.0.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_files_grow_by_pieces_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let files = SentFiles::default();
        let put = |number, hex| files.put(dir.path(), ("0123abcd", 7), (number, "a b"), hex);
        let path = put(0, "6f6b").unwrap();
        assert_eq!(put(0, "0aFF").unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"ok\n\xff");
        assert_ne!(put(1, "").unwrap(), path);
        assert!(put(1, "1").is_err() && put(1, "zz").is_err());
        drop(files);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn kept_output_comes_by_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptOutput::default();
        assert!(kept.piece("stdout", 0).is_err(), "nothing is kept");
        let folder = dir.path().join("run");
        fs::create_dir(&folder).unwrap();
        let bytes: Vec<u8> = (0..PIECE + 2).map(|at| at as u8).collect();
        fs::write(folder.join("stdout"), &bytes).unwrap();
        kept.keep(folder);
        let first = kept.piece("stdout", 0).unwrap().unwrap();
        assert_eq!(bytes_of(&first).unwrap(), bytes[..PIECE]);
        assert_eq!(kept.piece("stdout", PIECE as u64).unwrap().unwrap(), "0001");
        assert_eq!(kept.piece("stdout", bytes.len() as u64).unwrap().unwrap(), "");
        assert!(kept.piece("stderr", 0).unwrap().is_none());
        kept.let_go();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
