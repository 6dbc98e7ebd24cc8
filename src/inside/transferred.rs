//! Files that the controller sends into the environment, and files that it fetches from there.
//!
//! They may be private: every folder is made for this user alone, and files have the mode that they
//! have on the other side.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cleanup::leftovers::{SENT, hold, scratch_name};
use crate::protocol::transfer::{PIECE, Piece, bytes_of, hex_of};
use crate::sys;

/// A folder that other runs do not take for a leftover. Dropping this value removes it.
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

/// Files that were sent here, in one folder. Dropping this value removes them.
#[derive(Default)]
pub struct SentFiles(RefCell<Option<HeldFolder>>);

impl SentFiles {
    /// Appends a piece to the file of that number and name. Returns the file's path.
    pub fn put(
        &self,
        place: &Path,
        (token, launch): (&str, u32),
        (number, name): (usize, &str),
        piece: &Piece,
    ) -> Result<String> {
        let mut sent = self.0.borrow_mut();
        if sent.is_none() {
            let folder = place.join(scratch_name(token, SENT + u64::from(launch)));
            sys::make_private_folder(&folder)
                .with_context(|| format!("making `{}`", folder.display()))?;
            *sent = Some(HeldFolder::of(folder));
        }
        let folder = sent.as_ref().context("a folder that was just made")?;
        // Each file has its own folder: inputs of different folders may have the same name.
        let folder = folder.path.join(number.to_string());
        sys::make_private_folders(&folder)?;
        let name = Path::new(name).file_name().context("a name without a file")?;
        let path = folder.join(name);
        let mut file = sys::append_private(&path)?;
        file.write_all(&bytes_of(&piece.hex).context("the piece is not hexadecimal")?)
            .with_context(|| format!("writing `{}`", path.display()))?;
        if let Some(mode) = piece.mode {
            sys::set_mode(&file, mode)?;
        }
        Ok(path.to_str().context("the path is not UTF-8")?.to_owned())
    }
}

/// The folder of the last run whose output is to be kept, until it is released.
#[derive(Default)]
pub struct KeptOutput(RefCell<Option<HeldFolder>>);

impl KeptOutput {
    /// Keeps that folder instead of the one before.
    pub fn keep(&self, folder: PathBuf) {
        self.0.replace(Some(HeldFolder::of(folder)));
    }

    /// The piece of that file that begins at `offset`. It is empty at the end of the file. None if
    /// there is no such file.
    pub fn piece(&self, name: &str, offset: u64) -> Result<Option<Piece>> {
        let kept = self.0.borrow();
        let folder = kept.as_ref().context("no run's output is kept")?;
        let path = folder.path.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let read = || -> io::Result<Piece> {
            let mut file = File::open(&path)?;
            let mode = sys::mode_of(&file.metadata()?);
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(PIECE as u64).read_to_end(&mut bytes)?;
            Ok(Piece { hex: hex_of(&bytes), mode })
        };
        read().map(Some).with_context(|| format!("reading `{}`", path.display()))
    }

    pub fn let_go(&self) {
        self.0.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(hex: &str, mode: Option<u32>) -> Piece {
        Piece { hex: hex.into(), mode }
    }

    #[test]
    fn sent_files_grow_by_pieces_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let files = SentFiles::default();
        let put = |number, hex, mode| {
            files.put(dir.path(), ("0123abcd", 7), (number, "a b"), &piece(hex, mode))
        };
        let path = put(0, "6f6b", Some(0o600)).unwrap();
        assert_eq!(put(0, "0aFF", Some(0o600)).unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"ok\n\xff");
        assert_ne!(put(1, "", None).unwrap(), path);
        assert!(put(1, "1", None).is_err() && put(1, "zz", None).is_err());
        let mode = |path: &Path| sys::mode_of(&fs::metadata(path).unwrap()).unwrap();
        assert_eq!(mode(Path::new(&path)), 0o600);
        let mut folder = Path::new(&path).parent().unwrap();
        while folder != dir.path() {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
            folder = folder.parent().unwrap();
        }
        let program = put(2, "", Some(0o755)).unwrap();
        assert_eq!(mode(Path::new(&program)), 0o755);
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
        let hex = |offset: usize| kept.piece("stdout", offset as u64).unwrap().unwrap().hex;
        assert_eq!(bytes_of(&hex(0)).unwrap(), bytes[..PIECE]);
        assert_eq!(hex(PIECE), "0001");
        assert_eq!(hex(bytes.len()), "");
        assert!(kept.piece("stderr", 0).unwrap().is_none());
        kept.let_go();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
