//! Checks of a recording that somebody else may have made: every index names something, every path
//! stays below its base, and sizes are bounded. What passes can only work on stand-in files.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use super::script::{MOST_FDS, MOST_SLOTS, MOST_STREAMS};
use super::{Base, Call, Event, FileKind, Kind, NO_PATH, PathText, Recording};

/// The most names, paths and files, and events of all streams.
const MOST_NAMES: usize = 2_000_000;
const MOST_EVENTS: usize = 20_000_000;
/// The longest name of a file and the most components of a path.
const LONGEST_NAME: usize = 255;
const MOST_PARTS: usize = 256;
/// The most bytes of one file, and of one mapping.
const LARGEST: u64 = 1 << 40;
/// Calls whose descriptors are slots of mappings.
const MEMORY: [Kind; 5] = [Kind::Map, Kind::Unmap, Kind::Protect, Kind::MemoryAdvice, Kind::Remap];
/// The longest time that a process computes or sleeps, in ns.
const LONGEST_NS: u64 = 3600 * 1_000_000_000;
/// The most pages that are touched at once.
const MOST_PAGES: u32 = 1 << 22;

/// Files of the system that a re-enactment may open, for what they cost.
pub const SYSTEM_FILES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/status",
    "/proc/self/statm",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/proc/self/mounts",
    "/proc/mounts",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/version",
    "/proc/uptime",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "/sys/kernel/mm/transparent_hugepage/enabled",
];

/// An error that says what is wrong.
pub fn check(recording: &Recording) -> Result<()> {
    let Recording { about, names, paths, files, streams } = recording;
    ensure!(about.name.len() <= LONGEST_NAME, "its name is too long");
    let folder = about.folder.is_none_or(|folder| (folder as usize) < paths.len());
    ensure!(folder, "its working directory has no path");
    let lists = [names.len(), paths.len(), files.len()];
    ensure!(lists.iter().all(|length| *length <= MOST_NAMES), "it has too many names or files");
    ensure!(!streams.is_empty(), "it has no process");
    ensure!(streams.len() <= MOST_STREAMS, "it has more than {MOST_STREAMS} processes");
    let events: usize = streams.iter().map(|stream| stream.events.len()).sum();
    ensure!(events <= MOST_EVENTS, "it has more than {MOST_EVENTS} events");
    for name in names {
        let plain = !name.is_empty() && !name.contains(['/', '\0']) && name.len() <= LONGEST_NAME;
        ensure!(plain, "`{}` is no name of a file", name.escape_debug());
    }
    paths.iter().try_for_each(|path| path_is_harmless(recording, path))?;
    for file in files {
        let path = paths.get(file.path as usize);
        ensure!(path.is_some_and(|path| path.base == Base::Root), "a file without a path");
        match file.kind {
            FileKind::File(size, _) => ensure!(size <= LARGEST, "a file is too large"),
            FileKind::Link(target) => {
                ensure!((target as usize) < paths.len(), "a link without a target");
            }
            FileKind::Folder => {}
        }
    }
    let mut begun = BTreeSet::from([0]);
    for (number, stream) in streams.iter().enumerate() {
        for (gap, event) in &stream.events {
            ensure!(*gap <= LONGEST_NS, "a process computes for more than an hour");
            check_event(recording, number as u32, event, &mut begun)?;
        }
    }
    Ok(())
}

/// No path goes up, and a system file is one of the list.
fn path_is_harmless(recording: &Recording, path: &PathText) -> Result<()> {
    ensure!(path.parts.len() <= MOST_PARTS, "a path has too many components");
    let part = |part: &u32| recording.names.get(*part as usize).map(String::as_str);
    let parts: Option<Vec<&str>> = path.parts.iter().map(part).collect();
    let Some(parts) = parts else { anyhow::bail!("a path has a component without a name") };
    if path.base == Base::System {
        let whole = format!("/{}", parts.join("/"));
        ensure!(SYSTEM_FILES.contains(&whole.as_str()), "`{whole}` is not opened by envtax");
    }
    ensure!(path.base != Base::Own || !parts.is_empty(), "a temporary file without a name");
    // A recorder resolves these. Behind a link, `..` could leave the stand-in tree.
    ensure!(!parts.contains(&".."), "a path that leaves its folder");
    Ok(())
}

