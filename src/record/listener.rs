//! Listens to a tracer: the processes, their events, and what came before each.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Result, ensure};

use super::descriptors::Descriptors;
use super::memory::Memory;
use super::paths::Paths;
use super::translate::{Pending, Scene};
use crate::recording::script::MOST_STREAMS;
use crate::recording::{About, Event, Pages, Recording, Stream};
use crate::sys::{self, Born, Listener, PageCounts};

/// The flag of clone(2) that makes a thread.
const CLONE_THREAD: u64 = 0x0001_0000;

/// A traced process or thread.
struct Process {
    stream: usize,
    descriptors: Rc<RefCell<Descriptors>>,
    folder: Rc<RefCell<Option<String>>>,
    memory: Rc<RefCell<Memory>>,
    /// Page faults that are accounted for.
    faults: u64,
    /// It was just forked, or has just forked: pages are shared with another process.
    shares: bool,
    is_thread: bool,
    pending: Option<Pending>,
    /// What it had touched when it asked to execute another program.
    before_exec: Option<PageCounts>,
}

impl Process {
    /// The command itself, before it is executed.
    fn first(stream: usize, folder: Option<String>) -> Process {
        Process {
            stream,
            descriptors: Rc::new(RefCell::new(Descriptors::first())),
            folder: Rc::new(RefCell::new(folder)),
            memory: Rc::default(),
            faults: 0,
            shares: false,
            is_thread: false,
            pending: None,
            before_exec: None,
        }
    }

    /// A thread, which has everything in common with its process.
    fn thread(&self, stream: usize) -> Process {
        Process {
            stream,
            descriptors: self.descriptors.clone(),
            folder: self.folder.clone(),
            memory: self.memory.clone(),
            faults: 0,
            shares: false,
            is_thread: true,
            pending: None,
            before_exec: None,
        }
    }

    /// A child, which has copies, but the same memory after a vfork.
    fn child(&self, stream: usize, how: Born) -> Process {
        let same_memory = how == Born::Vfork;
        let mut child = self.thread(stream);
        child.descriptors = Rc::new(RefCell::new(self.descriptors.borrow().clone()));
        child.folder = Rc::new(RefCell::new(self.folder.borrow().clone()));
        if !same_memory {
            child.memory = Rc::new(RefCell::new(self.memory.borrow().clone()));
        }
        Process { shares: !same_memory, is_thread: false, ..child }
    }

    /// What its next call is about.
    fn scene<'a>(
        &'a self,
        pid: u32,
        paths: &'a mut Paths,
        stream_of: &'a HashMap<u32, u32>,
        threads: &'a mut HashMap<u64, u32>,
    ) -> Scene<'a> {
        let Process { descriptors, folder, memory, .. } = self;
        Scene { pid, paths, descriptors, folder, memory, stream_of, threads }
    }
}

/// Turns what is told into a recording.
pub struct Recorder {
    paths: Paths,
    processes: HashMap<u32, Process>,
    streams: Vec<Stream>,
    /// The stream of each process number that was seen.
    stream_of: HashMap<u32, u32>,
    /// Threads by the address that is cleared when they end.
    threads: HashMap<u64, u32>,
    begun: bool,
    /// The command itself was executed.
    executed: bool,
    calls: BTreeMap<String, u64>,
    left_out: BTreeMap<String, (u64, u64)>,
    faults: u64,
    too_many: bool,
}

impl Recorder {
    pub fn new(folder: &Path) -> Recorder {
        Recorder {
            paths: Paths::new(folder),
            processes: HashMap::new(),
            streams: Vec::new(),
            stream_of: HashMap::new(),
            threads: HashMap::new(),
            begun: false,
            executed: false,
            calls: BTreeMap::new(),
            left_out: BTreeMap::new(),
            faults: 0,
            too_many: false,
        }
    }

    /// The recording of what was told.
    pub fn finish(mut self) -> Result<Recording> {
        ensure!(!self.too_many, "it makes more than {MOST_STREAMS} processes and threads");
        ensure!(self.executed, "the program did not begin");
        let total = self.calls.values().sum();
        let mut about = About {
            calls_of_runs: vec![total],
            calls: self.calls,
            left_out: self.left_out,
            faults: self.faults,
            ..About::default()
        };
        let folder = std::env::current_dir().ok().and_then(|it| it.to_str().map(str::to_owned));
        about.folder = folder.map(|folder| self.paths.number(&folder, None));
        for stream in &mut self.streams {
            if !matches!(stream.events.last(), Some((_, Event::Exit(_)))) {
                stream.events.push((0, Event::Exit(0)));
            }
        }
        Ok(Recording {
            about,
            names: self.paths.name_list,
            paths: self.paths.path_list,
            files: self.paths.files,
            streams: self.streams,
        })
    }

    /// Adds an event to a process's stream.
    fn push(&mut self, pid: u32, gap: u64, event: Event) {
        if let Some(process) = self.processes.get(&pid) {
            self.streams[process.stream].events.push((gap, event));
        }
    }

    fn leave_out(&mut self, name: &str, took: u64) {
        let entry = self.left_out.entry(name.to_owned()).or_default();
        entry.0 += 1;
        entry.1 += took;
    }

