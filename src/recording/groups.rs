//! Which operations of a recording are counted together: those of one class, by one program of the
//! process tree, at one place in the tree of files. A stand-in process adds up a time for each.

use std::collections::{BTreeMap, HashMap};

use super::{Base, Call, Class, Event, Kind, NO_PATH, Recording};

/// The most groups. Number 0 is of what belongs to none: waiting for others.
pub const MOST_GROUPS: usize = 128;
/// The most places in the tree of files.
const MOST_PLACES: usize = 16;
/// A place has at least this part of all work on files, and of the work in its folder.
const LEAST_OF_ALL: u64 = 50;
const LEAST_OF_FOLDER: u64 = 10;
/// What one operation counts for, in calls, when groups are chosen.
const EXEC_WEIGHT: u64 = 300;
const FORK_WEIGHT: u64 = 60;
const BYTES_OF_CALL: u64 = 4096;
const NS_OF_CALL: u64 = 1000;
/// The root folder, and the folder for temporary files, among the places.
const ROOT: usize = 0;
const OWN: usize = 1;
const AT_FDCWD: i32 = -100;

/// Operations that are counted together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The program and those that started it, the first one first; none for the rest of a class.
    pub programs: Option<Vec<String>>,
    pub class: Class,
    pub place: Option<Place>,
    /// Number of operations.
    pub count: u64,
}

/// A place in the tree of files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: String,
    /// The place is all that is below the path.
    pub below: bool,
}

/// The groups of a recording.
pub struct Groups {
    /// By their numbers; none for number 0.
    pub list: Vec<Option<Group>>,
    /// For each event of each stream: the groups of the event, and of the computing before it.
    of: Vec<Vec<(u8, u8)>>,
}

/// What an operation belongs to: a program, a class, and a place in the tree of files.
type Key = (usize, Class, Option<usize>);

impl Groups {
    pub fn of(recording: &Recording) -> Groups {
        let mut walk = Walk::new(recording);
        let keys = walk.all();
        let place_of = walk.files.places();
        let mut weights: BTreeMap<Key, u64> = BTreeMap::new();
        let grouped = |(program, class, file): Key| {
            (program, class, file.map(|file| place_of[file]).filter(|place| *place != ROOT))
        };
        for (stream, keys) in recording.streams.iter().zip(&keys) {
            for ((gap, event), (key, program)) in stream.events.iter().zip(keys) {
                if let Some(key) = key {
                    *weights.entry(grouped(*key)).or_default() += weight(event);
                }
                if *gap > 0 {
                    let key = (*program, Class::Compute, None);
                    *weights.entry(key).or_default() += 1 + gap / NS_OF_CALL;
                }
            }
        }
        let mut heaviest: Vec<(Key, u64)> = weights.into_iter().collect();
        heaviest.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        heaviest.truncate(MOST_GROUPS - 1 - Class::ALL.len());
        let own = heaviest.iter().enumerate().map(|(at, (key, _))| (*key, at + 1));
        let own: HashMap<Key, usize> = own.collect();
        let mut list = vec![None];
        list.extend(heaviest.iter().map(|((program, class, place), _)| {
            let programs = Some(walk.programs.chain(*program));
            let place = place.map(|place| walk.files.place(place));
            Some(Group { programs, class: *class, place, count: 0 })
        }));
        let rests = list.len();
        list.extend(Class::ALL.iter().map(|(class, ..)| {
            Some(Group { programs: None, class: *class, place: None, count: 0 })
        }));
        let mut number = |key: Key| {
            let number = own.get(&grouped(key)).copied().unwrap_or(rests + key.1 as usize);
            if let Some(Some(group)) = list.get_mut(number) {
                group.count += 1;
            }
            number as u8
        };
        let mut of = Vec::new();
        for (stream, keys) in recording.streams.iter().zip(&keys) {
            let events = stream.events.iter().zip(keys).map(|((gap, _), (key, program))| {
                let event = key.map_or(0, &mut number);
                (event, if *gap > 0 { number((*program, Class::Compute, None)) } else { 0 })
            });
            of.push(events.collect());
        }
        Groups { list, of }
    }

