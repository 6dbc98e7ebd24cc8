//! Writing a run file, record by record.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::reader::parse;
use super::{Record, RunFile, limits};
use crate::sys;

/// A run file being written. No other run can write it meanwhile.
pub struct Writer {
    path: PathBuf,
    replace: bool,
    /// Held from the beginning on if it was there before.
    file: Option<File>,
    begun: bool,
}

impl Writer {
    /// Claims the path: a file that is there must not be another run's, and is an error unless
    /// `replace` is set. Nothing is written and nothing is lost until the first record.
    pub fn claim(path: &Path, replace: bool) -> Result<Writer> {
        let (path, exists) = (path.to_owned(), path.exists());
        let mut writer = Writer { path, replace, file: None, begun: false };
        if exists {
            writer.file = Some(writer.open()?);
        }
        Ok(writer)
    }

    fn open(&self) -> Result<File> {
        let path = self.path.display();
        let file = match sys::open_exclusively(&self.path, !self.replace) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!(
                    "`{path}` exists; choose another name with `-o`, or replace it with `--force`"
                )
            }
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                bail!("another run of envtax writes `{path}`; choose another name with `-o`")
            }
            Err(error) => return Err(error).with_context(|| format!("creating `{path}`")),
        };
        ensure!(
            file.metadata()?.is_file(),
            "`{path}` is not a file; choose another name with `-o`"
        );
        Ok(file)
    }

    /// Appends one record in one write. The first one takes the place of what was in the file.
    pub fn write(&mut self, record: &Record) -> Result<()> {
        // What could not be read again is not measured either.
        limits::check(record).with_context(|| format!("`{}`", self.path.display()))?;
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let is_new = self.file.is_none();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let cleared = if self.begun { Ok(()) } else { file.set_len(0) };
        let written = cleared.and_then(|()| file.write_all(line.as_bytes()));
        if written.is_err() && !self.begun {
            // A part of the first line is of no use to anybody.
            let _ = file.set_len(0);
            if is_new {
                let _ = fs::remove_file(&self.path);
            }
        }
        self.begun |= written.is_ok();
        self.file = Some(file);
        written.with_context(|| format!("writing `{}`", self.path.display()))
    }

    /// Whether there is a record.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Reads what was written, wherever the file is by now.
    pub fn read_back(&mut self) -> Result<RunFile> {
        let path = self.path.display();
        let mut bytes = Vec::new();
        let file = self.file.as_mut().with_context(|| format!("`{path}` was not written"))?;
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .with_context(|| format!("reading `{path}`"))?;
        parse(&bytes).with_context(|| format!("`{path}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runfile::{End, EndReason};

    const END: &str = "{\"record\":\"end\",\"reason\":\"budget\",\"elapsed_s\":1.0}\n";

    fn end() -> Record {
        Record::End(End { reason: EndReason::Budget, elapsed_s: 1.0 })
    }

    #[test]
    fn an_existing_file_is_not_replaced_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let error = |replace| Writer::claim(&path, replace).map(drop).unwrap_err().to_string();
        let mut writer = Writer::claim(&path, false).unwrap();
        assert!(!path.exists(), "nothing is written yet");
        writer.write(&end()).unwrap();
        assert!(error(false).contains("--force"));
        assert!(error(true).contains("another run of envtax writes"), "{}", error(true));
        drop(writer);
        // A test beside this one may be starting a process, which has the lock until it executes.
        let mut claims = (0..500).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Writer::claim(&path, true)
        });
        let mut writer = claims.find_map(Result::ok).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), END, "until there is something else");
        writer.write(&end()).unwrap();
        writer.write(&end()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), END.repeat(2));
        assert!(Writer::claim(dir.path(), true).is_err(), "a folder");
    }

    #[test]
    fn a_file_that_came_meanwhile_is_not_replaced_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let [mut one, mut two, mut three] =
            [false, false, true].map(|replace| Writer::claim(&path, replace).unwrap());
        one.write(&end()).unwrap();
        assert!(two.write(&end()).unwrap_err().to_string().contains("--force"));
        assert!(three.write(&end()).unwrap_err().to_string().contains("another run"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), END);
    }
}
