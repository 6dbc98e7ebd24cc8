//! Paths of a recorded program: as they were given, and what was there before it ran.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::recording::{Base, FileKind, FileState, NO_PATH, PathText, SYSTEM_FILES};

/// The most entries of folders that are recorded.
const MOST_ENTRIES: usize = 500_000;
/// How many links a path may go through, as in the kernel.
const MOST_LINKS: u32 = 40;

/// The paths, names and files of a recording in the making.
#[derive(Default)]
pub struct Paths {
    names: HashMap<String, u32>,
    pub name_list: Vec<String>,
    paths: HashMap<PathText, u32>,
    pub path_list: Vec<PathText>,
    /// What was at an absolute path when it was first named: an index into `files`, or nothing.
    seen: HashMap<String, Option<usize>>,
    pub files: Vec<FileState>,
    listed: BTreeSet<String>,
    /// Folders in which what is new is a temporary file.
    temporary: Vec<String>,
    /// New files directly in one of these.
    own: BTreeSet<String>,
}

impl Paths {
    pub fn new(folder: &Path) -> Paths {
        let text = |path: PathBuf| path.display().to_string();
        let temporary = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
        let mut paths = Paths { temporary: temporary.map(text).to_vec(), ..Paths::default() };
        paths.temporary.insert(0, folder.display().to_string());
        paths
    }

    /// The number of the path that a call gave, relative to that folder. Notes what is there.
    pub fn number(&mut self, given: &str, folder: Option<&str>) -> u32 {
        let absolute = self.absolute(given, folder);
        let text = match &absolute {
            Some(absolute) => {
                self.see(absolute, 0);
                self.text(given, absolute)
            }
            None if !given.starts_with('/') && !given.split('/').any(|part| part == "..") => {
                PathText { base: Base::Relative, parts: self.parts(given) }
            }
            None => return NO_PATH,
        };
        self.intern(text)
    }

    /// The whole path without `.` and `..`; none if the folder is unknown.
    pub fn absolute(&self, given: &str, folder: Option<&str>) -> Option<String> {
        let start = if given.starts_with('/') { "" } else { folder? };
        let mut parts: Vec<&str> = Vec::new();
        for part in start.split('/').chain(given.split('/')) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Some(format!("/{}", parts.join("/")))
    }

    /// How a path is written in the recording.
    fn text(&mut self, given: &str, absolute: &str) -> PathText {
        if let Some(below) = self.below_own(absolute) {
            return PathText { base: Base::Own, parts: self.parts(&below) };
        }
        if let Some(system) = system_file(absolute) {
            return PathText { base: Base::System, parts: self.parts(&system) };
        }
        if given.starts_with('/') || given.split('/').any(|part| part == "..") {
            return PathText { base: Base::Root, parts: self.parts(absolute) };
        }
        PathText { base: Base::Relative, parts: self.parts(given) }
    }

    /// The part of the path below the temporary folder if it is of a new file there.
    fn below_own(&self, absolute: &str) -> Option<String> {
        let of = |folder: &String| {
            let below = absolute.strip_prefix(folder.as_str())?.strip_prefix('/')?;
            let first = below.split('/').next()?;
            let is_own = self.own.contains(&format!("{folder}/{first}"));
            is_own.then(|| below.to_owned())
        };
        self.temporary.iter().find_map(of)
    }

    fn parts(&mut self, text: &str) -> Vec<u32> {
        let parts = text.split('/').filter(|part| !part.is_empty());
        parts.map(|part| self.name(part)).collect()
    }

    fn name(&mut self, part: &str) -> u32 {
        if let Some(number) = self.names.get(part) {
            return *number;
        }
        let number = self.name_list.len() as u32;
        self.names.insert(part.to_owned(), number);
        self.name_list.push(part.to_owned());
        number
    }

    fn intern(&mut self, text: PathText) -> u32 {
        if let Some(number) = self.paths.get(&text) {
            return *number;
        }
        let number = self.path_list.len() as u32;
        self.paths.insert(text.clone(), number);
        self.path_list.push(text);
        number
    }

    /// The number of an absolute path in the stand-in tree.
    fn root_path(&mut self, absolute: &str) -> u32 {
        let parts = self.parts(absolute);
        self.intern(PathText { base: Base::Root, parts })
    }

