//! Starting a program without copying this process first: the only way on Windows, not built yet.

use std::io;

use super::{Executable, Pid, not_yet};

/// No program that replaces itself is carried: Windows has no such call.
pub const REPLACING_EXECUTABLE: &[u8] = &[];

pub struct Spawner;

impl Spawner {
    pub fn new() -> Spawner {
        Spawner
    }

    pub fn vfork_exec(&mut self, _program: &Executable) -> io::Result<Pid> {
        not_yet()
    }
}

pub fn posix_spawn(_program: &Executable) -> io::Result<Pid> {
    not_yet()
}
