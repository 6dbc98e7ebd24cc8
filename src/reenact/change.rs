//! Changes of a program that can be tried on its recording: other sizes of reads and writes.

use std::collections::HashMap;

use crate::recording::{Class, Event, Kind, Recording};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Reads that follow each other in a file are joined to at least that many bytes.
    Reads(u64),
    Writes(u64),
    /// Operations of these classes are left out.
    Without(Vec<Class>),
}

/// The recording with reads or writes joined, where the change says so.
pub fn changed(recording: &Recording, change: &Change) -> Recording {
    let mut recording = recording.clone();
    let (kind, least) = match change {
        Change::Reads(least) => (Kind::Read, *least),
        Change::Writes(least) => (Kind::Write, *least),
        Change::Without(_) => return recording,
    };
    for stream in &mut recording.streams {
        stream.events = joined(std::mem::take(&mut stream.events), kind, least);
    }
    recording
}

/// Events in which calls of that kind move at least so many bytes, as long as nothing else happens
/// to their descriptor.
fn joined(events: Vec<(u64, Event)>, kind: Kind, least: u64) -> Vec<(u64, Event)> {
    let mut all: Vec<(u64, Event)> = Vec::with_capacity(events.len());
    // For a descriptor, the call that more is joined to.
    let mut open: HashMap<i32, usize> = HashMap::new();
    let mut computed = 0;
    for (gap, event) in events {
        computed += gap;
        if let Event::Call(call) = &event {
            let moves = call.kind == kind && call.result > 0;
            let target = open.get(&call.fd).copied().filter(|_| moves);
            if let Some((_, Event::Call(first))) = target.and_then(|at| all.get_mut(at))
                && (first.result as u64) < least
            {
                first.result += call.result;
                first.size += call.size;
                continue;
            }
            open.remove(&call.fd);
            if moves {
                open.insert(call.fd, all.len());
            }
            // What becomes of these descriptors is not the file that it was.
            if matches!(call.kind, Kind::Open | Kind::Dup | Kind::DupTo | Kind::Pipe) {
                open.clear();
            }
        }
        // A child shares the place in the file.
        if matches!(event, Event::Fork(..) | Event::Thread(_) | Event::Exec(_)) {
            open.clear();
        }
        all.push((computed, event));
        computed = 0;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Call, Stream};

    #[test]
    fn reads_are_joined_until_something_else_happens() {
        let read = |fd: i32, size: i64| {
            let call = Call { fd, size: size as u64, ..Call::new(Kind::Read, size) };
            (10, Event::Call(call))
        };
        let seek = (10, Event::Call(Call { fd: 3, ..Call::new(Kind::Seek, 0) }));
        let events = vec![
            read(3, 100),
            read(3, 100),
            read(4, 5),
            read(3, 100),
            seek,
            read(3, 7),
            read(3, 0),
        ];
        let streams = vec![Stream { program: String::new(), events }];
        let recording = Recording { streams, ..Recording::default() };
        let sizes = |least: u64| {
            let changed = changed(&recording, &Change::Reads(least));
            let events = changed.streams[0].events.iter();
            let gaps: u64 = events.clone().map(|event| event.0).sum();
            assert_eq!(gaps, 70, "all of the computing is there");
            let of = |event: &(u64, Event)| match &event.1 {
                Event::Call(call) => call.result,
                _ => -1,
            };
            events.map(of).collect::<Vec<_>>()
        };
        assert_eq!(sizes(150), [200, 5, 100, 0, 7, 0]);
        assert_eq!(sizes(1000), [300, 5, 0, 7, 0]);
        assert_eq!(changed(&recording, &Change::Without(Vec::new())), recording);
    }
}
