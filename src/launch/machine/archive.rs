//! The archive that a kernel unpacks into its first filesystem: cpio in the format `newc`
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

const FOLDER: u32 = 0o040755;
const PROGRAM: u32 = 0o100755;

pub(super) struct Archive {
    output: BufWriter<File>,
    entries: u32,
}

impl Archive {
    pub(super) fn create(path: &Path) -> Result<Archive> {
        let file = File::create(path).with_context(|| format!("making `{}`", path.display()))?;
        Ok(Archive { output: BufWriter::new(file), entries: 0 })
    }

    pub(super) fn add_folder(&mut self, path: &str) -> Result<()> {
        self.entry(path, FOLDER, &[])
    }

    /// Adds a copy of that file.
    pub(super) fn add_file(&mut self, path: &str, from: &Path) -> Result<()> {
        let bytes = fs::read(from).with_context(|| format!("reading `{}`", from.display()))?;
        self.add(path, &bytes)
    }

    /// Adds a file with these bytes.
    pub(super) fn add(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.entry(path, PROGRAM, bytes)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.entry("TRAILER!!!", 0, &[])?;
        self.output.flush().context("writing the archive")
    }

    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        self.entries += 1;
        let name = path.trim_start_matches('/');
        let size = u32::try_from(bytes.len()).context("a file of more than 4 GiB")?;
        // Number, mode, user, group, links, time, size, two devices, length of the name, sum.
        let length = name.len() as u32 + 1;
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, length, 0];
        let mut head = String::from("070701");
        fields.iter().for_each(|field| head.push_str(&format!("{field:08x}")));
        head.push_str(name);
        head.push('\0');
        for part in [head.as_bytes(), bytes] {
            let padding = part.len().next_multiple_of(4) - part.len();
            self.output.write_all(part).context("writing the archive")?;
            self.output.write_all(&[0; 3][..padding]).context("writing the archive")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_as_the_kernel_expects_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("archive");
        let mut archive = Archive::create(&path).unwrap();
        archive.add_folder("/modules").unwrap();
        archive.add("/a", b"hello").unwrap();
        archive.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len().is_multiple_of(4));
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("07070100000001000041ed"));
        let file = text.find("07070100000002000081ed").unwrap();
        assert_eq!(&text[file + 110..file + 112], "a\0");
        assert_eq!(&text[file + 112..file + 120], "hello\0\0\0");
        assert!(text.contains("TRAILER!!!\0"));
    }
}
