//! Where stand-in files are. The tree lies some folders deep, and each folder on the way to a file
//! costs something: at most as many folders at a path's beginning are joined with the next one.

use std::collections::HashSet;

use crate::recording::{Base, Event, FileKind, Kind, PathText, Recording};

/// Stands between the names of joined folders.
const JOINT: char = ',';
/// Joined names stay shorter than a name may be.
const LONGEST: usize = 250;
const AT_FDCWD: i32 = -100;

/// The places of the files of a recording.
pub struct Layout<'a> {
    recording: &'a Recording,
    /// Folders that a program goes into, opens or finds by a link: what is below them stays there.
    bases: HashSet<&'a [u32]>,
    /// How deep the tree lies.
    depth: usize,
}

/// Whether the program names files relative to the working directory.
fn starts_from_folder(recording: &Recording) -> bool {
    let events = recording.streams.iter().flat_map(|stream| &stream.events);
    let relative = |path: u32| {
        recording.paths.get(path as usize).is_some_and(|path| path.base == Base::Relative)
    };
    events.into_iter().any(|(_, event)| match event {
        Event::Call(call) => {
            let [first, second] = [(call.fd, call.path), (call.other, call.second_path)];
            [first, second].into_iter().any(|(fd, path)| fd == AT_FDCWD && relative(path))
        }
        Event::Exec(path) => relative(*path),
        _ => false,
    })
}

impl<'a> Layout<'a> {
    pub fn new(recording: &'a Recording, depth: usize) -> Layout<'a> {
        let mut bases: HashSet<&[u32]> = HashSet::new();
        let mut add = |path: u32| {
            if let Some(path) =
                recording.paths.get(path as usize).filter(|it| it.base == Base::Root)
            {
                bases.insert(&path.parts);
            }
        };
        let works_there = starts_from_folder(recording);
        recording.about.folder.filter(|_| works_there).into_iter().for_each(&mut add);
        for file in &recording.files {
            if let FileKind::Link(target) = file.kind {
                add(file.path);
                add(target);
            }
        }
        let events = recording.streams.iter().flat_map(|stream| &stream.events);
        for (_, event) in events {
            if let Event::Call(call) = event
                && [Kind::Open, Kind::Chdir, Kind::Rename].contains(&call.kind)
            {
                add(call.path);
                add(call.second_path);
            }
        }
        Layout { recording, bases, depth }
    }

    /// The path below the tree, or as it stands if it does not begin at the root.
    pub fn place(&self, path: &PathText) -> String {
        let name = |part: &u32| self.recording.names.get(*part as usize).map_or("", String::as_str);
        let mut joins = if path.base == Base::Root { self.depth } else { 0 };
        let mut text = String::new();
        for (at, part) in path.parts.iter().enumerate() {
            text += name(part);
            if at + 1 == path.parts.len() {
                break;
            }
            // Nothing that is above or in it is a base.
            let free =
                joins > 0 && (0..=at + 1).all(|end| !self.bases.contains(&path.parts[..end]));
            let next = path.parts.get(at + 1).map_or("", name);
            if free && text.len() + next.len() < LONGEST {
                joins -= 1;
                text.push(JOINT);
            } else {
                joins = 0;
                text.push('/');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Call, Stream};

    #[test]
    fn folders_that_nobody_goes_into_are_joined() {
        let names = ["usr", "lib", "x", "home", "me"].map(str::to_owned).to_vec();
        let path = |parts: &[u32]| PathText { base: Base::Root, parts: parts.to_vec() };
        let paths = vec![path(&[0, 1, 2]), path(&[3, 4, 2]), path(&[3]), path(&[0, 1])];
        let mut recording = Recording { names, paths, ..Recording::default() };
        let open = Call { path: 2, ..Call::new(Kind::Open, 3) };
        let events = vec![(0, Event::Call(open))];
        recording.streams = vec![Stream { program: String::new(), events }];
        let placed = |depth: usize| {
            let layout = Layout::new(&recording, depth);
            recording.paths.iter().map(|path| layout.place(path)).collect::<Vec<_>>()
        };
        assert_eq!(placed(0), ["usr/lib/x", "home/me/x", "home", "usr/lib"]);
        assert_eq!(placed(1), ["usr,lib/x", "home/me/x", "home", "usr,lib"]);
        assert_eq!(placed(5), ["usr,lib,x", "home/me/x", "home", "usr,lib"]);
    }
}