    /// The group of an event, and that of the computing before it.
    pub fn at(&self, stream: usize, event: usize) -> (u8, u8) {
        self.of.get(stream).and_then(|events| events.get(event)).copied().unwrap_or_default()
    }
}

/// About how much an event costs, in calls.
fn weight(event: &Event) -> u64 {
    match event {
        Event::Call(call) => 1 + call.result.max(0) as u64 / BYTES_OF_CALL,
        Event::Exec(_) => EXEC_WEIGHT,
        Event::Fork(..) | Event::Thread(_) => FORK_WEIGHT,
        Event::Pages(it) => u64::from(it.fresh) + u64::from(it.file) + u64::from(it.copied),
        Event::Wait(_) | Event::Join(_) | Event::Sleep(_) | Event::Exit(_) => 1,
    }
}

/// A process or thread on the way through its events.
#[derive(Clone, Default)]
struct Process {
    program: usize,
    folder: Option<usize>,
    files: HashMap<i32, usize>,
}

/// Goes through all events, and follows descriptors and working directories.
struct Walk<'a> {
    recording: &'a Recording,
    programs: Programs,
    files: Files<'a>,
}

impl<'a> Walk<'a> {
    fn new(recording: &'a Recording) -> Walk<'a> {
        Walk { recording, programs: Programs::default(), files: Files::new(recording) }
    }

    /// For each event its key, if it has one, and the program that computed before it.
    fn all(&mut self) -> Vec<Vec<(Option<Key>, usize)>> {
        let recording = self.recording;
        let folder = recording.about.folder.map(|path| self.files.find(path, None));
        let mut waiting: HashMap<usize, Process> = HashMap::new();
        waiting.insert(0, Process { folder, ..Process::default() });
        let mut all = Vec::new();
        // A child has a larger number than its parent.
        for (number, stream) in recording.streams.iter().enumerate() {
            let mut process = waiting.remove(&number).unwrap_or_default();
            let keys = stream.events.iter().map(|(_, event)| {
                let before = process.program;
                let key = match event {
                    Event::Fork(child, _) | Event::Thread(child) => {
                        waiting.insert(*child as usize, process.clone());
                        let forks = matches!(event, Event::Fork(..));
                        Some((if forks { Class::Fork } else { Class::Thread }, None))
                    }
                    Event::Exec(path) => {
                        let name = self.files.name_of(*path);
                        process.program = self.programs.child(process.program, name);
                        Some((Class::Exec, None))
                    }
                    Event::Pages(_) => Some((Class::Faults, None)),
                    Event::Call(call) => self.call(call, &mut process),
                    Event::Wait(_) | Event::Join(_) | Event::Sleep(_) | Event::Exit(_) => None,
                };
                (key.map(|(class, file)| (process.program, class, file)), before)
            });
            all.push(keys.collect());
        }
        all
    }

    /// The class of a call and the file that it concerns.
    fn call(&mut self, call: &Call, process: &mut Process) -> Option<(Class, Option<usize>)> {
        let class = call.kind.class();
        let start = match call.fd {
            AT_FDCWD => process.folder,
            fd => process.files.get(&fd).copied(),
        };
        let file = match call.path {
            NO_PATH => start,
            path => Some(self.files.find(path, start.or(process.folder))),
        };
        let gives = call.result.max(0) as i32;
        match (call.kind, file) {
            (Kind::Open, Some(file)) if call.result >= 0 => {
                process.files.insert(gives, file);
            }
            (Kind::Dup | Kind::DupTo, Some(file)) if call.result >= 0 => {
                let copy = if call.kind == Kind::Dup { gives } else { call.other };
                process.files.insert(copy, file);
            }
            (Kind::Pipe, _) => {
                process.files.remove(&gives);
                process.files.remove(&call.other);
            }
            (Kind::Chdir | Kind::Fchdir, Some(_)) if call.result >= 0 => process.folder = file,
            _ => {}
        }
        let weight = 1 + call.result.max(0) as u64 / BYTES_OF_CALL;
        let file = file.filter(|_| class <= Class::Write || class == Class::Change);
        if let Some(file) = file {
            let moved = matches!(class, Class::Read | Class::Write);
            self.files.weights[file] += if moved { weight } else { 1 };
        }
        (class != Class::Wait).then_some((class, file))
    }
}

/// Programs by the chain of those that started them. Number 0 is before the first one.
struct Programs {
    /// Its parent and its name.
    all: Vec<(usize, String)>,
    known: HashMap<(usize, String), usize>,
}

impl Default for Programs {
    fn default() -> Programs {
        Programs { all: vec![(0, String::new())], known: HashMap::new() }
    }
}

impl Programs {
    fn child(&mut self, parent: usize, name: &str) -> usize {
        // What a program executes in its own place, again and again, is one.
        if self.all[parent].1 == name {
            return parent;
        }
        let key = (parent, name.to_owned());
        *self.known.entry(key).or_insert_with(|| {
            self.all.push((parent, name.to_owned()));
            self.all.len() - 1
        })
    }

