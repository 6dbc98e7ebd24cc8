//! The recordings that come with envtax, of real programs: `scripts/make-recordings` makes them.
//! May use `recording` itself. Must not read files.

use anyhow::{Context, Result};

use super::{Recording, read};

/// A recording that comes with envtax.
pub struct Entry {
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    bytes: &'static [u8],
}

/// Every one of them, by name.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "configure",
        summary: "a script like `./configure`: 6 compilations among short programs",
        bytes: include_bytes!("configure.rec"),
    },
    Entry {
        name: "gcc",
        summary: "`gcc -O2 -c` of one file of C",
        bytes: include_bytes!("gcc.rec"),
    },
    Entry {
        name: "git-status",
        summary: "`git status` of 1200 files in 60 folders, without changes",
        bytes: include_bytes!("git-status.rec"),
    },
    Entry {
        name: "node-modules",
        summary: "node walks 360 small files in 240 folders and reads 120 of `package.json`",
        bytes: include_bytes!("node-modules.rec"),
    },
    Entry {
        name: "python",
        summary: "python3 starts and imports eight modules of its library",
        bytes: include_bytes!("python.rec"),
    },
    Entry {
        name: "sqlite",
        summary: "sqlite3 makes a table: 40 rows, each on its own, 3000 at once, one query",
        bytes: include_bytes!("sqlite.rec"),
    },
    Entry {
        name: "tar",
        summary: "`tar -c` of 300 files in 30 folders",
        bytes: include_bytes!("tar.rec"),
    },
];

/// The recording of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

impl Entry {
    pub fn read(&self) -> Result<Recording> {
        read(self.bytes).with_context(|| format!("the recording `{}` of envtax", self.name))
    }

    /// Bytes that it has on disk.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Event;

    /// What comes with every binary is small, and everybody can use it.
    #[test]
    fn every_recording_is_small_and_whole() {
        for entry in CATALOGUE {
            let recording = entry.read().unwrap();
            assert_eq!(recording.about.name, entry.name);
            assert!(!recording.about.partial && recording.about.status == 0, "{}", entry.name);
            assert!(recording.about.command.is_empty(), "{}: arguments", entry.name);
            // Its computing and its pages are those of the program without a recorder.
            let alone = &recording.about.alone;
            assert!(!alone.wall.is_empty() && !alone.faults.is_empty(), "{}", entry.name);
            let events = recording.streams.iter().flat_map(|stream| &stream.events);
            let calls = events.filter(|(_, event)| matches!(event, Event::Call(_))).count();
            assert!(calls > 200, "{}: {calls} calls", entry.name);
        }
        let bytes: usize = CATALOGUE.iter().map(Entry::size).sum();
        assert!(bytes <= 250_000, "{bytes} bytes");
        assert!(CATALOGUE.is_sorted_by_key(|entry| entry.name));
    }
}
