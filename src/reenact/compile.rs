//! A recording as instructions. What could reach beyond the stand-in files is made harmless here,
//! and what is not re-enacted is counted.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::layout::Layout;
use super::own_faults::OwnFaults;
use crate::recording::groups::Groups;
use crate::recording::script::{Instruction, SOCKET_FLAGS, Script, bits, code};
use crate::recording::{Base, Call, Class, Event, Kind, NO_PATH, Pages, Recording};

const PAGE: u64 = 4096;
const MAP_FIXED: u64 = 0x10;
/// Flags of mappings that are kept: shared, private, fixed, anonymous, without reserve, a stack.
const MAP_FLAGS: u64 = 0x1 | 0x2 | 0x20 | 0x4000 | 0x2_0000;
/// Advice that changes nothing but what is in memory.
const ADVICE: [u64; 8] = [0, 1, 2, 3, 4, 8, 14, 15];
const O_DIRECT: u64 = 0o40000;
const O_CREAT_TRUNC: u64 = 0o1100;
const ACCESS_MODE: u64 = 3;
const O_CLOEXEC: u64 = 0o2_000_000;
const F_SETFD: u64 = 2;
const F_GETFL: u64 = 3;
const X_OK: u64 = 1;
/// Fewer steps of computing are not worth an instruction.
const LEAST_STEPS: u64 = 30;

/// How a script is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Steps of computing in a ns on this machine.
    pub steps_per_ns: f64,
    /// How deep the tree of stand-in files lies.
    pub depth: usize,
    /// Page faults of stand-in processes themselves.
    pub own: OwnFaults,
    /// Classes whose operations are left out.
    pub without: Vec<Class>,
}

/// A script, and what it has not.
pub struct Compiled {
    pub script: Script,
    /// Largest number of stretches of a file that are touched at once.
    pub most_stretches: u32,
    /// Calls that are recorded and not re-enacted, by name.
    pub dropped: BTreeMap<&'static str, u64>,
    /// It changes files of the tree, which must be restored before the next run.
    pub changes_tree: bool,
}

/// Makes the script.
pub fn compile(recording: &Recording, options: &Options) -> Compiled {
    let mut compiler = Compiler {
        recording,
        options,
        layout: Layout::new(recording, options.depth),
        groups: Groups::of(recording),
        offsets: HashMap::new(),
        forked: forked(recording),
        threads: threads(recording),
        owed: 0,
        out: Compiled {
            script: Script::default(),
            most_stretches: 1,
            dropped: BTreeMap::new(),
            changes_tree: false,
        },
    };
    for number in 0..recording.streams.len() {
        let instructions = compiler.stream(number);
        compiler.out.script.streams.push(instructions);
    }
    compiler.out
}

/// The pages without those that the stand-in process touches by itself: what is shared with
/// another process, then about as many of files as new ones.
fn without_own(pages: Pages, owed: &mut u32) -> Pages {
    let mut left = pages;
    let mut take = |from: &mut u32, most: u32| {
        let taken = (*owed).min(*from).min(most);
        (*from, *owed) = (*from - taken, *owed - taken);
    };
    take(&mut left.copied, u32::MAX);
    take(&mut left.file, pages.file / 2);
    take(&mut left.fresh, u32::MAX);
    take(&mut left.file, u32::MAX);
    left
}

struct Compiler<'a> {
    recording: &'a Recording,
    options: &'a Options,
    layout: Layout<'a>,
    groups: Groups,
    /// Where the text of a path is.
    offsets: HashMap<u32, u32>,
    /// Streams that begin as a child with a copy of its parent's memory.
    forked: HashSet<u32>,
    /// Streams that are threads.
    threads: HashSet<u32>,
    /// Page faults that the process has by itself, which are not yet taken off.
    owed: u32,
    out: Compiled,
}

fn forked(recording: &Recording) -> HashSet<u32> {
    let events = recording.streams.iter().flat_map(|stream| &stream.events);
    let children = events.filter_map(|(_, event)| match event {
        Event::Fork(child, false) => Some(*child),
        _ => None,
    });
    children.collect()
}

fn threads(recording: &Recording) -> HashSet<u32> {
    let events = recording.streams.iter().flat_map(|stream| &stream.events);
    let threads = events.filter_map(|(_, event)| match event {
        Event::Thread(child) => Some(*child),
        _ => None,
    });
    threads.collect()
}

