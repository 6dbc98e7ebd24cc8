//! The stand-in files of a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::layout::Layout;
use crate::recording::{Base, Event, FileKind, Kind, Recording, Stream};
use crate::sys;

/// Bytes that are written at a time.
const CHUNK: usize = 1 << 16;

/// Bytes on disk that a tree needs, and what its program writes in one run.
pub fn bytes_needed(recording: &Recording) -> u64 {
    let files = recording.files.iter().map(|file| match file.kind {
        FileKind::File(size, true) => size.next_multiple_of(4096),
        _ => 4096,
    });
    let events = recording.streams.iter().flat_map(|stream| &stream.events);
    let written = events.filter_map(|(_, event)| match event {
        Event::Call(call) => match call.kind {
            Kind::Allocate | Kind::Truncate => Some(call.size),
            Kind::Write | Kind::Pwrite | Kind::CopyRange | Kind::Sendfile => {
                Some(call.result.max(0) as u64)
            }
            _ => None,
        },
        _ => None,
    });
    files.chain(written).fold(0, u64::saturating_add)
}

/// The most bytes of memory that one process touches.
pub fn pages_needed(recording: &Recording) -> u64 {
    let of = |stream: &Stream| {
        let pages = stream.events.iter().map(|(_, event)| match event {
            Event::Pages(pages) => u64::from(pages.fresh) + u64::from(pages.copied),
            _ => 0,
        });
        pages.sum::<u64>()
    };
    recording.streams.iter().map(of).max().unwrap_or(0) * 4096
}

/// Makes the files in a new folder.
pub fn make_tree(recording: &Recording, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let tree = Tree::new(recording, folder);
    for file in &recording.files {
        let path = tree.place(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        make(&tree, &path, &file.kind).with_context(|| format!("making `{}`", path.display()))?;
    }
    if let Some(own) = recording.about.folder {
        fs::create_dir_all(tree.place(own))?;
    }
    Ok(())
}

/// Number of folders above what is in this one.
pub fn depth_of(folder: &Path) -> usize {
    folder.components().filter(|it| matches!(it, Component::Normal(_))).count()
}

/// A tree with its layout.
struct Tree<'a> {
    recording: &'a Recording,
    layout: Layout<'a>,
    folder: &'a Path,
}

impl<'a> Tree<'a> {
    fn new(recording: &'a Recording, folder: &'a Path) -> Tree<'a> {
        Tree { recording, layout: Layout::new(recording, depth_of(folder)), folder }
    }

    fn place(&self, path: u32) -> PathBuf {
        let text = &self.recording.paths[path as usize];
        match text.base {
            Base::Root => self.folder.join(self.layout.place(text)),
            _ => self.folder.to_owned(),
        }
    }
}

fn make(tree: &Tree<'_>, path: &Path, kind: &FileKind) -> io::Result<()> {
    match kind {
        FileKind::Folder => fs::create_dir_all(path),
        FileKind::Link(target) => sys::make_link(&tree.place(*target), path),
        FileKind::File(size, read) => {
            let mut file = File::create(path)?;
            if !read {
                return file.set_len(*size);
            }
            let chunk = [0x61_u8; CHUNK];
            let mut left = *size;
            while left > 0 {
                let now = left.min(CHUNK as u64) as usize;
                file.write_all(&chunk[..now])?;
                left -= now as u64;
            }
            Ok(())
        }
    }
}

/// Puts a tree that was worked in back into its first state: what is new is removed, and what is
/// gone or has another size is made again.
pub fn restore(recording: &Recording, folder: &Path) -> Result<()> {
    let tree = Tree::new(recording, folder);
    let mut wanted: BTreeMap<PathBuf, &FileKind> = BTreeMap::new();
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in &recording.files {
        let path = tree.place(file.path);
        folders.extend(path.ancestors().skip(1).map(Path::to_owned));
        wanted.insert(path, &file.kind);
    }
    if let Some(own) = recording.about.folder {
        folders.extend(tree.place(own).ancestors().map(Path::to_owned));
    }
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            let kept = match wanted.get(&path) {
                Some(FileKind::Folder) => about.is_dir(),
                Some(FileKind::Link(_)) => about.is_symlink(),
                Some(FileKind::File(size, _)) => about.is_file() && about.len() == *size,
                None => about.is_dir() && folders.contains(&path),
            };
            if about.is_dir() && kept {
                open.push(path);
            } else if about.is_dir() {
                fs::remove_dir_all(&path)?;
            } else if !kept {
                fs::remove_file(&path)?;
            }
        }
    }
    for file in &recording.files {
        let path = tree.place(file.path);
        if fs::symlink_metadata(&path).is_err() {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            make(&tree, &path, &file.kind)?;
        }
    }
    Ok(())
}
