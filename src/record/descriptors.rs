//! What the descriptors of a traced process are.

use std::collections::HashMap;

/// What a descriptor is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A file or folder by its absolute path.
    File(String),
    Pipe,
    /// A socket that is connected with nobody as far as a re-enactment knows.
    Socket,
    /// Empty input or discarded output.
    Null,
    /// Something that is not re-enacted.
    Other,
}

/// The descriptors of a process.
#[derive(Clone, Debug, Default)]
pub struct Descriptors {
    targets: HashMap<i32, Target>,
    /// Those that are closed when another program is executed.
    closing: HashMap<i32, bool>,
}

impl Descriptors {
    /// Those of a command at its start.
    pub fn first() -> Descriptors {
        let targets = (0..3).map(|fd| (fd, Target::Null)).collect();
        Descriptors { targets, closing: HashMap::new() }
    }

    pub fn get(&self, fd: i32) -> Option<&Target> {
        self.targets.get(&fd)
    }

    pub fn set(&mut self, fd: i32, target: Target, closing: bool) {
        self.targets.insert(fd, target);
        self.closing.insert(fd, closing);
    }

    pub fn set_closing(&mut self, fd: i32, closing: bool) {
        self.closing.insert(fd, closing);
    }

    pub fn close(&mut self, fd: i32) {
        self.targets.remove(&fd);
    }

    /// Another program is executed.
    pub fn executed(&mut self) {
        let closing = &self.closing;
        self.targets.retain(|fd, _| !closing.get(fd).copied().unwrap_or(false));
        self.closing.clear();
    }

    /// The absolute path of a file's descriptor.
    pub fn path(&self, fd: i32) -> Option<&str> {
        match self.get(fd) {
            Some(Target::File(path)) => Some(path),
            _ => None,
        }
    }
}
