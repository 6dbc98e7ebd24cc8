//! Reads small files, of this system or of one that a test made up.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of a file that are read. `/proc/cpuinfo` of a large machine is much longer, and slow
/// to read; only its first CPU is needed.
const LONGEST: u64 = 16 << 10;

/// The folder that paths are relative to.
pub(super) struct Root<'a>(pub &'a Path);

impl Root<'_> {
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The beginning of a file.
    pub fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::with_capacity(4096);
        File::open(self.path(path)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line, for files with one value.
    pub fn first_line(&self, path: &str) -> Option<String> {
        // One call reads all of it; a second call, only to see the file's end, is avoided.
        let mut bytes = [0; 4096];
        let length = File::open(self.path(path)).ok()?.read(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes[..length]);
        text.lines().next().map(|line| line.trim().to_owned())
    }

    /// The value of a key in a file of pairs.
    pub fn value_of(&self, path: &str, key: &str, separator: char) -> Option<String> {
        value_in(&self.text(path)?, key, separator)
    }

    /// The text of a symbolic link.
    pub fn link(&self, path: &str) -> Option<String> {
        Some(fs::read_link(self.path(path)).ok()?.to_string_lossy().into_owned())
    }

    /// Names in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.flatten().map(name).collect();
        names.sort();
        names
    }
}

/// The value of a key in lines of pairs, without its quotes.
pub(super) fn value_in(text: &str, key: &str, separator: char) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = pairs.find(|(name, _)| name.trim() == key)?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// The word in brackets, which marks what is selected: `always [madvise] never`.
pub(super) fn chosen(text: &str) -> String {
    let marked = text.split_whitespace().find_map(|word| word.strip_prefix('['));
    marked.map_or(text, |word| word.trim_end_matches(']')).to_owned()
}

/// Made-up systems for tests.
#[cfg(test)]
pub(super) mod made {
    use super::*;

    /// A folder with these files in it.
    pub fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = Root(folder.path()).path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_far_as_they_are_there() {
        let folder = made::system(&[("/a/pairs", "x: 1\n y : \"two\" \n"), ("/a/more", "")]);
        let root = Root(folder.path());
        assert_eq!(root.value_of("/a/pairs", "y", ':').as_deref(), Some("two"));
        assert_eq!(root.first_line("/a/pairs").as_deref(), Some("x: 1"));
        assert_eq!(root.first_line("/a/more"), None);
        assert_eq!(root.value_of("/no/such/file", "a", ':'), None);
        assert_eq!(root.names("/a"), ["more", "pairs"]);
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
    }
}