impl Compiler<'_> {
    fn stream(&mut self, number: usize) -> Vec<Instruction> {
        let mut all = Vec::new();
        let options = self.options;
        let add = |all: &mut Vec<Instruction>, class: Class, it: Instruction| {
            if it.code == code::EXIT || !options.without.contains(&class) {
                all.push(Instruction { class: class as u8, ..it });
            }
        };
        // In the place of the first execution is the start of the re-enactment.
        let first = usize::from(number == 0);
        let fresh = |at: usize| number == 0 && at == 0;
        self.owed = match number {
            0 => options.own.program,
            _ if self.forked.contains(&(number as u32)) => options.own.child,
            _ => 0,
        };
        if number == 0
            && let Some(folder) = self.recording.about.folder
        {
            let first = self.text(folder);
            let code = code::FIRST_CALL + Kind::Chdir as u8;
            add(&mut all, Class::Start, Instruction { code, first, ..Instruction::default() });
        }
        let recording = self.recording;
        let events = &recording.streams[number].events;
        // The end of a process would cut threads off that had ended before it, unawaited. A thread
        // waits for none, as others may wait for it.
        let mut running: Vec<u32> = Vec::new();
        let is_thread = self.threads.contains(&(number as u32));
        for (at, (gap, event)) in events.iter().enumerate() {
            let steps = (*gap as f64 * self.options.steps_per_ns) as u64;
            if steps >= LEAST_STEPS && !fresh(at) {
                let group = self.groups.at(number, at).1;
                let spin = Instruction { code: code::SPIN, size: steps, ..Instruction::default() };
                add(&mut all, Class::Compute, Instruction { group, ..spin });
            }
            if at < first && matches!(event, Event::Exec(_)) {
                continue;
            }
            match event {
                Event::Thread(child) if !is_thread => running.push(*child),
                Event::Join(child) => running.retain(|it| it != child),
                Event::Exit(_) => {
                    for first in running.drain(..) {
                        let join =
                            Instruction { code: code::JOIN, first, ..Instruction::default() };
                        add(&mut all, Class::Wait, join);
                    }
                }
                _ => {}
            }
            if let Some((class, it)) = self.event(event, number) {
                let group = self.groups.at(number, at).0;
                add(&mut all, class, Instruction { group, ..it });
            }
        }
        all.push(Instruction { code: code::EXIT, ..Instruction::default() });
        all
    }

    /// The instruction of an event of that stream, with its class.
    fn event(&mut self, event: &Event, stream: usize) -> Option<(Class, Instruction)> {
        let plain = |code: u8, first: u32| Instruction { code, first, ..Instruction::default() };
        Some(match event {
            Event::Call(call) => match self.call(call) {
                Some(it) => (call.kind.class(), it),
                None => {
                    *self.out.dropped.entry(call.kind.name()).or_default() += 1;
                    return None;
                }
            },
            Event::Fork(child, shares) => {
                let bits = if *shares { bits::VFORK } else { 0 };
                (Class::Fork, Instruction { bits, ..plain(code::FORK, *child) })
            }
            Event::Thread(child) => (Class::Thread, plain(code::THREAD, *child)),
            Event::Exec(_) => {
                self.owed = self.options.own.program;
                (Class::Exec, plain(code::EXEC, 0))
            }
            Event::Wait(child) => (Class::Wait, plain(code::WAIT, *child)),
            Event::Join(child) => (Class::Wait, plain(code::JOIN, *child)),
            Event::Pages(pages) => {
                let Pages { fresh, file, copied } = without_own(*pages, &mut self.owed);
                self.out.most_stretches = self.out.most_stretches.max(file);
                let it = plain(code::PAGES, copied);
                (Class::Faults, Instruction { size: fresh.into(), at: file.into(), ..it })
            }
            Event::Sleep(ns) => (Class::Wait, Instruction { size: *ns, ..plain(code::SLEEP, 0) }),
            Event::Exit(status) => {
                let fd = if stream == 0 { 0 } else { *status };
                (Class::Start, Instruction { fd, ..plain(code::EXIT, 0) })
            }
        })
    }

    /// The offset of a path's text.
    fn text(&mut self, path: u32) -> u32 {
        if path == NO_PATH {
            return u32::MAX;
        }
        if let Some(offset) = self.offsets.get(&path) {
            return *offset;
        }
        let text = &self.recording.paths[path as usize];
        let joined = self.layout.place(text);
        let spelled = match text.base {
            Base::Root if joined.is_empty() => "T".to_owned(),
            Base::Root => format!("T/{joined}"),
            Base::Own => format!("O.{joined}"),
            Base::Relative if joined.is_empty() => "A.".to_owned(),
            Base::Relative => format!("A{joined}"),
            Base::System => format!("A/{joined}"),
        };
        let offset = self.out.script.texts.len() as u32;
        self.out.script.texts.extend(spelled.as_bytes());
        self.out.script.texts.push(0);
        self.offsets.insert(path, offset);
        offset
    }

    /// The instruction of a call; none if it is not re-enacted.
    fn call(&mut self, call: &Call) -> Option<Instruction> {
        let mut it = Instruction {
            code: code::FIRST_CALL + call.kind as u8,
            bits: if call.result < 0 { bits::FAILED } else { 0 },
            fd: call.fd,
            first: u32::MAX,
            second: call.other as u32,
            flags: call.flags,
            size: call.size,
            at: call.at,
            ..Instruction::default()
        };
        let gave = call.result.max(0) as u64;
        match call.kind {
            Kind::Map => {
                if call.result < 0 || call.other < 0 {
                    return None;
                }
                it.first = call.other as u32;
                it.second = (gave / PAGE) as u32;
                let inside = call.flags & MAP_FIXED != 0;
                it.flags = call.flags & (7 << 32 | MAP_FLAGS);
                it.bits |= if inside { bits::INSIDE } else { 0 };
                it.bits |= if call.fd >= 0 { bits::OF_FILE } else { 0 };
                return Some(it);
            }
            Kind::Unmap | Kind::MemoryAdvice | Kind::Remap if call.other < 0 => return None,
            Kind::MemoryAdvice if !ADVICE.contains(&call.flags) => return None,
            Kind::Unmap | Kind::MemoryAdvice | Kind::Protect | Kind::Remap => {
                it.first = call.other as u32;
                it.second = gave as u32;
                return Some(it);
            }
            Kind::Break => return Some(it),
            Kind::Pipe | Kind::SocketPair => {
                (it.at, it.second) = (gave, call.other as u32);
                it.flags &= if call.kind == Kind::Pipe { O_CLOEXEC } else { SOCKET_FLAGS };
                return (call.result >= 0).then_some(it);
            }
            Kind::Socket => {
                (it.at, it.bits) = (gave, it.bits | bits::GIVES);
                return (call.result >= 0).then_some(it);
            }
            // One that found somebody is not re-enacted.
            Kind::Connect if call.result >= 0 => return None,
            _ => {}
        }
        if call.path != NO_PATH {
            return self.with_path(call, it);
        }
        match call.kind {
            Kind::Read if call.size == 0 => it.size = gave,
            // One that failed there might write here.
            Kind::Write | Kind::Pwrite => it.size = gave,
            Kind::ReadPipe | Kind::WritePipe if call.result < 0 => return None,
            Kind::WritePipe if gave == 0 => return None,
            Kind::ReadPipe | Kind::WritePipe => it.at = gave,
            Kind::CopyRange | Kind::Sendfile => it.size = gave,
            Kind::Dup => (it.at, it.bits) = (gave, it.bits | bits::GIVES),
            Kind::Fcntl if ![1, F_SETFD, F_GETFL].contains(&call.flags) => it.flags = F_GETFL,
            _ => {}
        }
        let changes = [Kind::Truncate, Kind::Allocate, Kind::Fchmod, Kind::Times];
        self.out.changes_tree |= changes.contains(&call.kind);
        Some(it)
    }

    fn with_path(&mut self, call: &Call, mut it: Instruction) -> Option<Instruction> {
        let base = self.recording.paths[call.path as usize].base;
        it.first = self.text(call.path);
        if base == Base::System {
            let asks = [Kind::Open, Kind::Stat, Kind::Statx, Kind::Access, Kind::Readlink];
            if !asks.contains(&call.kind) {
                return None;
            }
        }
        let mut changes = call.kind.class() == Class::Change;
        match call.kind {
            Kind::Open => {
                it.flags &= !O_DIRECT;
                if base == Base::System {
                    let name = self.layout.place(&self.recording.paths[call.path as usize]);
                    let discards = name == "dev/null" || name == "dev/zero";
                    let kept = if discards { ACCESS_MODE } else { 0 };
                    it.flags &= !(O_CREAT_TRUNC | ACCESS_MODE) | kept;
                }
                changes = it.flags & (O_CREAT_TRUNC | ACCESS_MODE) != 0 && base != Base::System;
                it.size = call.size & 0o777 | 0o600;
                it.at = call.result.max(0) as u64;
                it.bits |= bits::GIVES;
            }
            // Stand-ins of programs are not executable.
            Kind::Access if call.result >= 0 => it.flags &= !X_OK,
            Kind::Rename | Kind::HardLink => {
                let second = self.recording.paths.get(call.second_path as usize)?;
                if second.base == Base::System {
                    return None;
                }
                it.at = call.other as u32 as u64;
                it.second = self.text(call.second_path);
            }
            _ => {}
        }
        self.out.changes_tree |= changes && base != Base::Own;
        Some(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_page_faults_are_taken_off_once() {
        let pages = Pages { fresh: 10, file: 8, copied: 5 };
        let mut owed = 12;
        let left = without_own(pages, &mut owed);
        assert_eq!((left, owed), (Pages { fresh: 7, file: 4, copied: 0 }, 0));
        let mut owed = 30;
        assert_eq!((without_own(pages, &mut owed), owed), (Pages::default(), 7), "the rest later");
    }
}