    /// Notes what is at this path and on the way to it, unless it was noted before.
    fn see(&mut self, absolute: &str, links: u32) {
        if self.seen.contains_key(absolute) || links > MOST_LINKS || absolute == "/" {
            return;
        }
        if system_file(absolute).is_some() || self.files.len() > MOST_ENTRIES {
            return;
        }
        let (parent, name) = absolute.rsplit_once('/').unwrap_or(("", absolute));
        if !parent.is_empty() {
            self.see(parent, links);
            // Through a link, the file itself is elsewhere.
            let real = self.real(parent, 0);
            if real != parent {
                return self.see(&format!("{real}/{name}"), links + 1);
            }
        }
        let Ok(about) = fs::symlink_metadata(absolute) else {
            self.seen.insert(absolute.to_owned(), None);
            if self.temporary.iter().any(|folder| folder == parent) {
                self.own.insert(absolute.to_owned());
            }
            return;
        };
        self.seen.insert(absolute.to_owned(), Some(self.files.len()));
        let place = self.files.len();
        let path = self.root_path(absolute);
        let kind =
            if about.is_dir() { FileKind::Folder } else { FileKind::File(about.len(), false) };
        self.files.push(FileState { path, kind });
        if about.is_symlink() {
            let target = fs::read_link(absolute).unwrap_or_default().display().to_string();
            let target = self.absolute(&target, Some(parent)).unwrap_or_default();
            let number = self.root_path(&target);
            self.files[place].kind = FileKind::Link(number);
            self.see(&target, links + 1);
        }
    }

    /// The absolute target of a link.
    fn link_of(&self, absolute: &str) -> Option<String> {
        let at = (*self.seen.get(absolute)?)?;
        let FileKind::Link(target) = self.files[at].kind else { return None };
        let parts = &self.path_list[target as usize].parts;
        let names: Vec<&str> =
            parts.iter().map(|part| self.name_list[*part as usize].as_str()).collect();
        Some(format!("/{}", names.join("/")))
    }

    /// The path without links, as far as they were seen.
    fn real(&self, absolute: &str, links: u32) -> String {
        let mut real = String::new();
        for part in absolute.split('/').filter(|part| !part.is_empty()) {
            real = format!("{real}/{part}");
            if let Some(target) = self.link_of(&real).filter(|_| links < MOST_LINKS) {
                real = self.real(&target, links + 1);
            }
        }
        real
    }

    /// Notes the entries of a folder that the program lists.
    pub fn list(&mut self, absolute: &str) {
        if self.below_own(absolute).is_some() || !self.listed.insert(absolute.to_owned()) {
            return;
        }
        for entry in fs::read_dir(absolute).into_iter().flatten().flatten() {
            if self.files.len() > MOST_ENTRIES {
                return;
            }
            if let Some(name) = entry.file_name().to_str() {
                self.see(&format!("{}/{name}", absolute.trim_end_matches('/')), 0);
            }
        }
    }

    /// The contents of the file are read.
    pub fn reads(&mut self, absolute: &str) {
        let path = self.real(absolute, 0);
        let at = self.seen.get(&path).copied().flatten();
        if let Some(FileKind::File(_, read)) = at.map(|at| &mut self.files[at].kind) {
            *read = true;
        }
    }
}

/// The name under which a re-enactment may open it, if it is a file of the system.
fn system_file(absolute: &str) -> Option<String> {
    let mut name = absolute.to_owned();
    let of_process = absolute.strip_prefix("/proc/").and_then(|rest| rest.split_once('/'));
    if let Some((first, below)) = of_process
        && first.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = format!("/proc/self/{below}");
    }
    SYSTEM_FILES.contains(&name.as_str()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_behind_a_link_is_noted_once() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("usr/lib/deep")).unwrap();
        fs::write(real.join("usr/lib/deep/file"), "x").unwrap();
        crate::sys::make_link(Path::new("usr/lib"), &real.join("lib")).unwrap();
        let mut paths = Paths::default();
        let real = real.display();
        for name in ["lib/deep/file", "usr/lib/deep/file", "lib/deep/file"] {
            paths.see(&format!("{real}/{name}"), 0);
        }
        paths.reads(&format!("{real}/lib/deep/file"));
        let of = |file: &FileState| matches!(file.kind, FileKind::File(1, true));
        assert_eq!(paths.files.iter().filter(|file| of(file)).count(), 1);
        let places: BTreeSet<u32> = paths.files.iter().map(|file| file.path).collect();
        assert_eq!(places.len(), paths.files.len());
    }
}