    fn chain(&self, mut number: usize) -> Vec<String> {
        let mut names = Vec::new();
        while number != 0 {
            names.push(self.all[number].1.clone());
            number = self.all[number].0;
        }
        names.reverse();
        names
    }
}

/// The files that a recording names, as a tree. A child has a larger number than its parent.
struct Files<'a> {
    recording: &'a Recording,
    /// Parent, and index of the name.
    all: Vec<(usize, u32)>,
    known: HashMap<(usize, u32), usize>,
    /// Work on each of them; in the end also on all below.
    weights: Vec<u64>,
}

impl<'a> Files<'a> {
    fn new(recording: &'a Recording) -> Files<'a> {
        let (all, weights) = (vec![(ROOT, u32::MAX), (ROOT, u32::MAX)], vec![0, 0]);
        Files { recording, all, known: HashMap::new(), weights }
    }

    /// The file of that path, which begins in that folder if it is relative.
    fn find(&mut self, path: u32, folder: Option<usize>) -> usize {
        let Some(path) = self.recording.paths.get(path as usize) else { return ROOT };
        let start = match path.base {
            Base::Root | Base::System => ROOT,
            Base::Own => OWN,
            Base::Relative => folder.unwrap_or(ROOT),
        };
        let mut at = start;
        for part in &path.parts {
            if self.name(*part) == "." {
                continue;
            }
            at = *self.known.entry((at, *part)).or_insert_with(|| {
                self.all.push((at, *part));
                self.weights.push(0);
                self.all.len() - 1
            });
        }
        at
    }

    fn name(&self, part: u32) -> &'a str {
        self.recording.names.get(part as usize).map_or("", String::as_str)
    }