    /// Adds the pages that the process touched since the last time.
    fn pages(&mut self, pid: u32, now: PageCounts, image_ends: bool) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let faults = now.faults.saturating_sub(process.faults);
        process.faults = now.faults;
        self.faults += faults;
        let faults = faults.min(1 << 20) as u32;
        let mut pages = Pages::default();
        let mut left = faults;
        if process.shares {
            // Most of what a process touches after a fork is shared with the other one.
            pages.copied = left.min(now.present as u32);
            left -= pages.copied;
        }
        if image_ends {
            pages.file = left.min(now.file_stretches as u32);
            left -= pages.file;
        }
        pages.fresh = left;
        if pages != Pages::default() {
            self.push(pid, 0, Event::Pages(pages));
        }
    }

    fn new_stream(&mut self) -> usize {
        self.too_many |= self.streams.len() >= MOST_STREAMS;
        self.streams.push(Stream::default());
        self.streams.len() - 1
    }
}

impl Listener for Recorder {
    fn enters(&mut self, pid: u32, name: &'static str, arguments: &[u64; 6], gap: u64) -> bool {
        if !self.processes.contains_key(&pid) {
            if self.begun {
                return false;
            }
            let stream = self.new_stream();
            let folder = std::env::current_dir().ok().map(|it| it.display().to_string());
            self.stream_of.insert(pid, stream as u32);
            self.processes.insert(pid, Process::first(stream, folder));
            self.begun = true;
        }
        if self.too_many {
            return false;
        }
        let Some(process) = self.processes.get_mut(&pid) else { return false };
        let executes = name == "execve" || name == "execveat";
        if !self.executed && !executes {
            // Not a call of the recorded program yet.
            return false;
        }
        *self.calls.entry(name.to_owned()).or_default() += 1;
        if executes {
            process.before_exec = Some(sys::page_counts(pid));
        }
        let mut scene = process.scene(pid, &mut self.paths, &self.stream_of, &mut self.threads);
        let pending = scene.enters(name, arguments, gap);
        match pending.event_now() {
            Some(event) => {
                let gap = pending.gap;
                self.push(pid, gap, event);
                false
            }
            None => {
                let wants = pending.wants_result();
                process.pending = Some(pending);
                wants
            }
        }
    }

    fn leaves(&mut self, pid: u32, result: i64, took: u64) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let Some(pending) = process.pending.take() else { return };
        let mut scene = process.scene(pid, &mut self.paths, &self.stream_of, &mut self.threads);
        let gap = pending.gap;
        let name = pending.name;
        match scene.leaves(pending, result, took) {
            Ok(Some(event)) => self.push(pid, gap, event),
            Ok(None) => {}
            Err(()) => self.leave_out(name, took),
        }
    }

    fn born(&mut self, parent: u32, child: u32, how: Born) {
        let stream = self.new_stream();
        let Some(of_parent) = self.processes.get_mut(&parent) else { return };
        let gap = of_parent.pending.as_mut().map_or(0, |it| std::mem::take(&mut it.gap));
        let flags = of_parent.pending.as_ref().map_or(0, |it| it.clone_flags);
        let is_thread = how == Born::Thread && flags & CLONE_THREAD != 0;
        let clear = of_parent.pending.as_ref().map_or(0, |it| it.clear_address);
        let before = (!is_thread && how != Born::Vfork).then(|| sys::page_counts(parent));
        let process =
            if is_thread { of_parent.thread(stream) } else { of_parent.child(stream, how) };
        self.processes.insert(child, process);
        if is_thread {
            self.threads.insert(clear, stream as u32);
        }
        self.stream_of.insert(child, stream as u32);
        if let Some(before) = before {
            self.pages(parent, before, false);
            if let Some(process) = self.processes.get_mut(&parent) {
                process.shares = true;
            }
        }
        let event = match is_thread {
            true => Event::Thread(stream as u32),
            false => Event::Fork(stream as u32, how == Born::Vfork),
        };
        self.push(parent, gap, event);
    }

    fn executed(&mut self, pid: u32) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let first = !std::mem::replace(&mut self.executed, true);
        let before = process.before_exec.take();
        let Some(pending) = process.pending.take() else { return };
        let path = pending.path();
        let gap = pending.gap;
        let raises_rights = pending.raises_rights();
        if let Some(before) = before {
            match first {
                true => process.faults = before.faults,
                false => self.pages(pid, before, true),
            }
        }
        let Some(process) = self.processes.get_mut(&pid) else { return };
        process.memory = Rc::default();
        process.shares = false;
        let descriptors = process.descriptors.borrow().clone();
        process.descriptors = Rc::new(RefCell::new(descriptors));
        process.descriptors.borrow_mut().executed();
        self.streams[process.stream].program = pending.program();
        if raises_rights {
            self.leave_out("set-uid programs, which have no rights when recorded", 0);
        }
        if first {
            // What starts a re-enactment, and attempts to find the program before.
            self.streams[0].events.clear();
            self.calls = BTreeMap::from([("execve".to_owned(), 1)]);
        }
        self.push(pid, gap, Event::Exec(path));
    }

    fn ending(&mut self, pid: u32, status: i32, _now: u64) {
        let Some(process) = self.processes.get(&pid) else { return };
        let thread = process.is_thread;
        let gap = process.pending.as_ref().map_or(0, |it| it.gap);
        if !thread {
            self.pages(pid, sys::page_counts(pid), true);
        }
        self.push(pid, gap, Event::Exit(status >> 8 & 0xff));
        self.processes.remove(&pid);
    }
}
