//! The stand-in files of a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compile::joined;
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
    for file in &recording.files {
        let path = place(recording, folder, file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        make(recording, folder, &path, &file.kind)
            .with_context(|| format!("making `{}`", path.display()))?;
    }
    if let Some(own) = recording.about.folder {
        fs::create_dir_all(place(recording, folder, own))?;
    }
    Ok(())
}

fn place(recording: &Recording, folder: &Path, path: u32) -> PathBuf {
    let text = &recording.paths[path as usize];
    match text.base {
        Base::Root => folder.join(joined(recording, text)),
        _ => folder.to_owned(),
    }
}

fn make(recording: &Recording, folder: &Path, path: &Path, kind: &FileKind) -> io::Result<()> {
    match kind {
        FileKind::Folder => fs::create_dir_all(path),
        FileKind::Link(target) => sys::make_link(&place(recording, folder, *target), path),
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
    let mut wanted: BTreeMap<PathBuf, &FileKind> = BTreeMap::new();
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in &recording.files {
        let path = place(recording, folder, file.path);
        folders.extend(path.ancestors().skip(1).map(Path::to_owned));
        wanted.insert(path, &file.kind);
    }
    if let Some(own) = recording.about.folder {
        folders.extend(place(recording, folder, own).ancestors().map(Path::to_owned));
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
        let path = place(recording, folder, file.path);
        if fs::symlink_metadata(&path).is_err() {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            make(recording, folder, &path, &file.kind)?;
        }
    }
    Ok(())
}