    /// The last component of a path.
    fn name_of(&self, path: u32) -> &'a str {
        let path = self.recording.paths.get(path as usize);
        path.and_then(|path| path.parts.last()).map_or("", |part| self.name(*part))
    }

    /// The place of each file: the deepest folder above it, or itself, that has much of the work.
    fn places(&mut self) -> Vec<usize> {
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for file in (1..self.all.len()).rev() {
            let parent = self.all[file].0;
            children.entry(parent).or_default().push(file);
            self.weights[parent] += self.weights[file];
        }
        let least = self.weights[ROOT] / LEAST_OF_ALL;
        // Each place, and whether it was divided.
        let mut chosen = BTreeMap::from([(ROOT, false)]);
        while chosen.len() < MOST_PLACES {
            let open = chosen.iter().filter(|(_, divided)| !**divided).map(|(place, _)| *place);
            let Some(next) = open.max_by_key(|place| self.weights[*place]) else { break };
            chosen.insert(next, true);
            let enough = least.max(self.weights[next] / LEAST_OF_FOLDER).max(1);
            let of_next = children.get(&next).into_iter().flatten();
            let heavy = of_next.filter(|child| self.weights[**child] >= enough);
            chosen.extend(heavy.map(|child| (*child, false)));
        }
        let mut places = vec![ROOT; self.all.len()];
        for file in 1..self.all.len() {
            let own = chosen.contains_key(&file);
            places[file] = if own { file } else { places[self.all[file].0] };
        }
        places
    }

    fn place(&self, file: usize) -> Place {
        let below = self.all.iter().any(|(parent, _)| *parent == file);
        let mut names = Vec::new();
        let mut at = file;
        while at != ROOT && at != OWN {
            names.push(self.name(self.all[at].1));
            at = self.all[at].0;
        }
        names.reverse();
        let start = if at == OWN { "(temporary)" } else { "" };
        Place { path: format!("{start}/{}", names.join("/")), below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{PathText, Stream};

    /// Stats of many files in `/g` and one of `/etc/one`, then a child that executes another
    /// program, which reads what its parent opened.
    fn recording() -> Recording {
        let mut names: Vec<String> = ["bin", "a", "b", "g", "etc", "one"].map(Into::into).to_vec();
        let root = |parts: &[u32]| PathText { base: Base::Root, parts: parts.to_vec() };
        let mut paths = vec![root(&[0, 1]), root(&[0, 2]), root(&[4, 5])];
        let mut first = vec![(0, Event::Exec(0))];
        for file in 0..200 {
            names.push(format!("file{file}"));
            paths.push(root(&[3, 6 + file]));
            let stat = Call { path: 3 + file, fd: -100, ..Call::new(Kind::Stat, 0) };
            first.push((5, Event::Call(stat)));
        }
        let open = Call { path: 2, fd: -100, ..Call::new(Kind::Open, 7) };
        first.extend([(0, Event::Call(open)), (0, Event::Fork(1, false)), (0, Event::Wait(1))]);
        let read = Call { fd: 7, ..Call::new(Kind::Read, 1 << 20) };
        let second = vec![(0, Event::Exec(1)), (9000, Event::Call(read))];
        let streams = [first, second].map(|events| Stream { program: String::new(), events });
        Recording { names, paths, streams: streams.to_vec(), ..Recording::default() }
    }

    fn group(groups: &Groups, stream: usize, event: usize) -> &Group {
        groups.list[usize::from(groups.at(stream, event).0)].as_ref().unwrap()
    }

    #[test]
    fn operations_are_grouped_by_program_class_and_place() {
        let groups = Groups::of(&recording());
        let stat = group(&groups, 0, 1);
        assert_eq!((stat.class, stat.count), (Class::Stat, 200));
        assert_eq!(stat.place, Some(Place { path: "/g".into(), below: true }));
        assert_eq!(stat.programs, Some(vec!["a".to_owned()]));
        let read = group(&groups, 1, 1);
        assert_eq!(read.place, Some(Place { path: "/etc/one".into(), below: false }));
        assert_eq!(read.programs, Some(vec!["a".to_owned(), "b".to_owned()]));
        let compute = groups.list[usize::from(groups.at(1, 1).1)].as_ref().unwrap();
        assert_eq!((compute.class, compute.count), (Class::Compute, 1));
        // Waiting belongs to nobody.
        assert_eq!(groups.at(0, 203).0, 0);
    }

    #[test]
    fn what_has_no_group_of_its_own_is_in_the_rest_of_its_class() {
        let mut recording = recording();
        let stream = recording.streams[0].events.clone();
        // A chain of programs, each of which does the same.
        for number in 0..60 {
            recording.names.push(format!("p{number}"));
            let parts = vec![recording.names.len() as u32 - 1];
            recording.paths.push(PathText { base: Base::Root, parts });
            let path = recording.paths.len() as u32 - 1;
            let events = &mut recording.streams[0].events;
            events.push((0, Event::Exec(path)));
            events.extend(stream[1..5].to_vec());
        }
        let groups = Groups::of(&recording);
        assert!(groups.list.len() <= MOST_GROUPS);
        let counted: u64 = groups.list.iter().flatten().map(|group| group.count).sum();
        let gaps = |stream: &Stream| stream.events.iter().filter(|it| it.0 > 0).count();
        let waits = 1;
        let events: usize = recording.streams.iter().map(|it| it.events.len() + gaps(it)).sum();
        assert_eq!(counted, events as u64 - waits);
        assert!(groups.list.iter().flatten().any(|it| it.programs.is_none() && it.count > 0));
    }
}