fn check_event(
    recording: &Recording,
    own: u32,
    event: &Event,
    begun: &mut BTreeSet<u32>,
) -> Result<()> {
    let known = |stream: u32| (stream as usize) < recording.streams.len() && stream != own;
    match event {
        // A stream begins once only: nothing multiplies.
        Event::Fork(child, _) | Event::Thread(child) => {
            ensure!(known(*child) && *child > own && begun.insert(*child), "a child begins twice");
        }
        Event::Wait(child) | Event::Join(child) => ensure!(known(*child), "a wait for nobody"),
        Event::Exec(path) => {
            ensure!((*path as usize) < recording.paths.len(), "a program without a path");
        }
        Event::Pages(pages) => {
            let most = pages.fresh.max(pages.file).max(pages.copied);
            ensure!(most <= MOST_PAGES, "too many pages");
        }
        Event::Sleep(ns) => ensure!(*ns <= LONGEST_NS, "a sleep of more than an hour"),
        Event::Exit(_) => {}
        Event::Call(call) => check_call(recording, call)?,
    }
    Ok(())
}

fn check_call(recording: &Recording, call: &Call) -> Result<()> {
    let path = |path: u32| path == NO_PATH || (path as usize) < recording.paths.len();
    ensure!(path(call.path) && path(call.second_path), "a call without a path");
    // A place in a file that is sought may be negative.
    let at = call.at <= LARGEST || call.kind == Kind::Seek;
    // Results of mappings are places.
    let gave = call.result <= LARGEST as i64 || MEMORY.contains(&call.kind);
    ensure!(call.size <= LARGEST && at && gave, "a call of too many bytes");
    let most = if MEMORY.contains(&call.kind) { MOST_SLOTS as i32 } else { MOST_FDS };
    let fits = call.other < most && call.fd < MOST_FDS;
    ensure!(fits, "the number of a descriptor is too large: a stand-in process has {MOST_FDS}");
    let gives = matches!(
        call.kind,
        Kind::Open | Kind::Dup | Kind::DupTo | Kind::Pipe | Kind::Socket | Kind::SocketPair
    );
    let fits = !gives || call.result < i64::from(MOST_FDS);
    ensure!(fits, "the number of a descriptor is too large: a stand-in process has {MOST_FDS}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{FORMAT, FileState, Pages, Stream};

    fn with(events: Vec<Event>) -> Recording {
        let mut recording = Recording::default();
        recording.about.recording = FORMAT;
        recording.names = vec!["a".into(), "..".into(), "etc".into()];
        recording.paths = vec![PathText { base: Base::Root, parts: vec![0] }];
        let events = events.into_iter().map(|event| (1, event)).collect();
        recording.streams = vec![Stream { program: String::new(), events }, Stream::default()];
        recording
    }

    fn refused(recording: &Recording) -> String {
        check(recording).unwrap_err().to_string()
    }

    #[test]
    fn what_names_nothing_is_refused() {
        assert!(check(&with(vec![Event::Fork(1, false), Event::Wait(1)])).is_ok());
        let twice = with(vec![Event::Fork(1, false), Event::Fork(1, false)]);
        assert!(refused(&twice).contains("twice"), "a fork bomb");
        assert!(refused(&with(vec![Event::Wait(9)])).contains("nobody"));
        assert!(refused(&with(vec![Event::Exec(4)])).contains("without a path"));
        let pages = Pages { fresh: u32::MAX, ..Pages::default() };
        assert!(refused(&with(vec![Event::Pages(pages)])).contains("too many pages"));
        let call = Call { fd: 1000, ..Call::new(Kind::Close, 0) };
        assert!(refused(&with(vec![Event::Call(call)])).contains("too large"));
        let call = Call { path: 3, ..Call::new(Kind::Unlink, 0) };
        assert!(refused(&with(vec![Event::Call(call)])).contains("without a path"));
        assert!(refused(&Recording::default()).contains("no process"));
    }

    #[test]
    fn paths_stay_in_their_folders() {
        let mut own = with(Vec::new());
        own.paths.push(PathText { base: Base::Own, parts: vec![1, 0] });
        assert!(refused(&own).contains("leaves its folder"));
        let mut system = with(Vec::new());
        system.paths.push(PathText { base: Base::System, parts: vec![2, 0] });
        assert!(refused(&system).contains("`/etc/a` is not opened"));
        let mut slash = with(Vec::new());
        slash.names.push("a/b".into());
        assert!(refused(&slash).contains("no name of a file"));
        let mut large = with(Vec::new());
        large.files.push(FileState { path: 0, kind: FileKind::File(u64::MAX, false) });
        assert!(refused(&large).contains("too large"));
    }
}
